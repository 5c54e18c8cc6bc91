// link.mtu: the greatest IP packet that a port sends.
#include <cerrno>

#include "core/decode/fields.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

// 68: the least that IPv4 allows (RFC 791; ETH_MIN_MTU). 65535: the field of an IP packet (ETH_MAX_MTU).
constexpr std::uint64_t kLeast = 68;
constexpr std::uint64_t kGreatest = 65535;

struct Limits {
  std::uint64_t min = 0;
  std::uint64_t max = 0;  ///< 0: the driver names none
};

std::string LinkPath(const Target& target) { return "/rtnl/link/" + target.port->netdev; }

Result<Limits> ReadLimits(const Machine& machine, const Target& target) {
  RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(LinkPath(target)));
  RW_ASSIGN_OR_RETURN(const Fields fields, Fields::Parse(text));
  Limits limits;
  limits.min = fields.Number("min_mtu").value_or(0);
  limits.max = fields.Number("max_mtu").value_or(0);
  return limits;
}

class LinkMtu final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "link.mtu",
        .code = "RW-1101",
        .help = "Greatest IP packet a port sends, in bytes.",
        .why =
            "RoCE takes its own MTU from it: 4096 needs at least 4192 (96 bytes of headers), and 1500 leaves "
            "1024. A port whose MTU is below its peer's drops large packets without an error.",
        .targets = TargetKind::kPort,
        .syntax = "68…65535 bytes, or `max` (the greatest the device takes)",
        .default_value = "1500",
        .interface = "rtnetlink IFLA_MTU, IFLA_MIN_MTU, IFLA_MAX_MTU",
        .source = "kernel net/core/rtnetlink.c; include/rdma/ib_addr.h iboe_get_mtu",
        .disruption = Disruption::kTrafficBlip,
        .noticed = {.by_event = true, .source = "rtnetlink", .worst = std::chrono::milliseconds(1000)},
        .effect = Effect::kRuntime,
        .order = 40,
        .group = "lossless",
        .likely_owners = {"NetworkManager", "systemd-networkd", "dhclient"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    value = Trimmed(value);
    if (value == "max") return std::string(value);
    RW_ASSIGN_OR_RETURN(const auto bytes, ParseWhole(value, kLeast, kGreatest, "68…65535 bytes, or max"));
    return std::to_string(bytes);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(std::string mtu, machine.Get(LinkPath(target) + "/mtu"));
    RW_RETURN_IF_ERROR(ParseWhole(mtu, 0, UINT32_MAX).status().Within(LinkPath(target) + "/mtu"));
    Observation observed = Observation::Value(std::move(mtu));
    // Without a wish (a recording) the limits are read too, but nothing depends on them.
    if (!target.wish.empty() && target.wish != "max") return observed;
    const auto limits = ReadLimits(machine, target);
    if (!limits.ok() && !target.wish.empty()) return limits.status();
    if (limits.ok() && limits->max != 0) observed.at_most = std::to_string(limits->max);
    return observed;
  }

  bool Satisfied(const Target& target, std::string_view desired, const Observation& observed) const override {
    if (desired != "max") return Setting::Satisfied(target, desired, observed);
    return observed.kind == Observation::Kind::kValue && !observed.at_most.empty() &&
           observed.value == observed.at_most;
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    const std::string& netdev = target.port->netdev;
    // The kernel's own sentence names no numbers, so they are looked up before it is asked.
    auto limits = ReadLimits(machine, target);
    if (value == "max") {
      if (!limits.ok()) return limits.status();
      if (limits->max == 0)
        return Status(Code::kUnimplemented, netdev + ": its driver names no greatest MTU; declare a number");
      return machine.Set(LinkPath(target) + "/mtu", std::to_string(limits->max));
    }
    RW_ASSIGN_OR_RETURN(const auto bytes, ParseWhole(value, 0, UINT32_MAX));
    if (limits.ok() && (bytes < limits->min || (limits->max != 0 && bytes > limits->max)))
      return Status(Code::kInvalidArgument,
                    netdev + " takes an MTU of " + std::to_string(limits->min) + "…" +
                        (limits->max == 0 ? "any" : std::to_string(limits->max)) + " bytes, not " +
                        std::to_string(bytes) + "; lower link.mtu of this port, or declare max",
                    EINVAL);
    return machine.Set(LinkPath(target) + "/mtu", value);
  }
};

}  // namespace

std::unique_ptr<const Setting> make_link_mtu() { return std::make_unique<LinkMtu>(); }

}  // namespace railwright
