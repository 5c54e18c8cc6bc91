// roce.gid: every declared address of a fabric port has its RoCE v2 GID. Found by type, interface and
// address: the index is not stable (VLANs, further addresses and a link that flaps move it).
#include <cerrno>

#include "agent/checks/findings.h"
#include "core/decode/gid.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

/// One slot of a port's table.
struct Slot {
  std::string index, gid, type, netdev;
};

class RoceGid final : public Check {
 public:
  const CheckInfo& info() const override {
    static const CheckInfo info{
        .key = "roce.gid",
        .code = "RW-2102",
        .help = "Every declared address of a fabric port has a RoCE v2 GID.",
        .why =
            "RoCE addresses a port by its GID. Without it nothing connects; with a fixed index in the "
            "environment of a job, jobs use version 1 or another network as soon as the table is filled in "
            "another order.",
        .interface = "/sys/class/infiniband/<ibdev>/ports/<n>/gids, gid_attrs/types, gid_attrs/ndevs",
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)}};
    return info;
  }

  std::vector<Finding> Run(const Machine& machine, const NodeFacts& facts) const override {
    return ForEachFabricPort(info(), facts, [&](const BoundPort& port) {
      auto finding = Judge(machine, port);
      return finding.ok() ? *finding : Unread(info(), port.port.name, finding.status());
    });
  }

 private:
  Result<Finding> Judge(const Machine& machine, const BoundPort& port) const {
    const std::string& name = port.port.name;
    if (port.port.addresses.empty())
      return MakeFinding(info(), name, Verdict::kNotApplicable, "NoDeclaredAddress",
                         "no address is declared for port " + name, "");
    if (port.ibdev.empty()) {
      const auto devices = machine.List("/sys/class/infiniband");
      if (!devices.ok() && devices.status().code() != Code::kNotFound) return devices.status();
      return MakeFinding(info(), name, Verdict::kNotApplicable, "NoRdmaDevice",
                         port.netdev + " has no RDMA device, so it has no GIDs", "");
    }
    const std::string device = "/sys/class/infiniband/" + port.ibdev;
    RW_ASSIGN_OR_RETURN(const std::string number, PortNumber(machine, port, device));
    RW_ASSIGN_OR_RETURN(const std::vector<Slot> table, ReadTable(machine, device + "/ports/" + number, port));
    Finding finding = MakeFinding(info(), name, Verdict::kCompliant, "", "", "");
    std::vector<std::string> missing;
    for (const std::string& address : port.port.addresses) {
      RW_ASSIGN_OR_RETURN(const std::string gid, GidOfAddress(address));
      const Slot* found = nullptr;
      bool version1 = false;
      for (const Slot& slot : table) {
        if (slot.gid != gid || slot.netdev != port.netdev) continue;
        if (slot.type == "RoCE v2" && found == nullptr) found = &slot;
        version1 = version1 || slot.type == "IB/RoCE v1";
      }
      if (found != nullptr) {
        finding.evidence.push_back(port.ibdev + " port " + number + " index " + found->index + ": " +
                                   found->type + " " + GidForPeople(found->gid) + " on " + found->netdev);
        finding.observed += (finding.observed.empty() ? "" : ",") + found->index;
      } else {
        missing.push_back(address.substr(0, address.find('/')) + (version1 ? " (RoCE v1 only)" : ""));
      }
    }
    if (missing.empty()) return finding;
    finding.verdict = Verdict::kDrifted;
    finding.reason = "GidMissing";
    finding.message = port.ibdev + " port " + number + " has no RoCE v2 GID on " + port.netdev + " for " +
                      Joined(missing, ", ");
    finding.fix = "a GID comes with its address and a link: compare `ip addr show " + port.netdev +
                  "` with what rail.address declares";
    for (const Slot& slot : table)
      finding.evidence.push_back("index " + slot.index + ": " + slot.type + " " + GidForPeople(slot.gid) +
                                 " on " + slot.netdev);
    return finding;
  }

  // A card shows one RDMA device a port, numbered 1. Of an older two-port device the netdev knows its port.
  static Result<std::string> PortNumber(const Machine& machine, const BoundPort& port,
                                        const std::string& device) {
    RW_ASSIGN_OR_RETURN(const std::vector<std::string> ports, machine.List(device + "/ports"));
    if (ports.size() == 1) return ports.front();
    RW_ASSIGN_OR_RETURN(const std::string from_zero,
                        machine.Get("/sys/class/net/" + port.netdev + "/dev_port"));
    return std::string(from_zero == "1" ? "2" : "1");
  }

  /// The slots in use, in the order of the table, as far as all declared addresses need.
  static Result<std::vector<Slot>> ReadTable(const Machine& machine, const std::string& path,
                                             const BoundPort& port) {
    RW_ASSIGN_OR_RETURN(const std::vector<std::string> names, machine.List(path + "/gids"));
    std::vector<Slot> table;
    std::size_t wanted = port.port.addresses.size();
    std::vector<std::string> gids;
    for (const std::string& address : port.port.addresses) gids.push_back(GidOfAddress(address).value_or(""));
    // Names come sorted as text; the table is filled from its front.
    for (std::size_t i = 0; i < names.size() && wanted != 0; ++i) {
      Slot slot{std::to_string(i), {}, {}, {}};
      RW_ASSIGN_OR_RETURN(slot.gid, machine.Get(path + "/gids/" + slot.index));
      if (IsEmptyGid(slot.gid)) continue;
      const auto type = machine.Get(path + "/gid_attrs/types/" + slot.index);
      const auto netdev = machine.Get(path + "/gid_attrs/ndevs/" + slot.index);
      // A slot that is emptied between two reads answers EINVAL.
      if (type.status().error_number() == EINVAL || netdev.status().error_number() == EINVAL) continue;
      if (!type.ok()) return type.status();
      if (!netdev.ok()) return netdev.status();
      slot.type = *type;
      slot.netdev = *netdev;
      for (const std::string& gid : gids)
        if (gid == slot.gid && slot.type == "RoCE v2" && slot.netdev == port.netdev) --wanted;
      table.push_back(std::move(slot));
    }
    return table;
  }
};

}  // namespace

std::unique_ptr<const Check> make_roce_gid() { return std::make_unique<RoceGid>(); }

}  // namespace railwright
