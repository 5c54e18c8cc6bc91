// Settings on the real kernel: each test in a network namespace of its own.
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "agent/machine/ip_address.h"
#include "agent/machine/linux_machine.h"
#include "agent/tools/tools.h"
#include "tests/machine/network_namespace.h"
#include "tests/machine/temporary_directory.h"
#include "tests/settings/subject.h"

namespace railwright {
namespace {

class KernelTest : public machine::NetworkNamespaceTest {
 protected:
  void SetUp() override {
    NetworkNamespaceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    MakeVeth("rail0", "peer0", 4);
    MakeVeth("rail1", "peer1", 4);
    machine_ = MakeLinuxMachine();
  }

  void Up(const std::string& netdev, bool up = true) {
    const Status status = machine_->Set("/rtnl/link/" + netdev + "/state", up ? "up" : "down");
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  void UpWithPeer(int rail) {
    Up("rail" + std::to_string(rail));
    Up("peer" + std::to_string(rail));
  }

  // The whole round that the reconciler makes: differs, is applied, is fulfilled, and applying it again
  // changes nothing.
  void Fulfil(Subject& subject, std::string_view wish) {
    subject.Wish(wish);
    ASSERT_FALSE(subject.Satisfied(*machine_)) << subject.See(*machine_).value;
    const Status applied = subject.Apply(*machine_, subject.target.wish);
    ASSERT_TRUE(applied.ok()) << applied.ToString();
    ASSERT_TRUE(subject.Satisfied(*machine_))
        << "wished " << subject.target.wish << ", read back " << subject.See(*machine_).value;
    const std::string seen = subject.See(*machine_).value;
    ASSERT_TRUE(subject.Apply(*machine_, seen).ok());
    ASSERT_EQ(subject.See(*machine_).value, seen);
  }
  void Restore(Subject& subject, const std::string& original) {
    const Status applied = subject.Apply(*machine_, original);
    ASSERT_TRUE(applied.ok()) << applied.ToString();
    subject.target.wish = original;
    ASSERT_EQ(subject.See(*machine_).value, original);
  }

  // Which interface and gateway the kernel would use, or the errno of its refusal. `iif`: as if it came in
  // there.
  struct Way {
    int error = 0;
    std::string dev;
    std::string via;
  };
  Way Ask(const std::string& from, const std::string& to, const std::string& iif = "") {
    const auto source = machine::IpAddress::Parse(from);
    const auto target = machine::IpAddress::Parse(to);
    machine::NetlinkMessage message(RTM_GETROUTE, 0);
    rtmsg head{};
    head.rtm_family = static_cast<unsigned char>(target->family);
    head.rtm_dst_len = static_cast<unsigned char>(8 * target->size());
    head.rtm_src_len = static_cast<unsigned char>(8 * source->size());
    message.Header(head);
    message.Put(RTA_DST, target->span()).Put(RTA_SRC, source->span());
    if (!iif.empty()) message.PutU32(RTA_IIF, *socket().InterfaceIndex(iif));
    const auto replies = socket().Ask(message, "route");
    Way way;
    if (!replies.ok()) {
      way.error = replies.status().error_number();
      return way;
    }
    std::uint32_t oif = 0;
    machine::ForEachAttribute(replies->front().AfterHeader(sizeof(rtmsg)),
                              [&](const machine::NetlinkAttribute& one) {
                                if (one.type == RTA_OIF) oif = one.U32();
                                if (one.type == RTA_GATEWAY)
                                  way.via = machine::IpAddress::FromBytes(one.value).Text();
                              });
    way.dev = socket().InterfaceName(oif);
    return way;
  }

  std::unique_ptr<Machine> machine_;
};

TEST_F(KernelTest, MtuIsWrittenAndItsLimitsAreNamed) {
  Subject mtu("link.mtu");
  Fulfil(mtu, "4200");
  EXPECT_EQ(machine_->Get("/rtnl/link/peer0/mtu").value(), "1500") << "nobody else's";
  const Status refused = mtu.Apply(*machine_, "65536");
  EXPECT_NE(refused.message().find("rail0 takes an MTU of 68…65535 bytes, not 65536"), std::string::npos)
      << refused.message();
  Fulfil(mtu, "max");
  EXPECT_EQ(mtu.See(*machine_).value, "65535");
  Restore(mtu, "1500");
}

TEST_F(KernelTest, ChannelsOfAVethAreSetAndLimited) {
  Subject channels("link.channels");
  const std::string original = channels.See(*machine_).value;
  EXPECT_EQ(original, "rx=4 tx=4") << "a veth begins with all it was made with";
  Fulfil(channels, "2");
  Fulfil(channels, "rx=3 tx=1");
  Fulfil(channels, "max");
  EXPECT_EQ(channels.See(*machine_).value, "rx=4 tx=4");
  EXPECT_EQ(channels.Apply(*machine_, "8").message(), "rail0: channels: rx=8 is more than the device's 4");
  Restore(channels, original);
}

TEST_F(KernelTest, WhatADriverLacksIsNotApplicable) {
  // The loopback device has neither channels nor rings nor pause frames; veth has no pause frames that can be
  // set.
  for (const auto& [key, reason] : std::vector<std::pair<std::string, std::string>>{
           {"link.channels", "NoChannels"}, {"link.rings", "NoRings"}, {"link.pause", "NoPause"}}) {
    const Subject subject(key, FabricPort("lo"));
    const Observation observed = subject.See(*machine_);
    EXPECT_EQ(observed.reason, reason) << observed.message;
    EXPECT_NE(observed.message.find("lo: its driver has no"), std::string::npos);
  }
}

TEST_F(KernelTest, AnInterfaceThatIsGoneIsAnErrorForEverySetting) {
  DeleteLink("rail0");
  for (const char* key : {"link.mtu", "link.channels", "link.rings", "link.pause", "rail.address",
                          "rail.routing", "sysctl.net.ipv4.conf.{netdev}.rp_filter"}) {
    const Subject subject(key, FabricPort("rail0", {"10.10.0.1/24"}));
    const auto observed = subject.setting->Observe(*machine_, subject.target);
    ASSERT_FALSE(observed.ok()) << key << " is " << observed->value;
    EXPECT_EQ(observed.status().code(), Code::kNotFound) << key << ": " << observed.status().ToString();
  }
}

// The rule is proved by asking the kernel for the way of a packet that comes in at rail0 from an address that
// is reached through rail1: strict (1) refuses it, loose (2) and off (0) do not; and from an address that is
// reached nowhere, which loose refuses too.
TEST_F(KernelTest, TheKernelFollowsTheSameEffectiveRpFilter) {
  UpWithPeer(0);
  UpWithPeer(1);
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "10.10.0.1/24").ok());
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail1", "10.11.0.1/24").ok());
  Subject filter("sysctl.net.ipv4.conf.{netdev}.rp_filter");
  for (const char* all : {"0", "1", "2"}) {
    for (const char* own : {"0", "1", "2"}) {
      ASSERT_TRUE(machine_->Set("/proc/sys/net/ipv4/conf/all/rp_filter", all).ok());
      ASSERT_TRUE(machine_->Set("/proc/sys/net/ipv4/conf/rail0/rp_filter", own).ok());
      const bool other_rail_refused = Ask("10.11.0.7", "10.10.0.1", "rail0").error != 0;
      const bool nowhere_refused = Ask("172.31.0.7", "10.10.0.1", "rail0").error != 0;
      const std::string effective = !nowhere_refused ? "0" : other_rail_refused ? "1" : "2";
      for (const char* wish : {"0", "1", "2"}) {
        filter.target.wish = wish;
        EXPECT_EQ(filter.Satisfied(*machine_), wish == effective)
            << "all=" << all << " own=" << own << ": the kernel does " << effective << ", we say "
            << filter.See(*machine_).value;
      }
    }
  }
}

TEST_F(KernelTest, SysctlsOfAPortAreSetWhereAllDoesNotOverruleThem) {
  ASSERT_TRUE(machine_->Set("/proc/sys/net/ipv4/conf/all/rp_filter", "0").ok());
  for (const char* key : {"arp_ignore", "arp_announce", "arp_filter"}) {
    ASSERT_TRUE(machine_->Set(std::string("/proc/sys/net/ipv4/conf/all/") + key, "0").ok());
    ASSERT_TRUE(machine_->Set(std::string("/proc/sys/net/ipv4/conf/rail0/") + key, "0").ok());
    Subject subject(std::string("sysctl.net.ipv4.conf.{netdev}.") + key);
    Fulfil(subject, "1");
    EXPECT_EQ(machine_->Get(std::string("/proc/sys/net/ipv4/conf/rail1/") + key).value(), "0");
    Restore(subject, "0");
    ASSERT_TRUE(machine_->Set(std::string("/proc/sys/net/ipv4/conf/all/") + key, "1").ok());
    subject.Wish("0");
    EXPECT_FALSE(subject.Satisfied(*machine_));
    EXPECT_EQ(subject.Apply(*machine_, "0").code(), Code::kFailedPrecondition);
  }
  Subject memory("sysctl.net.ipv4.tcp_rmem");
  Fulfil(memory, "4096 131072 12345678");
  const Subject wrong("sysctl.net.core.rmem_max");
  const Observation absent = wrong.See(*machine_);
  if (absent.kind == Observation::Kind::kNotApplicable) {
    EXPECT_EQ(absent.reason, "NoSuchSysctl");
  }
}

TEST_F(KernelTest, AddressesOfBothFamiliesAreMadeSo) {
  UpWithPeer(0);
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "192.168.7.7/24\n10.10.0.1/24").ok());
  Subject address("rail.address", FabricPort("rail0", {"10.10.0.1/24", "fd00:10::1/64"}));
  const std::string original = address.See(*machine_).value;
  EXPECT_EQ(original, "10.10.0.1/24,192.168.7.7/24");
  Fulfil(address, "declared");
  EXPECT_EQ(machine_->Get("/rtnl/addr/rail1").value(), "") << "nobody else's";
  Restore(address, original);
  ASSERT_TRUE(address.Apply(*machine_, "").ok());
  EXPECT_EQ(address.See(*machine_).kind, Observation::Kind::kAbsent);
}

