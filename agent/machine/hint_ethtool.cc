// ethtool: the "monitor" group tells what was set (rings, channels, pause, FEC …) on which interface.
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "agent/machine/linux_hints_netlink.h"

namespace railwright {
namespace {

// In every ethtool message the header is attribute 1 (kernel Documentation/networking/ethtool-netlink.rst).
constexpr int kHeader = 1;

class EthtoolHints final : public HintSource {
 public:
  explicit EthtoolHints(MulticastSocket events) : events_(std::move(events)) {}
  int fd() const override { return events_.fd(); }
  void Drain(HintSet& out) override {
    if (events_.Read([&](Bytes datagram) { ReadEthtool(datagram, out); })) out.Overrun();
  }

 private:
  MulticastSocket events_;
};

// The multicast group's number; 0 when the family has no such group.
Result<unsigned> MonitorGroup(MulticastSocket& socket) {
  struct {
    genlmsghdr genl;
    nlattr attribute;
    char name[NLA_ALIGN(sizeof ETHTOOL_GENL_NAME)];
  } request{};
  request.genl.cmd = CTRL_CMD_GETFAMILY;
  request.genl.version = 1;
  request.attribute.nla_type = CTRL_ATTR_FAMILY_NAME;
  request.attribute.nla_len = sizeof(nlattr) + sizeof ETHTOOL_GENL_NAME;
  std::memcpy(request.name, ETHTOOL_GENL_NAME, sizeof ETHTOOL_GENL_NAME);
  unsigned group = 0;
  RW_RETURN_IF_ERROR(socket.Ask(
      GENL_ID_CTRL, 0, Bytes(reinterpret_cast<const std::uint8_t*>(&request), sizeof request),
      [&](std::uint16_t, Bytes body) {
        const Bytes groups = FindAttribute(After(body, sizeof(genlmsghdr)), CTRL_ATTR_MCAST_GROUPS);
        ForEachAttribute(groups, [&](int, Bytes one) {
          if (TextOf(FindAttribute(one, CTRL_ATTR_MCAST_GRP_NAME)) == ETHTOOL_MCGRP_MONITOR_NAME)
            group = ReadAs<std::uint32_t>(FindAttribute(one, CTRL_ATTR_MCAST_GRP_ID)).value_or(0);
        });
      }));
  return group;
}

}  // namespace

void ReadEthtool(Bytes datagram, HintSet& out) {
  ForEachMessage(datagram, [&](std::uint16_t type, Bytes body) {
    if (type < GENL_MIN_ID) return;
    const Bytes header = FindAttribute(After(body, sizeof(genlmsghdr)), kHeader);
    const std::string name = TextOf(FindAttribute(header, ETHTOOL_A_HEADER_DEV_NAME));
    out.Add(name.empty() ? "/ethtool" : "/ethtool/" + name);
  });
}

Result<std::unique_ptr<HintSource>> MakeEthtoolHints(const LinuxHintsOptions& options) {
  RW_ASSIGN_OR_RETURN(auto events, MulticastSocket::Open(NETLINK_GENERIC, "ethtool", options));
  RW_ASSIGN_OR_RETURN(const unsigned group, MonitorGroup(events));
  if (group == 0) return Status(Code::kUnimplemented, "ethtool: this kernel has no monitor group");
  RW_RETURN_IF_ERROR(events.Join(group));
  return std::unique_ptr<HintSource>(std::make_unique<EthtoolHints>(std::move(events)));
}

}  // namespace railwright
