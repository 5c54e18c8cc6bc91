// roce.traffic_class: what MLNX_OFED marks all RDMA traffic of a device with, whatever applications ask for.
#include <algorithm>

#include "agent/settings/rdma_port.h"
#include "core/decode/traffic_class.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

class RoceTrafficClass final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "roce.traffic_class",
        .code = "RW-1132",
        .help = "Traffic class of all RDMA traffic of a port, over what applications ask for.",
        .why =
            "It puts programs that know nothing of DSCP into the lossless class; 106 is DSCP 26. It also "
            "overrides those that do (NCCL_IB_TC), so a wrong one takes everything out of it. Traffic that "
            "runs is marked anew at once.",
        .targets = TargetKind::kPort,
        .syntax = "0…255, 0x00…0xff, or `unset`; the card uses the upper six bits, the DSCP",
        .default_value = "unset",
        .interface = "sysfs infiniband/<ibdev>/tc/<port>/traffic_class (MLNX_OFED)",
        .source = "MLNX_OFED drivers/infiniband/hw/mlx5/main_ext.c; RFC 2474",
        .disruption = Disruption::kTrafficBlip,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 150,
        .group = "congestion",
        .likely_owners = {"openibd", "the site's start scripts"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    return CanonicalTrafficClass(value);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const Place place, Find(machine, *target.port));
    if (place.path.empty()) return place.none;
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(place.path));
    const auto read = ReadTrafficClass(text);
    if (!read.ok()) return read.status().Within(place.path);
    Observation seen = Observation::Value(read->global);
    if (!read->rules.empty())
      seen.message = "rules of others for some addresses, left alone: " + Joined(read->rules, "; ");
    return seen;
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const std::string wanted, CanonicalTrafficClass(value));
    RW_ASSIGN_OR_RETURN(const Place place, Find(machine, *target.port));
    if (place.path.empty()) return Status(Code::kFailedPrecondition, place.none.message);
    return machine.Set(place.path, KernelTrafficClass(wanted));
  }

 private:
  struct Place {
    std::string path;  ///< "": there is none, see `none`
    Observation none;
  };

  static Result<Place> Find(const Machine& machine, const BoundPort& port) {
    if (port.ibdev.empty()) {
      RW_ASSIGN_OR_RETURN(Observation none, ProveNoRdmaDevice(machine, port, "nothing of it is marked"));
      return Place{{}, std::move(none)};
    }
    const std::string device = "/sys/class/infiniband/" + port.ibdev;
    RW_ASSIGN_OR_RETURN(const std::vector<std::string> entries, machine.List(device));
    if (std::find(entries.begin(), entries.end(), "tc") == entries.end())
      return Place{{},
                   Observation::NotApplicable(
                       "NoTrafficClass", device + " has no tc: only MLNX_OFED's driver overrides the traffic "
                                                  "class; elsewhere roce.tos and NCCL_IB_TC choose it")};
    RW_ASSIGN_OR_RETURN(const std::vector<std::string> ports, machine.List(device + "/tc"));
    // As in rdma_cm: one port a device, or the netdev knows which of two.
    std::string number = ports.size() == 1 ? ports.front() : "1";
    if (ports.size() > 1) {
      RW_ASSIGN_OR_RETURN(const std::string from_zero,
                          machine.Get("/sys/class/net/" + port.netdev + "/dev_port"));
      number = from_zero == "1" ? "2" : "1";
    }
    return Place{device + "/tc/" + number + "/traffic_class", {}};
  }
};

}  // namespace

std::unique_ptr<const Setting> make_roce_traffic_class() { return std::make_unique<RoceTrafficClass>(); }

}  // namespace railwright
