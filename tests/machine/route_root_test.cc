#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>

#include <cerrno>

#include "agent/machine/ip_address.h"
#include "agent/machine/linux_machine.h"
#include "tests/machine/network_namespace.h"
#include "tests/machine/set_valued_sentences.h"

namespace railwright::machine {
namespace {

class RtnlRouteTest : public NetworkNamespaceTest {
 protected:
  void SetUp() override {
    NetworkNamespaceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    MakeVeth("rail0", "peer0");
    MakeVeth("rail1", "peer1");
    machine_ = MakeLinuxMachine();
    // Without duplicate address detection, an IPv6 address may be a source at once.
    ASSERT_TRUE(machine_->Set("/proc/sys/net/ipv6/conf/rail0/accept_dad", "0").ok());
    for (const char* name : {"rail0", "peer0", "rail1", "peer1"})
      ASSERT_TRUE(machine_->Set("/rtnl/link/" + std::string(name) + "/state", "up").ok());
    ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "10.10.0.1/24\nfd00:10::1/64").ok());
    ASSERT_TRUE(machine_->Set("/rtnl/addr/rail1", "10.11.0.1/24\nfd00:11::1/64").ok());
  }
  /// Unavailable asks for another try: an IPv6 source counts only once its link has carrier.
  Status SetWhenReady(const std::string& path, const std::string& text) {
    Status status;
    for (int i = 0; i < 200; ++i) {
      status = machine_->Set(path, text);
      if (status.code() != Code::kUnavailable) break;
      ::usleep(50'000);
    }
    return status;
  }
  void RoundTrips(const std::string& path, const std::string& text) {
    Status status = SetWhenReady(path, text);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(machine_->Get(path).value(), text);
    EXPECT_TRUE(machine_->Set(path, text).ok()) << "what is read may be written";
  }
  std::unique_ptr<Machine> machine_;
};

TEST_F(RtnlRouteTest, TheTableOfARailRoundTrips) {
  EXPECT_EQ(machine_->Get("/rtnl/route/101").value(), "") << "a table that never was is empty";
  RoundTrips("/rtnl/route/101",
             "10.10.0.0/24 dev rail0 scope link src 10.10.0.1\n"
             "default via 10.10.0.254 dev rail0");
  EXPECT_EQ(machine_->List("/rtnl/route").value(), (std::vector<std::string>{"101", "254"}));
}

TEST_F(RtnlRouteTest, WhatIsMissingOfTheMainTableIsAddedAndNothingRemoved) {
  constexpr const char* kWay = "/rtnl/route/main/rail0";
  EXPECT_EQ(machine_->Get(kWay).value(), "") << "the kernel's own come with the addresses";
  ASSERT_TRUE(machine_->Set(kWay, "default via 10.10.0.254 dev rail0").ok());
  ASSERT_TRUE(machine_->Set(kWay, "10.99.0.0/16 via 10.10.0.253 dev rail0").ok());
  const std::string both = "10.99.0.0/16 via 10.10.0.253 dev rail0\ndefault via 10.10.0.254 dev rail0";
  EXPECT_EQ(machine_->Get(kWay).value(), both);
  EXPECT_EQ(machine_->Get("/rtnl/route/main/rail1").value(), "");
  // The last address takes them along, and does not bring them back.
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "").ok());
  EXPECT_EQ(machine_->Get(kWay).value(), "");
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "10.10.0.1/24").ok());
  EXPECT_EQ(machine_->Get(kWay).value(), "");
  ASSERT_TRUE(machine_->Set(kWay, both).ok());
  EXPECT_EQ(machine_->Get(kWay).value(), both);
  EXPECT_EQ(machine_->Set(kWay, "10.98.0.0/16 via 10.11.0.253 dev rail1").code(), Code::kInvalidArgument);
}

