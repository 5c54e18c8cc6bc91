// link.channels: how many queues, each with its interrupt, a port has.
#include <cerrno>

#include "core/decode/counts.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

const std::vector<std::string> kKinds{"combined", "rx", "tx"};

std::string PathOf(const Target& target) { return "/ethtool/" + target.port->netdev + "/channels"; }

class LinkChannels final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "link.channels",
        .code = "RW-1102",
        .help = "Number of queues of a port.",
        .why =
            "Kernel traffic (bootstrap, storage) is spread over as many cores as there are queues. RDMA does "
            "not pass them. Every change re-opens them: a short gap for TCP.",
        .targets = TargetKind::kPort,
        .syntax =
            "1…65535 (combined, or rx and tx alike where a device has no combined), `combined=N rx=N tx=N`, "
            "or `max`",
        .default_value = "the driver's, often one per core",
        .interface = "ethtool netlink CHANNELS_GET, CHANNELS_SET",
        .source = "kernel Documentation/networking/ethtool-netlink.rst",
        .disruption = Disruption::kTrafficBlip,
        .noticed = {.by_event = true, .source = "ethtool", .worst = std::chrono::milliseconds(1000)},
        .effect = Effect::kRuntime,
        .order = 44,
        .likely_owners = {"tuned", "mlnx_tune", "udev"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const CountWish wish, CountWish::Parse(value, kKinds));
    return wish.Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    const auto text = machine.Get(PathOf(target));
    if (!text.ok() && text.status().error_number() == EOPNOTSUPP)
      return Observation::NotApplicable(
          "NoChannels",
          target.port->netdev + ": its driver has no channels to set: " + text.status().message());
    if (!text.ok()) return text.status();
    auto device = DeviceCounts::Decode(*text, kKinds);
    if (!device.ok()) return device.status().Within(PathOf(target));
    if (device->kinds.empty())
      return Observation::NotApplicable("NoChannels",
                                        target.port->netdev + ": its driver has no channels to set");
    Observation observed = Observation::Value(device->Now());
    observed.at_most = device->Greatest();
    return observed;
  }

  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    const auto wish = CountWish::Parse(desired, kKinds);
    return wish.ok() && observed.kind == Observation::Kind::kValue &&
           wish->FulfilledBy(observed.value, observed.at_most);
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const CountWish wish, CountWish::Parse(value, kKinds));
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(PathOf(target)));
    RW_ASSIGN_OR_RETURN(const DeviceCounts device, DeviceCounts::Decode(text, kKinds));
    const auto numbers = wish.On(device);
    if (!numbers.ok()) return numbers.status().Within(target.port->netdev + ": channels");
    Fields fields;
    for (const auto& [kind, number] : *numbers) fields.Set(kind, number);
    return machine.Set(PathOf(target), fields.Text());
  }
};

}  // namespace

std::unique_ptr<const Setting> make_link_channels() { return std::make_unique<LinkChannels>(); }

}  // namespace railwright