TEST_F(KernelTest, RailsSendByTheirSourceAndComeBackWithTheirLink) {
  const std::vector<std::string> first{"10.10.0.1/24", "fd00:10::1/64"},
      second{"10.11.0.1/24", "fd00:11::1/64"};
  Subject address0("rail.address", FabricPort("rail0", first));
  Subject address1("rail.address", FabricPort("rail1", second), 1);
  Subject routing0("rail.routing", FabricPort("rail0", first, {"10.10.0.254", "fd00:10::fe"}));
  Subject routing1("rail.routing", FabricPort("rail1", second, {"10.11.0.254", "fd00:11::fe"}), 1);
  UpWithPeer(0);
  UpWithPeer(1);
  Fulfil(address0, "declared");
  Fulfil(address1, "declared");
  EXPECT_EQ(Ask("10.10.0.1", "10.99.0.1").error, ENETUNREACH) << "the main table has no default";
  Fulfil(routing0, "per-rail");
  Fulfil(routing1, "per-rail");
  const auto leaves = [&](const char* from, const char* to, const char* dev, const char* via) {
    const Way way = Ask(from, to);
    EXPECT_EQ(way.error, 0) << from << " to " << to;
    EXPECT_EQ(way.dev, dev) << from << " to " << to;
    EXPECT_EQ(way.via, via) << from << " to " << to;
  };
  leaves("10.10.0.1", "10.99.0.1", "rail0", "10.10.0.254");
  leaves("10.11.0.1", "10.99.0.1", "rail1", "10.11.0.254");
  leaves("10.11.0.1", "10.10.0.77", "rail1", "10.11.0.254");
  leaves("10.10.0.1", "10.10.0.77", "rail0", "");
  leaves("fd00:10::1", "fd00:99::1", "rail0", "fd00:10::fe");

  Up("rail0", false);
  const Observation down = routing0.See(*machine_);
  EXPECT_FALSE(routing0.Satisfied(*machine_)) << "the kernel drops the routes of a link that goes down";
  EXPECT_NE(down.value.find("table 101: none"), std::string::npos) << down.value;
  EXPECT_NE(down.message.find("rail0 is down"), std::string::npos) << down.message;
  EXPECT_EQ(routing0.Apply(*machine_, routing0.target.wish).error_number(), ENETDOWN);
  EXPECT_TRUE(routing1.Satisfied(*machine_)) << "the other rail is not concerned";

  Up("rail0");
  EXPECT_FALSE(routing0.Satisfied(*machine_)) << "they do not come back by themselves";
  if (!address0.Satisfied(*machine_)) {  // IPv6 addresses go with the link, too
    ASSERT_TRUE(address0.Apply(*machine_, address0.target.wish).ok());
  }
  const Status again = routing0.Apply(*machine_, routing0.target.wish);
  ASSERT_TRUE(again.ok()) << again.ToString();
  EXPECT_TRUE(routing0.Satisfied(*machine_)) << routing0.See(*machine_).value;
  leaves("10.10.0.1", "10.99.0.1", "rail0", "10.10.0.254");

  Restore(routing0, "priority 1001: none; table 101: none");
  EXPECT_TRUE(routing1.Satisfied(*machine_));
}