TEST_F(RtnlRouteTest, IPv6RoundTripsBesideIPv4) {
  RoundTrips("/rtnl/route/101",
             "10.10.0.0/24 dev rail0 scope link src 10.10.0.1\n"
             "default via 10.10.0.254 dev rail0\n"
             "default via fd00:10::fe dev rail0\n"
             "fd00:10::/64 dev rail0 src fd00:10::1");
  RoundTrips("/rtnl/route/101", "::/0 dev rail0\ndefault dev rail0 scope link");
  RoundTrips("/rtnl/route/101", "10.62.0.0/24 dev rail0 scope global\n10.63.0.0/24 dev rail0 scope host");
  RoundTrips("/rtnl/route/101", "");
}

TEST_F(RtnlRouteTest, ASourceStillUnderDuplicateDetectionIsToBeTriedAgain) {
  ASSERT_TRUE(machine_->Set("/proc/sys/net/ipv6/conf/rail1/dad_transmits", "10").ok());
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail1", "fd00:11::7/64").ok());
  Status status = machine_->Set("/rtnl/route/102", "fd00:11::/64 dev rail1 src fd00:11::7");
  EXPECT_EQ(status.code(), Code::kUnavailable) << status.ToString();
  EXPECT_NE(status.message().find("not yet usable"), std::string::npos) << status.message();
  EXPECT_EQ(machine_->Set("/rtnl/route/102", "fd00:11::/64 dev rail1 src fd00:99::1").code(),
            Code::kInvalidArgument);
}

TEST_F(RtnlRouteTest, LargeTablesMetricsAndRefusingRoutesRoundTrip) {
  RoundTrips("/rtnl/route/4000000",
             "10.20.0.0/16 via 10.10.0.254 dev rail0 metric 50\n"
             "10.20.0.0/16 via 10.11.0.254 dev rail1 metric 60 mtu 1400\n"
             "10.99.0.0/16 via 192.0.2.1 dev rail0 onlink\n"
             "blackhole 10.66.0.0/16\n"
             "fd00:20::/64 via fd00:10::fe dev rail0 metric 50\n"
             "unreachable default metric 4278198272\n"
             "unreachable fd00:66::/64");
}

TEST_F(RtnlRouteTest, MultipathRoundTripsInAnyOrderOfItsHops) {
  RoundTrips("/rtnl/route/101",
             "10.30.0.0/16 nexthop via 10.10.0.254 dev rail0 nexthop via 10.11.0.254 dev rail1 weight 2\n"
             "fd00:30::/64 nexthop via fd00:10::fe dev rail0 nexthop via fd00:11::fe dev rail1");
  ASSERT_TRUE(
      machine_
          ->Set("/rtnl/route/101",
                "10.30.0.0/16 nexthop via 10.11.0.254 dev rail1 weight 2 nexthop via 10.10.0.254 dev rail0")
          .ok());
  EXPECT_EQ(machine_->Get("/rtnl/route/101").value(),
            "10.30.0.0/16 nexthop via 10.10.0.254 dev rail0 nexthop via 10.11.0.254 dev rail1 weight 2");
}

TEST_F(RtnlRouteTest, AnIPv4RouteMayGoViaAnIPv6Gateway) {
  RoundTrips("/rtnl/route/101", "10.40.0.0/16 via inet6 fd00:10::fe dev rail0");
}

TEST_F(RtnlRouteTest, OtherSpellingsAreTaken) {
  ASSERT_TRUE(
      SetWhenReady("/rtnl/route/101",
                   "10.10.0.0/24 dev rail0 proto static src 10.10.0.1\n10.50.0.1 via 10.10.0.254 dev rail0\n"
                   "fd00:10::/64 dev rail0 proto kernel scope link src fd00:10::1 metric 1024 pref medium")
          .ok());
  EXPECT_EQ(machine_->Get("/rtnl/route/101").value(),
            "10.10.0.0/24 dev rail0 scope link src 10.10.0.1\n10.50.0.1/32 via 10.10.0.254 dev rail0\n"
            "fd00:10::/64 dev rail0 src fd00:10::1");
}

TEST_F(RtnlRouteTest, AnotherGatewayReplacesTheRouteOfTheSamePlace) {
  ASSERT_TRUE(machine_->Set("/rtnl/route/101", "default via 10.10.0.254 dev rail0").ok());
  RoundTrips("/rtnl/route/101", "default via 10.10.0.253 dev rail0");
}

