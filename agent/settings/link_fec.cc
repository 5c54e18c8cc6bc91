// link.fec: forward error correction of a port. Read only in this version.
#include <algorithm>
#include <array>
#include <cerrno>

#include "core/decode/fields.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::array<std::string_view, 4> kWishes{"rs", "baser", "off", "auto"};

class LinkFec final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "link.fec",
        .code = "RW-1108",
        .help = "Forward error correction of a port. Observed only: both ends must change together.",
        .why =
            "Both ends of a link must correct alike, or it does not come up; too weak a code shows as symbol "
            "errors and lost packets, which RoCE answers by going back to the last one in order. Links of 50 "
            "Gb/s a lane and more (PAM4) cannot do without and need rs.",
        .targets = TargetKind::kPort,
        .syntax = "`rs`, `baser`, `off`, or `auto`; never `off` on PAM4 lanes (50 Gb/s and more each)",
        .default_value = "auto, as negotiated",
        .interface = "ethtool netlink FEC_GET",
        .source = "IEEE 802.3 clauses 74, 91 and 134; kernel Documentation/networking/ethtool-netlink.rst",
        .disruption = Disruption::kLinkFlap,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kObserveOnly,
        .order = 42,
        .likely_owners = {"ethtool", "mlxlink", "the switch at the other end"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    value = Trimmed(value);
    if (std::find(kWishes.begin(), kWishes.end(), value) != kWishes.end()) return std::string(value);
    return Status(Code::kInvalidArgument, Quoted(value) + "; allowed: rs, baser, off, auto");
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    const std::string path = "/ethtool/" + target.port->netdev + "/fec";
    const auto text = machine.Get(path);
    if (!text.ok() && text.status().error_number() == EOPNOTSUPP)
      return Observation::NotApplicable(
          "NoFec", target.port->netdev +
                       ": its driver has no forward error correction to show: " + text.status().message());
    if (!text.ok()) return text.status();
    const auto fields = Fields::Parse(*text);
    if (!fields.ok()) return fields.status().Within(path);
    const std::string *modes = fields->Find("modes"), *automatic = fields->Find("auto"),
                      *active = fields->Find("active");
    if (modes == nullptr || automatic == nullptr)
      return Status(Code::kInternal, path + ": " + Quoted(*text) + " tells no modes");
    Fields seen;
    if (active != nullptr) seen.Set("active", *active);
    seen.Set("configured", *automatic == "1" ? "auto" : *modes);
    Observation observed = Observation::Value(seen.Text());
    if (active == nullptr)
      observed.message = "the link has no carrier, so no code is in use; what is configured is compared";
    if (target.wish == "off")
      observed.message += std::string(observed.message.empty() ? "" : "; ") +
                          "lanes of 50 Gb/s and more (PAM4) cannot do without";
    return observed;
  }

  // What the link uses counts; without carrier, what it is told to use.
  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    if (observed.kind != Observation::Kind::kValue) return false;
    const auto seen = Fields::Parse(observed.value);
    if (!seen.ok()) return false;
    const std::string *active = seen->Find("active"), *configured = seen->Find("configured");
    if (desired == "auto" || active == nullptr) return configured != nullptr && *configured == desired;
    return *active == desired;
  }

  Status Apply(Machine&, const Target& target, std::string_view value) const override {
    return Status(Code::kUnimplemented, "link.fec of " + target.port->netdev +
                                            ": not written, since a link whose two ends differ stays "
                                            "down; set " +
                                            Quoted(value) +
                                            " at the switch, then here by `ethtool --set-fec " +
                                            target.port->netdev + " encoding …`");
  }
};

}  // namespace

std::unique_ptr<const Setting> make_link_fec() { return std::make_unique<LinkFec>(); }

}  // namespace railwright
