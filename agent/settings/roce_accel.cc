// roce.accel.<field>: what a card does beyond the standard when packets are lost or come out of order.
#include <array>

#include "agent/settings/rdma_port.h"
#include "core/decode/dcqcn.h"
#include "core/decode/fields.h"
#include "core/decode/values.h"
#include "railwright/explain.h"

namespace railwright {
namespace {

// Fields of the firmware's register ROCE_ACCL, as mlxreg names them. Their *_field_select partners say which
// of them a write changes, and are no values.
constexpr std::array<std::string_view, 11> kFlags{"adaptive_routing_forced_en",
                                                  "cc_per_plane_en",
                                                  "cc_probe_mp_mode",
                                                  "dc_half_handshake_en",
                                                  "ack_dscp_force",
                                                  "min_ack_timeout_limit_disabled",
                                                  "roce_adp_retrans_en",
                                                  "roce_slow_restart_en",
                                                  "roce_slow_restart_idle_en",
                                                  "roce_tx_window_en",
                                                  "selective_repeat_forced_en"};
constexpr std::string_view kAckDscp = "ack_dscp";

std::vector<std::string> AllFields() {
  std::vector<std::string> names(kFlags.begin(), kFlags.end());
  names.emplace_back(kAckDscp);
  return names;
}

// The greatest value of a field. InvalidArgument names the nearest one.
Result<std::uint64_t> Greatest(std::string_view field) {
  for (const std::string_view flag : kFlags)
    if (field == flag) return std::uint64_t{1};
  if (field == kAckDscp) return std::uint64_t{63};
  std::vector<std::string_view> known(kFlags.begin(), kFlags.end());
  known.push_back(kAckDscp);
  std::string message = "unknown field " + Quoted(field) + " of ROCE_ACCL";
  constexpr std::size_t kLongestName = 64;
  const auto near = field.size() <= kLongestName ? Nearest(field, known) : std::string_view();
  if (!near.empty())
    return Status(Code::kInvalidArgument, message + "; did you mean \"" + std::string(near) + "\"?");
  message += "; known are";
  for (const auto& one : known) message.append(&one == &known.front() ? " " : ", ").append(one);
  return Status(Code::kInvalidArgument, std::move(message));
}

class RoceAccel final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "roce.accel.<field>",
        .code = "RW-1133",
        .help = "A field of the card's register ROCE_ACCL: retransmission, windows, adaptive routing.",
        .why =
            "Adaptive routing delivers out of order, which only cards that expect it bear. One side that "
            "differs loses bandwidth in retransmissions, and no counter names the cause.",
        .targets = TargetKind::kPort,
        .syntax = "0 or 1; ack_dscp 0…63",
        .default_value = "the firmware's",
        .interface = "access register ROCE_ACCL, by mstreg or mlxreg",
        .source = "mstflint register_access_table.adb; NVIDIA Adaptive Retransmission: Parameters Control",
        .disruption = Disruption::kTrafficBlip,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::minutes(2)},
        .effect = Effect::kRuntime,
        .order = 147,
        .likely_owners = {"the site's start scripts", "doca_spcx_cc"},
        .recorded = AllFields()};
    return info;
  }

  Result<std::string> Canonical(std::string_view param, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const std::uint64_t most, Greatest(param));
    RW_ASSIGN_OR_RETURN(const std::uint64_t number, ParseWhole(Trimmed(value), 0, most));
    return std::to_string(number);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_RETURN_IF_ERROR(Greatest(target.param).status());
    const BoundPort& port = *target.port;
    if (port.ibdev.empty()) return ProveNoRdmaDevice(machine, port, "it has nothing to accelerate");
    if (port.bdf.empty()) {
      RW_RETURN_IF_ERROR(machine.List("/sys/class/net/" + port.netdev).status());
      return ProveNoCard(machine, port, "NoSuchRegister");
    }
    const std::string path = PathOf(port);
    const auto text = machine.Get(path);
    if (!text.ok()) return text.status();
    const auto fields = Fields::Parse(*text);
    if (!fields.ok()) return fields.status().Within(path);
    const std::string* field = fields->Find(target.param);
    const std::string* known = SelectOf(*fields, target.param);
    if (field == nullptr || (known != nullptr && *known == "0"))
      return Observation::NotApplicable(
          "NoSuchRegister", path + (field == nullptr ? " has no " : " does not offer ") + target.param +
                                ": this card's firmware does not know it");
    auto value = ReadDcqcn(*field);
    if (!value.ok()) return value.status().Within(path + " " + target.param);
    return Observation::Value(*std::move(value));
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const std::uint64_t most, Greatest(target.param));
    RW_ASSIGN_OR_RETURN(const std::uint64_t number, ParseWhole(value, 0, most));
    RW_ASSIGN_OR_RETURN(const Observation seen, Observe(machine, target));
    if (seen.kind == Observation::Kind::kNotApplicable)
      return Status(Code::kFailedPrecondition, seen.message);
    const std::string path = PathOf(*target.port);
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(path));
    RW_ASSIGN_OR_RETURN(const Fields now, Fields::Parse(text));
    // A write changes what its select bit names; the tool sends all others as a query answered them.
    Fields wanted;
    if (const std::string select = SelectNameOf(now, target.param); !select.empty())
      wanted.Set(select, std::uint64_t{1});
    wanted.Set(target.param, number);
    return machine.Set(path, wanted.Text());
  }

 private:
  static std::string PathOf(const BoundPort& port) { return "/reg/" + port.bdf + "/ROCE_ACCL"; }

  // The bit that tells in a query whether the firmware offers a field, "" where the register shows none:
  // roce_tx_window_field_select of roce_tx_window_en, ack_dscp_force_field_select of ack_dscp.
  static std::string SelectNameOf(const Fields& fields, std::string_view field) {
    const std::string name(field == kAckDscp ? "ack_dscp_force" : field);
    std::vector<std::string> stems{name};
    if (name.ends_with("_en")) stems.push_back(name.substr(0, name.size() - 3));
    for (const std::string& stem : stems)
      for (const char* ending : {"_field_select", "_select"})
        if (fields.Find(stem + ending) != nullptr) return stem + ending;
    return {};
  }
  static const std::string* SelectOf(const Fields& fields, std::string_view field) {
    const std::string name = SelectNameOf(fields, field);
    return name.empty() ? nullptr : fields.Find(name);
  }
};

}  // namespace

std::unique_ptr<const Setting> make_roce_accel() { return std::make_unique<RoceAccel>(); }

}  // namespace railwright