TEST_F(RtnlRouteTest, RoutesGoWithTheLinkAndComeBackWhenAskedAgain) {
  const std::string text =
      "10.10.0.0/24 dev rail0 scope link src 10.10.0.1\ndefault via 10.10.0.254 dev rail0";
  RoundTrips("/rtnl/route/101", text);
  ASSERT_TRUE(machine_->Set("/rtnl/link/rail0/state", "down").ok());
  EXPECT_EQ(machine_->Get("/rtnl/route/101").value(), "");
  Status down = machine_->Set("/rtnl/route/101", text);
  EXPECT_FALSE(down.ok());
  EXPECT_NE(down.message().find("Network is down"), std::string::npos) << down.message();
  ASSERT_TRUE(machine_->Set("/rtnl/link/rail0/state", "up").ok());
  RoundTrips("/rtnl/route/101", text);
}

TEST_F(RtnlRouteTest, TheHostsOwnTablesAreReadAndNeverWritten) {
  auto main = machine_->Get("/rtnl/route/254");
  ASSERT_TRUE(main.ok());
  EXPECT_NE(main->find("10.10.0.0/24 dev rail0 scope link src 10.10.0.1"), std::string::npos) << *main;
  EXPECT_EQ(main->find("fe80::/64 dev lo"), std::string::npos);
  EXPECT_EQ(main->find("ff00::"), std::string::npos) << *main;
  for (const char* table : {"0", "253", "254", "255"})
    EXPECT_EQ(machine_->Set("/rtnl/route/" + std::string(table), "").code(), Code::kFailedPrecondition)
        << table;
  EXPECT_EQ(machine_->Get("/rtnl/route/254").value(), *main);
  for (const char* table : {"main", "-1", "4294967296", "1 ", "0x65"})
    EXPECT_EQ(machine_->Get("/rtnl/route/" + std::string(table)).status().code(), Code::kInvalidArgument)
        << table;
}

TEST_F(RtnlRouteTest, ARouteOfAnotherProgramsProtocolIsInTheSetOneOfTheKernelIsNot) {
  auto add = [this](const char* destination, std::uint8_t protocol) {
    rtmsg head{};
    head.rtm_family = AF_INET;
    head.rtm_dst_len = 24;
    head.rtm_protocol = protocol;
    head.rtm_type = RTN_UNICAST;
    head.rtm_scope = RT_SCOPE_LINK;
    head.rtm_table = 101;
    NetlinkMessage message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
    message.Header(head).Put(RTA_DST, IpAddress::Parse(destination)->span());
    message.PutU32(RTA_OIF, socket().InterfaceIndex("rail0").value());
    return socket().Do(message, destination);
  };
  ASSERT_TRUE(add("10.61.0.0", RTPROT_KERNEL).ok());
  ASSERT_TRUE(add("10.62.0.0", RTPROT_BIRD).ok());
  EXPECT_EQ(machine_->Get("/rtnl/route/101").value(), "10.62.0.0/24 dev rail0 scope link");
  ASSERT_TRUE(machine_->Set("/rtnl/route/101", "").ok());
  EXPECT_EQ(machine_->Get("/rtnl/route/101").value(), "");
  EXPECT_EQ(add("10.61.0.0", RTPROT_STATIC).code(), Code::kAlreadyExists)
      << "the kernel's route is still there";
}

TEST_F(RtnlRouteTest, BadLinesAreRefusedBeforeAnythingIsChanged) {
  ASSERT_TRUE(machine_->Set("/rtnl/route/101", "default via 10.10.0.254 dev rail0").ok());
  for (const char* line : {"10.10.0.1/24 dev rail0", "10.0.0.0/8", "via 10.0.0.1 dev rail0", "10.0.0.0/8 dev",
                           "10.0.0.0/8 via fd00::zz dev rail0", "fd00::/64 via 10.0.0.1 dev rail0",
                           "10.0.0.0/8 dev rail0 metric x", "10.0.0.0/8 dev rail0 colour blue",
                           "blackhole 10.0.0.0/8 dev rail0", "10.0.0.0/8 dev rail0 src fd00::1"})
    EXPECT_EQ(machine_->Set("/rtnl/route/101", line).code(), Code::kInvalidArgument) << line;
  EXPECT_EQ(machine_->Set("/rtnl/route/101", "10.0.0.0/8 dev rail9").code(), Code::kNotFound);
  EXPECT_EQ(machine_->Get("/rtnl/route/101").value(), "default via 10.10.0.254 dev rail0");
}