TEST_F(KernelTest, RoutingTakesOtherNumbers) {
  UpWithPeer(0);
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "10.10.0.1/31").ok());
  Subject routing("rail.routing", FabricPort("rail0", {"10.10.0.1/31"}, {"10.10.0.0"}));
  Fulfil(routing, "per-rail table=70000 priority=77");
  EXPECT_EQ(machine_->Get("/rtnl/rule/77").value(), "from 10.10.0.1 lookup 70000");
  EXPECT_EQ(Ask("10.10.0.1", "10.99.0.1").via, "10.10.0.0");
}

class FirewallKernelTest : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    firewall_ = std::make_unique<Subject>("firewall.rdma");
    firewall_->facts.subnets = {"10.10.0.0/16", "fd00:10::/48", "10.20.0.7/32"};
  }
  static void Nft(const std::string& commands) {
    const auto result = RunTool({"/usr/sbin/nft", "-f", "-"}, commands, std::chrono::seconds(20));
    ASSERT_TRUE(result.ok() && result->exit_code == 0)
        << (result.ok() ? result->err : result.status().ToString());
  }
  std::unique_ptr<Subject> firewall_;
};

TEST_F(FirewallKernelTest, OurTableIsMadeReadBackAndRemoved) {
  EXPECT_EQ(firewall_->See(*machine_).kind, Observation::Kind::kAbsent);
  Nft("add table inet others\nadd chain inet others input { type filter hook input priority 0 ; }\n"
      "add rule inet others input tcp dport 22 accept\n");
  const std::string others = machine_->Get("/nft/table/inet/others").value();
  Fulfil(*firewall_, "allow,tcp:29500");
  EXPECT_EQ(firewall_->See(*machine_).value,
            "from 10.10.0.0/16,10.20.0.7/32,fd00:10::/48: udp 4791, tcp 7174, tcp 7471, tcp 18515-18530, tcp "
            "29500, "
            "tcp 32768-60999");
  Fulfil(*firewall_, "udp:4791");
  ASSERT_TRUE(firewall_->Apply(*machine_, "").ok());
  EXPECT_EQ(firewall_->See(*machine_).kind, Observation::Kind::kAbsent);
  EXPECT_EQ(machine_->Get("/nft/table/inet/others").value(), others) << "nobody else's table is touched";
}

