// ethtool: the "monitor" group tells what was set (rings, channels, pause, FEC …) on which interface.
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "agent/machine/linux_hints_netlink.h"
#include "agent/machine/netlink_socket.h"

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

Result<unsigned> MonitorGroup() {
  machine::NetlinkSocket socket(NETLINK_GENERIC);
  machine::NetlinkMessage message(GENL_ID_CTRL, 0);
  genlmsghdr head{};
  head.cmd = CTRL_CMD_GETFAMILY;
  head.version = 1;
  message.Header(head).PutText(CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME);
  RW_ASSIGN_OR_RETURN(const auto answer, socket.Ask(message, "ethtool"));
  return MonitorGroupOf(answer);
}

}  // namespace

unsigned MonitorGroupOf(const std::vector<machine::NetlinkReply>& answer) {
  unsigned group = 0;
  for (const machine::NetlinkReply& reply : answer) {
    const Bytes groups = FindAttribute(After(reply.payload, sizeof(genlmsghdr)), CTRL_ATTR_MCAST_GROUPS);
    ForEachAttribute(groups, [&](int, Bytes one) {
      if (TextOf(FindAttribute(one, CTRL_ATTR_MCAST_GRP_NAME)) == ETHTOOL_MCGRP_MONITOR_NAME)
        group = ReadAs<std::uint32_t>(FindAttribute(one, CTRL_ATTR_MCAST_GRP_ID)).value_or(0);
    });
  }
  return group;
}

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
  RW_ASSIGN_OR_RETURN(const unsigned group, MonitorGroup());
  if (group == 0) return Status(Code::kUnimplemented, "ethtool: this kernel has no monitor group");
  RW_RETURN_IF_ERROR(events.Join(group));
  return std::unique_ptr<HintSource>(std::make_unique<EthtoolHints>(std::move(events)));
}

}  // namespace railwright