TEST_F(RtnlRouteTest, SetsAreAsTheFakePromises) {
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "").ok());
  ExpectSetsAreAsPromised(*machine_);
}

TEST_F(RtnlRouteTest, ThousandsOfRoutesAreReadWhole) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += "10." + std::to_string(100 + i / 256) + "." + std::to_string(i % 256) +
            ".0/24 dev rail0 scope link\n";
  ASSERT_TRUE(machine_->Set("/rtnl/route/101", text).ok());
  const std::string back = machine_->Get("/rtnl/route/101").value();
  EXPECT_EQ(std::count(back.begin(), back.end(), '\n'), 2999);
  ASSERT_TRUE(machine_->Set("/rtnl/route/101", "").ok());
  EXPECT_EQ(machine_->Get("/rtnl/route/101").value(), "");
}

TEST_F(RtnlRouteTest, RulesOfBothFamiliesRoundTrip) {
  EXPECT_EQ(machine_->Get("/rtnl/rule/1101").value(), "");
  RoundTrips("/rtnl/rule/1101", "from 10.10.0.1 lookup 101\nfrom fd00:10::1 lookup 101");
  RoundTrips("/rtnl/rule/1101", "from 10.10.0.1 lookup 4000000");
  RoundTrips("/rtnl/rule/1102",
             "from ::/0 to fd00:20::/64 lookup 102\n"
             "from all fwmark 0x10/0xff iif rail0 ipproto 17 sport 49152-65534 dport 4791 lookup 103\n"
             "from all to 10.20.0.0/16 unreachable\n"
             "not from 10.0.0.0/8 lookup 104");
  EXPECT_EQ(machine_->List("/rtnl/rule").value(),
            (std::vector<std::string>{"0", "1101", "1102", "32766", "32767"}));
  RoundTrips("/rtnl/rule/1102", "");
  EXPECT_EQ(machine_->Get("/rtnl/rule/1101").value(), "from 10.10.0.1 lookup 4000000")
      << "others are untouched";
}

TEST_F(RtnlRouteTest, OnlyRulesOfThisPriorityAreTouchedAndTheHostsNever) {
  EXPECT_EQ(machine_->Get("/rtnl/rule/32766").value(), "from ::/0 lookup 254\nfrom all lookup 254");
  for (const char* priority : {"0", "32766", "32767"})
    EXPECT_EQ(machine_->Set("/rtnl/rule/" + std::string(priority), "").code(), Code::kFailedPrecondition);
  for (const char* line : {"from 10.10.0.1", "from x lookup 1", "from 10.0.0.1/8 lookup 1", "lookup 0",
                           "from all", "from 10.0.0.1 to fd00::1 lookup 1", "from all sport 9-1 lookup 1",
                           "from all goto 5", "from all lookup 1 blackhole"})
    EXPECT_EQ(machine_->Set("/rtnl/rule/1101", line).code(), Code::kInvalidArgument) << line;
}

TEST_F(RtnlRouteTest, ARuleThatSaysMoreThanALineCanIsUnlikeAnyWish) {
  fib_rule_hdr head{};
  head.family = AF_INET;
  head.action = FR_ACT_TO_TBL;
  head.table = RT_TABLE_MAIN;
  NetlinkMessage message(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL);
  message.Header(head).PutU32(FRA_PRIORITY, 1101).PutU32(FRA_SUPPRESS_PREFIXLEN, 0);
  ASSERT_TRUE(socket().Do(message, "rule").ok());
  EXPECT_EQ(machine_->Get("/rtnl/rule/1101").value(), "from all lookup 254 suppress_prefixlength 0");
  RoundTrips("/rtnl/rule/1101", "from all lookup 254");
}

}  // namespace
}  // namespace railwright::machine