TEST_F(FirewallKernelTest, EveryKindOfDriftIsSeenToldAndPutRight) {
  struct {
    const char* commands;
    const char* told;
  } cases[] = {
      {"flush chain inet railwright input", ""},
      {"insert rule inet railwright input udp dport 4791 drop",
       "too much: rule in input: udp dport 4791 drop"},
      {"add chain inet railwright input { policy drop ; }", "policy drop"},
      {"delete element inet railwright fabric4 { 10.20.0.7 }", ""},
      {"add element inet railwright fabric4 { 192.168.0.0/16 }", ""},
      {"add chain inet railwright extra", "too much: chain extra"},
      {"add set inet railwright extra { type ipv4_addr ; }", "too much: set extra"},
      {"add rule inet railwright input counter", "too much: rule in input:"},
      {"delete table inet railwright", ""},
  };
  firewall_->Wish("allow");
  for (const auto& one : cases) {
    SCOPED_TRACE(one.commands);
    ASSERT_TRUE(firewall_->Apply(*machine_, firewall_->target.wish).ok());
    ASSERT_TRUE(firewall_->Satisfied(*machine_));
    Nft(std::string(one.commands) + "\n");
    EXPECT_FALSE(firewall_->Satisfied(*machine_)) << firewall_->See(*machine_).value;
    const Observation observed = firewall_->See(*machine_);
    EXPECT_NE(observed.message.find(one.told), std::string::npos) << observed.message;
  }
  ASSERT_TRUE(firewall_->Apply(*machine_, firewall_->target.wish).ok());
  EXPECT_TRUE(firewall_->Satisfied(*machine_));
}

