// The pure half of the hints: the set that merges them, and the readers of datagrams.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>

#include <random>
#include <string>
#include <vector>

#include "agent/machine/linux_hints.h"
#include "agent/machine/linux_hints_netlink.h"

namespace railwright {
namespace {

using std::chrono::milliseconds;

HintSet::Time At(int ms) { return HintSet::Time(std::chrono::seconds(100)) + milliseconds(ms); }

std::vector<std::string> Prefixes(const std::vector<Hint>& hints) {
  std::vector<std::string> prefixes;
  for (const Hint& hint : hints)
    prefixes.push_back(hint.by.empty() ? hint.prefix : hint.prefix + " " + hint.by);
  return prefixes;
}

using Strings = std::vector<std::string>;

class HintSetTest : public testing::Test {
 protected:
  HintSet set_{milliseconds(50), milliseconds(200)};
};

TEST_F(HintSetTest, AHintCoversWhatIsBelowItAndNothingBeside) {
  set_.Add("/rtnl/route/101");
  set_.Add("/rtnl/route");
  set_.Add("/rtnl/route/254");
  set_.Add("/rtnl/router");
  EXPECT_EQ(Prefixes(set_.Take(At(0))), (Strings{"/rtnl/route", "/rtnl/router"}));
}

TEST_F(HintSetTest, OursNeverHidesWhatSomebodyElseDid) {
  set_.Add("/nft", "nft[10]", 10);
  set_.Add("/nft", "nft[10]", 10);
  set_.Add("/nft", "firewalld[20]", 20);
  EXPECT_EQ(Prefixes(set_.Take(At(0))), (Strings{"/nft nft[10]", "/nft firewalld[20]"}));
}

TEST_F(HintSetTest, TheSamePrefixComesOnceInItsPaceAndIsNotLost) {
  set_.Add("/nft");
  EXPECT_EQ(set_.NextDue(), HintSet::Time::min());
  EXPECT_EQ(set_.Take(At(0)).size(), 1U);
  EXPECT_EQ(set_.NextDue(), HintSet::Time::max());
  set_.Add("/nft");
  set_.Add("/rtnl/rule/1");
  EXPECT_EQ(Prefixes(set_.Take(At(10))), (Strings{"/rtnl/rule/1"}));
  EXPECT_EQ(set_.NextDue(), At(50));
  EXPECT_TRUE(set_.Take(At(49)).empty());
  EXPECT_EQ(Prefixes(set_.Take(At(50))), (Strings{"/nft"}));
}

TEST_F(HintSetTest, AnOverrunIsEverythingAndPacedByItself) {
  set_.Add("/nft");
  set_.Overrun();
  EXPECT_EQ(Prefixes(set_.Take(At(0))), (Strings{""}));
  set_.Overrun();
  EXPECT_TRUE(set_.Take(At(199)).empty());
  EXPECT_EQ(set_.NextDue(), At(200));
  EXPECT_EQ(Prefixes(set_.Take(At(200))), (Strings{""}));
}

TEST_F(HintSetTest, TooManyPrefixesAreCutShortAndStillCoverAll) {
  for (int i = 0; i < 10'000; ++i) set_.Add("/rtnl/addr/veth" + std::to_string(i));
  const auto prefixes = Prefixes(set_.Take(At(0)));
  ASSERT_LE(prefixes.size(), HintSet::kMost);
  EXPECT_EQ(prefixes.front(), "/rtnl/addr");
}

TEST_F(HintSetTest, TooManyDifferentTreesAreEverything) {
  for (int i = 0; i < 1'000; ++i) set_.Add("/a" + std::to_string(i) + "/b/c");
  EXPECT_EQ(Prefixes(set_.Take(At(0))).front(), "");
}

// --- datagrams ---------------------------------------------------------------------------------------------

void Put(std::vector<std::uint8_t>& bytes, const void* data, std::size_t size) {
  const auto* from = static_cast<const std::uint8_t*>(data);
  bytes.insert(bytes.end(), from, from + size);
  while (bytes.size() % 4 != 0) bytes.push_back(0);
}

std::vector<std::uint8_t> Attribute(int type, const void* data, std::size_t size) {
  nlattr header{static_cast<std::uint16_t>(sizeof header + size), static_cast<std::uint16_t>(type)};
  std::vector<std::uint8_t> bytes;
  Put(bytes, &header, sizeof header);
  Put(bytes, data, size);
  return bytes;
}

std::vector<std::uint8_t> Text(int type, const std::string& text) {
  return Attribute(type, text.c_str(), text.size() + 1);
}

template <class Header>
std::vector<std::uint8_t> Message(int type, const Header& header,
                                  const std::vector<std::vector<std::uint8_t>>& attributes) {
  std::vector<std::uint8_t> body;
  Put(body, &header, sizeof header);
  for (const auto& one : attributes) Put(body, one.data(), one.size());
  nlmsghdr outer{};
  outer.nlmsg_type = static_cast<std::uint16_t>(type);
  outer.nlmsg_len = static_cast<std::uint32_t>(sizeof outer + body.size());
  std::vector<std::uint8_t> bytes;
  Put(bytes, &outer, sizeof outer);
  Put(bytes, body.data(), body.size());
  return bytes;
}

std::vector<std::uint8_t> LinkMessage(int type, int index, const std::string& name, unsigned flags,
                                      unsigned char family = AF_UNSPEC) {
  ifinfomsg info{};
  info.ifi_family = family;
  info.ifi_index = index;
  info.ifi_flags = flags;
  return Message(type, info, {Text(IFLA_IFNAME, name)});
}

class DatagramTest : public HintSetTest {
 protected:
  Strings Route(const std::vector<std::uint8_t>& datagram) {
    HintSet set(milliseconds(0), milliseconds(0));
    ReadRtnetlink(datagram, links_, set);
    links_moved_ = set.TakeLinksMoved();
    return Prefixes(set.Take(At(0)));
  }
  LinkTable links_;
  bool links_moved_ = false;
};

TEST_F(DatagramTest, ALinkThatGoesDownTakesItsRoutesAlong) {
  Route(LinkMessage(RTM_NEWLINK, 7, "rail0", 0x1 | 0x40));
  EXPECT_TRUE(links_moved_);
  EXPECT_EQ(Route(LinkMessage(RTM_NEWLINK, 7, "rail0", 0x1 | 0x40)),
            (Strings{"/ethtool/rail0", "/rtnl/link/rail0", "/sys/class/net/rail0"}));
  EXPECT_FALSE(links_moved_);
  EXPECT_EQ(Route(LinkMessage(RTM_NEWLINK, 7, "rail0", 0)),
            (Strings{"/ethtool/rail0", "/rtnl/link/rail0", "/rtnl/route", "/sys/class/net/rail0"}));
}

TEST_F(DatagramTest, ARenamedLinkConcernsBothNames) {
  Route(LinkMessage(RTM_NEWLINK, 7, "eth0", 0));
  const auto hints = Route(LinkMessage(RTM_NEWLINK, 7, "rail0", 0));
  EXPECT_TRUE(links_moved_);
  for (const char* one : {"/ethtool/eth0", "/ethtool/rail0", "/proc/sys/net/ipv4/conf/eth0",
                          "/proc/sys/net/ipv4/conf/rail0", "/rtnl/link"})
    EXPECT_EQ(std::count(hints.begin(), hints.end(), one), 1) << one;
}

TEST_F(DatagramTest, ABridgePortThatLeavesItsBridgeIsStillThere) {
  Route(LinkMessage(RTM_NEWLINK, 7, "rail0", 0));
  EXPECT_EQ(Route(LinkMessage(RTM_DELLINK, 7, "rail0", 0, AF_BRIDGE)),
            (Strings{"/ethtool/rail0", "/rtnl/link/rail0", "/sys/class/net/rail0"}));
  EXPECT_EQ(links_.NameOf(7), "rail0");
}

TEST_F(DatagramTest, ARouteNamesItsTableAlsoAbove255) {
  rtmsg route{};
  route.rtm_table = RT_TABLE_COMPAT;
  const std::uint32_t table = 1001;
  EXPECT_EQ(Route(Message(RTM_DELROUTE, route, {Attribute(RTA_TABLE, &table, sizeof table)})),
            (Strings{"/rtnl/route/1001"}));
  route.rtm_table = 101;
  EXPECT_EQ(Route(Message(RTM_NEWROUTE, route, {})), (Strings{"/rtnl/route/101"}));
}

TEST_F(DatagramTest, AnAddressOfALinkThatIsNotKnownConcernsAllAddresses) {
  ifaddrmsg address{};
  address.ifa_index = 99;
  EXPECT_EQ(Route(Message(RTM_DELADDR, address, {})), (Strings{"/rtnl/addr", "/rtnl/route"}));
}

// As NetlinkSocket::Ask hands them over.
machine::NetlinkReply Reply(const std::vector<std::uint8_t>& message) {
  nlmsghdr head{};
  std::memcpy(&head, message.data(), sizeof head);
  return {head.nlmsg_type, head.nlmsg_flags, Bytes(message).subspan(sizeof head)};
}

TEST_F(DatagramTest, TheLinksOfADumpAreKnownByIndex) {
  const auto rail0 = LinkMessage(RTM_NEWLINK, 7, "rail0", 0x1),
             rail1 = LinkMessage(RTM_NEWLINK, 8, "rail1", 0), other = LinkMessage(RTM_NEWADDR, 9, "rail2", 0),
             nameless = Message(RTM_NEWLINK, ifinfomsg{}, {});
  const LinkTable links =
      LinksOf({Reply(rail0), Reply(other), Reply(nameless), {RTM_NEWLINK, 0, {}}, Reply(rail1)});
  EXPECT_EQ(links.size(), 2U);
  EXPECT_EQ(links.NameOf(7), "rail0");
  EXPECT_EQ(links.NameOf(8), "rail1");
  EXPECT_EQ(links.Find(7)->flags, 0x1U);
}

TEST_F(DatagramTest, TheMonitorGroupIsFoundAmongOthers) {
  const auto group = [](const std::string& name, std::uint32_t number) {
    std::vector<std::uint8_t> body = Text(CTRL_ATTR_MCAST_GRP_NAME, name);
    const auto id = Attribute(CTRL_ATTR_MCAST_GRP_ID, &number, sizeof number);
    body.insert(body.end(), id.begin(), id.end());
    return Attribute(1, body.data(), body.size());
  };
  std::vector<std::uint8_t> groups = group("other", 4);
  const auto monitor = group(ETHTOOL_MCGRP_MONITOR_NAME, 5);
  groups.insert(groups.end(), monitor.begin(), monitor.end());
  const auto answer =
      Message(GENL_ID_CTRL, genlmsghdr{}, {Attribute(CTRL_ATTR_MCAST_GROUPS, groups.data(), groups.size())});
  EXPECT_EQ(MonitorGroupOf({Reply(answer)}), 5U);
  EXPECT_EQ(MonitorGroupOf({}), 0U);
  for (std::size_t size = 0; size < answer.size() - sizeof(nlmsghdr); ++size) {
    const auto cut = Reply(answer).payload.first(size);
    const std::vector<std::uint8_t> exact(cut.begin(), cut.end());
    EXPECT_EQ(MonitorGroupOf({{GENL_ID_CTRL, 0, exact}}), 0U) << size;
  }
}

TEST_F(DatagramTest, UeventsOfModulesAndCards) {
  const auto read = [](const std::string& text) {
    HintSet set(milliseconds(0), milliseconds(0));
    ReadUevent(Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), set);
    return Prefixes(set.Take(At(0)));
  };
  using namespace std::string_literals;
  EXPECT_EQ(
      read(
          "add@/module/nvidia_peermem\0ACTION=add\0DEVPATH=/module/nvidia_peermem\0SUBSYSTEM=module\0SEQNUM=1\0"s),
      (Strings{"/kmod/nvidia-peermem", "/kmod/nvidia_peermem", "/sys/module/nvidia_peermem"}));
  EXPECT_EQ(
      read(
          "remove@/devices/pci0000:00/0000:18:00.0/infiniband/mlx5_0\0ACTION=remove\0"
          "DEVPATH=/devices/pci0000:00/0000:18:00.0/infiniband/mlx5_0\0SUBSYSTEM=infiniband\0NAME=mlx5_0\0"s),
      (Strings{"/rdma", "/sys/class/infiniband", "/sys/kernel/config/rdma_cm"}));
  EXPECT_EQ(
      read("bind@/devices/pci0000:00/0000:18:00.0\0ACTION=bind\0DEVPATH=/devices/pci0000:00/0000:18:00.0\0"
           "SUBSYSTEM=pci\0DRIVER=mlx5_core\0PCI_SLOT_NAME=0000:18:00.0\0"s),
      (Strings{"/nvconfig/0000:18:00.0", "/pci/0000:18:00.0", "/sys/bus/pci/devices/0000:18:00.0"}));
  EXPECT_EQ(
      read(
          "change@/devices/virtual/block/loop0\0ACTION=change\0DEVPATH=/devices/virtual/block/loop0\0SUBSYSTEM=block\0"s),
      Strings{});
  EXPECT_EQ(read("libudev\0\xfe\xed\xca\xfe"s), Strings{});
}

TEST_F(DatagramTest, AProcessMayNameItselfWithControlCharacters) {
  const std::uint32_t pid = htonl(4711);
  const nfgenmsg header{};
  const auto datagram =
      Message(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWGEN, header,
              {Attribute(NFTA_GEN_PROC_PID, &pid, sizeof pid), Text(NFTA_GEN_PROC_NAME, "a\nb\x1b[2J")});
  ReadNftables(datagram, set_);
  const auto hints = set_.Take(At(0));
  ASSERT_EQ(hints.size(), 1U);
  EXPECT_EQ(hints[0].prefix, "/nft");
  EXPECT_EQ(hints[0].by, "a?b?[2J[4711]");
  EXPECT_EQ(hints[0].pid, 4711);
}

TEST_F(DatagramTest, CutAndScrambledDatagramsDoNoHarm) {
  Route(LinkMessage(RTM_NEWLINK, 7, "rail0", 0));
  const std::uint32_t pid = htonl(1);
  const std::vector<std::vector<std::uint8_t>> whole{
      LinkMessage(RTM_NEWLINK, 7, "rail1", 1),
      Message(NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWGEN, nfgenmsg{},
              {Attribute(NFTA_GEN_PROC_PID, &pid, 4), Text(NFTA_GEN_PROC_NAME, "nft")}),
      Message(GENL_MIN_ID, genlmsghdr{}, {Attribute(1, Text(ETHTOOL_A_HEADER_DEV_NAME, "rail0").data(), 12)}),
  };
  std::mt19937 random(1);
  for (const auto& datagram : whole) {
    for (std::size_t size = 0; size <= datagram.size(); ++size) {
      for (int round = 0; round < 20; ++round) {
        std::vector<std::uint8_t> bytes(datagram.begin(),
                                        datagram.begin() + static_cast<std::ptrdiff_t>(size));
        if (round > 0 && !bytes.empty())
          for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
        LinkTable links;
        HintSet set(milliseconds(0), milliseconds(0));
        ReadRtnetlink(bytes, links, set);
        ReadNftables(bytes, set);
        ReadEthtool(bytes, set);
        ReadUevent(bytes, set);
        EXPECT_LE(set.Take(At(0)).size(), HintSet::kMost);
      }
    }
  }
}

}  // namespace
}  // namespace railwright
