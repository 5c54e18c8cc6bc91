#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include "agent/machine/ip_address.h"
#include "agent/machine/linux_machine.h"
#include "tests/machine/network_namespace.h"

namespace railwright::machine {
namespace {

class RtnlAddrTest : public NetworkNamespaceTest {
 protected:
  void SetUp() override {
    NetworkNamespaceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    MakeVeth("rail0", "peer0");
    machine_ = MakeLinuxMachine();
    ASSERT_TRUE(machine_->Set("/rtnl/link/rail0/state", "up").ok());
    ASSERT_TRUE(machine_->Set("/rtnl/link/peer0/state", "up").ok());
  }
  std::string Now() { return machine_->Get("/rtnl/addr/rail0").value(); }
  std::unique_ptr<Machine> machine_;
};

TEST_F(RtnlAddrTest, BothFamiliesAreMadeSoAndReadBackSorted) {
  EXPECT_EQ(Now(), "") << "the kernel's own link-local address is none of ours";
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "fd00:10::1/64\n10.10.0.1/24").ok());
  EXPECT_EQ(Now(), "10.10.0.1/24\nfd00:10::1/64");
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "10.10.0.2/24").ok());
  EXPECT_EQ(Now(), "10.10.0.2/24");
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "").ok());
  EXPECT_EQ(Now(), "");
  EXPECT_EQ(machine_->List("/rtnl/addr").value(), (std::vector<std::string>{"lo", "peer0", "rail0"}));
}

TEST_F(RtnlAddrTest, ASpellingOfTheSameAddressChangesNothing) {
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "FD00:0010:0:0::1/64\n\n 10.10.0.1/24 ").ok());
  EXPECT_EQ(Now(), "10.10.0.1/24\nfd00:10::1/64");
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", Now()).ok());
}

TEST_F(RtnlAddrTest, ASecondaryAddressSurvivesTheRemovalOfItsPrimary) {
  ASSERT_TRUE(machine_->Set("/proc/sys/net/ipv4/conf/rail0/promote_secondaries", "0").ok());
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "10.10.0.1/24").ok());
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "10.10.0.1/24\n10.10.0.7/24").ok());
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "10.10.0.7/24").ok());
  EXPECT_EQ(Now(), "10.10.0.7/24");
}

TEST_F(RtnlAddrTest, TheLinkLocalAddressIsNeverRemoved) {
  auto link_locals = [this] {
    NetlinkMessage message(RTM_GETADDR, NLM_F_DUMP);
    ifaddrmsg head{};
    head.ifa_family = AF_INET6;
    message.Header(head);
    int count = 0;
    const auto replies = socket().Ask(message, "addresses");
    for (const NetlinkReply& reply : *replies)
      if (reply.Header<ifaddrmsg>().ifa_scope == RT_SCOPE_LINK) ++count;
    return count;
  };
  // Carrier comes a moment after both ends are up, and with it the addresses.
  for (int i = 0; i < 100 && link_locals() < 2; ++i) ::usleep(50'000);
  const int before = link_locals();
  ASSERT_EQ(before, 2);
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "fd00:10::1/64").ok());
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "").ok());
  EXPECT_EQ(link_locals(), before);
}

TEST_F(RtnlAddrTest, AnAddressWithALifetimeIsNotOurs) {
  const IpPrefix prefix = IpPrefix::Parse("10.20.0.1/24", false).value();
  ifaddrmsg head{};
  head.ifa_family = AF_INET;
  head.ifa_prefixlen = 24;
  head.ifa_index = socket().InterfaceIndex("rail0").value();
  ifa_cacheinfo lifetime{};
  lifetime.ifa_valid = lifetime.ifa_prefered = 600;
  NetlinkMessage message(RTM_NEWADDR, NLM_F_CREATE);
  message.Header(head).Put(IFA_LOCAL, prefix.address.span()).Put(IFA_ADDRESS, prefix.address.span());
  message.Put(IFA_CACHEINFO, {reinterpret_cast<const std::uint8_t*>(&lifetime), sizeof lifetime});
  ASSERT_TRUE(socket().Do(message, "dhcp-like address").ok());
  EXPECT_EQ(Now(), "");
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "10.10.0.1/24").ok());
  // Still there: adding it as a permanent one is refused as a double.
  NetlinkMessage again(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
  again.Header(head).Put(IFA_LOCAL, prefix.address.span()).Put(IFA_ADDRESS, prefix.address.span());
  EXPECT_EQ(socket().Do(again, "again").code(), Code::kAlreadyExists);
}

TEST_F(RtnlAddrTest, PointToPointAddressesKeepTheirPeer) {
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "10.30.0.0 peer 10.30.0.1/32").ok());
  EXPECT_EQ(Now(), "10.30.0.0 peer 10.30.0.1/32");
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "10.30.0.0/31").ok());
  EXPECT_EQ(Now(), "10.30.0.0/31");
}

TEST_F(RtnlAddrTest, BadLinesAreRefusedBeforeAnythingIsChanged) {
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "10.10.0.1/24").ok());
  for (const char* line :
       {"10.10.0.1", "10.10.0.1/33", "10.10.0/24", "fe80::1/64", "0.0.0.0/0", "fd00::1/129", "x/24",
        "10.10.0.1/24 extra", "10.0.0.1 peer fd00::1/64", "10.0.0.1/24/8"}) {
    Status status = machine_->Set("/rtnl/addr/rail0", std::string("10.10.0.9/24\n") + line);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << line;
    EXPECT_EQ(Now(), "10.10.0.1/24") << line;
  }
}

TEST_F(RtnlAddrTest, APartialFailureTellsWhatIsThereNow) {
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "10.10.0.1/24").ok());
  // Below 1280 bytes there is no IPv6 on the link, so the second of the two cannot be added.
  ASSERT_TRUE(machine_->Set("/rtnl/link/rail0/mtu", "1000").ok());
  Status status = machine_->Set("/rtnl/addr/rail0", "10.10.0.2/24\nfd00:10::1/64");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("adding fd00:10::1/64"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("now there: 10.10.0.2/24"), std::string::npos) << status.message();
}

TEST_F(RtnlAddrTest, ADuplicateOnTheLinkIsShown) {
  ASSERT_TRUE(machine_->Set("/proc/sys/net/ipv6/conf/rail0/dad_transmits", "1").ok());
  ASSERT_TRUE(machine_->Set("/rtnl/addr/peer0", "fd00:10::1/64").ok());
  // The peer's own detection has to end before it defends the address.
  auto settled = [this](const char* path, const char* text) {
    for (int i = 0; i < 100; ++i) {
      if (machine_->Get(path).value() == text) return true;
      ::usleep(100'000);
    }
    return false;
  };
  ::usleep(2'500'000);
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "fd00:10::1/64").ok());
  EXPECT_TRUE(settled("/rtnl/addr/rail0", "fd00:10::1/64 dadfailed")) << Now();
}

}  // namespace
}  // namespace railwright::machine
