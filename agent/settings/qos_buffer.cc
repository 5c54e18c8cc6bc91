// qos.buffer: the receive buffers of a port, and which priority uses which.
#include <algorithm>

#include "agent/settings/qos_dcb.h"
#include "core/decode/fields.h"

namespace railwright {
namespace {

constexpr std::string_view kAllowed = "prio_buffer=… and/or size=…, eight values each (buffers 0…7, bytes)";

// Sizes are kept in cells, and what is no whole number of them is rounded down; no card's cell is that large.
constexpr std::uint32_t kLargestCell = 1024;

std::string Shown(const DcbBuffer& buffer) {
  const std::string text = buffer.Text();
  return text.substr(0, text.find(" total="));
}

// The named fields over `before`.
Result<DcbBuffer> Changed(DcbBuffer before, std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return Status(Code::kInvalidArgument, Quoted(text) + " " + why + "; allowed: " + std::string(kAllowed));
  };
  const auto fields = Fields::Parse(text);
  if (!fields.ok()) return refuse("is no list of name=value");
  for (const auto& [name, value] : fields->all())
    if (name != "prio_buffer" && name != "size") return refuse("names no " + Quoted(name));
  if (const Status status = before.Change(text); !status.ok()) return refuse("is wrong: " + status.message());
  for (const auto buffer : before.of_priority)
    if (buffer >= kDcbClasses) return refuse("names buffer " + std::to_string(buffer));
  return before;
}

bool Holds(std::uint32_t seen, std::uint32_t wished) {
  return seen <= wished && wished - seen < kLargestCell;
}

class QosBuffer final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "qos.buffer",
        .code = "RW-1166",
        .help = "Sizes of a port's receive buffers, and the buffer of each priority.",
        .why =
            "A lossless priority needs a buffer of its own with headroom for what is on its way, or it drops "
            "in spite of PFC. The driver does it by itself from MTU, speed and cable length; once set by "
            "hand, it does not any more until it is loaded again.",
        .targets = TargetKind::kPort,
        .syntax =
            "`prio_buffer=0,0,0,1,0,0,0,0 size=…`, eight values each, or one of the two; sizes in bytes",
        .default_value = "the firmware's",
        .interface = "dcbnl DCB_BUFFER",
        .source = "kernel mlx5 en_dcbnl.c mlx5e_dcbnl_setbuffer; en/port_buffer.c",
        .disruption = Disruption::kTrafficBlip,
        .noticed = DcbNoticed(),
        .effect = Effect::kRuntime,
        .order = 68,
        .group = "lossless",
        .likely_owners = {"mlnx_qos", "openibd", "the card's firmware"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const DcbBuffer wish, Changed(DcbBuffer{}, value));
    const auto named = Fields::Parse(value);
    const auto all = Fields::Parse(Shown(wish));
    if (!named.ok() || !all.ok()) return named.ok() ? all.status() : named.status();
    Fields canonical;
    for (const auto& [name, text] : all->all())
      if (named->Find(name) != nullptr) canonical.Set(name, text);
    return canonical.Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    return ObserveDcb<DcbBuffer>(machine, target, "buffer", Shown);
  }

  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    if (observed.kind != Observation::Kind::kValue) return false;
    const auto seen = Changed(DcbBuffer{}, observed.value);
    if (!seen.ok()) return false;
    const auto wish = Changed(*seen, desired);
    return wish.ok() && wish->of_priority == seen->of_priority &&
           std::equal(seen->size.begin(), seen->size.end(), wish->size.begin(), Holds);
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(DcbPath(target, "buffer")));
    const auto now = DcbBuffer::Parse(text);
    if (!now.ok()) return now.status().Within(DcbPath(target, "buffer"));
    RW_ASSIGN_OR_RETURN(const DcbBuffer wish, Changed(*now, value));
    // Whoever writes owns the buffers from then on, so what is right already is not written.
    if (Shown(wish) == Shown(*now)) return Ok();
    std::uint64_t sum = 0;
    for (const auto size : wish.size) sum += size;
    if (now->total != 0 && sum > now->total)
      return Status(Code::kInvalidArgument, target.port->netdev + " has " + std::to_string(now->total) +
                                                " bytes of buffer, not " + std::to_string(sum) +
                                                "; lower the sizes in qos.buffer");
    return machine.Set(DcbPath(target, "buffer"), Shown(wish));
  }

  Disruption DisruptionOf(const Target&, std::string_view from, std::string_view to) const override {
    return from == to ? Disruption::kNone : Disruption::kTrafficBlip;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_qos_buffer() { return std::make_unique<QosBuffer>(); }

}  // namespace railwright