TEST_F(FirewallKernelTest, CountersAndOneRuleOfManyDoNotConfuse) {
  firewall_->Wish("allow");
  ASSERT_TRUE(firewall_->Apply(*machine_, firewall_->target.wish).ok());
  // One rule of a pair: the IPv6 half of rocev2.
  const auto listing =
      RunTool({"/usr/sbin/nft", "-a", "list", "table", "inet", "railwright"}, "", std::chrono::seconds(20));
  ASSERT_TRUE(listing.ok());
  const auto line = listing->out.find("ip6 saddr @fabric6 udp dport 4791");
  ASSERT_NE(line, std::string::npos);
  const auto handle = listing->out.find("# handle ", line);
  Nft("delete rule inet railwright input handle " +
      listing->out.substr(handle + 9, listing->out.find('\n', handle) - handle - 9) + "\n");
  EXPECT_FALSE(firewall_->Satisfied(*machine_));
  EXPECT_NE(firewall_->See(*machine_).message.find(
                "missing: rule in input: ip6 saddr @fabric6 udp dport 4791 accept"),
            std::string::npos)
      << firewall_->See(*machine_).message;
}

TEST_F(FirewallKernelTest, SomebodyElsesTableOfOurNameIsPutBackAsItWas) {
  Nft("add table inet railwright\n"
      "add set inet railwright bad { type ipv4_addr ; flags interval ; elements = { 192.0.2.0/24, "
      "198.51.100.7 } ; }\n"
      "add map inet railwright ways { type inet_service : verdict ; }\n"
      "add chain inet railwright late\n"
      "add chain inet railwright input { type filter hook input priority 5 ; policy drop ; }\n"
      "add element inet railwright ways { 22 : jump late, 80 : accept }\n"
      "add rule inet railwright late counter accept comment \"their own\"\n"
      "add rule inet railwright input ct state established,related accept\n"
      "add rule inet railwright input tcp dport vmap @ways\n"
      "add rule inet railwright input ip saddr @bad limit rate 5/second log prefix \"no \" drop\n");
  const std::string original = firewall_->See(*machine_).value;
  ASSERT_TRUE(original.starts_with("other, 4 rules")) << original;
  Fulfil(*firewall_, "allow");
  Restore(*firewall_, original);
}

// Files below a folder of the test's own, through the real machine.
class FilesKernelTest : public testing::Test {
 protected:
  machine::TemporaryDirectory folder_;
  std::unique_ptr<Machine> machine_ = MakeLinuxMachine({folder_.path()});
};

TEST_F(FilesKernelTest, NcclKeepsEveryOtherByte) {
  folder_.Write("/etc/nccl.conf", "# site\r\nNCCL_DEBUG=WARN\r\nNCCL_IB_TC=0");
  Subject tc("nccl.NCCL_IB_TC");
  tc.Wish("106");
  ASSERT_TRUE(tc.Apply(*machine_, "106").ok());
  EXPECT_TRUE(tc.Satisfied(*machine_));
  EXPECT_EQ(folder_.Read("/etc/nccl.conf"), "# site\r\nNCCL_DEBUG=WARN\r\nNCCL_IB_TC=106\n");
}

TEST_F(FilesKernelTest, MemlockAndFilesAreMadeAndRemoved) {
  Subject memlock("limits.memlock");
  memlock.Wish("unlimited");
  const std::string original = memlock.See(*machine_).value;
  ASSERT_TRUE(memlock.Apply(*machine_, "unlimited").ok());
  EXPECT_TRUE(memlock.Satisfied(*machine_)) << memlock.See(*machine_).value;
  ASSERT_TRUE(memlock.Apply(*machine_, original).ok());
  EXPECT_EQ(memlock.See(*machine_).value, original);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/etc/security/limits.d/95-railwright-memlock.conf"));

  Subject file("file./etc/modprobe.d/railwright.conf");
  file.Wish("options mlx5_core prof_sel=2");
  EXPECT_EQ(file.See(*machine_).kind, Observation::Kind::kAbsent);
  ASSERT_TRUE(file.Apply(*machine_, file.target.wish).ok());
  EXPECT_TRUE(file.Satisfied(*machine_));
  EXPECT_EQ(folder_.Read("/etc/modprobe.d/railwright.conf"), "options mlx5_core prof_sel=2\n");
  ASSERT_TRUE(file.Apply(*machine_, "").ok());
  EXPECT_EQ(file.See(*machine_).kind, Observation::Kind::kAbsent);
}

}  // namespace
}  // namespace railwright
