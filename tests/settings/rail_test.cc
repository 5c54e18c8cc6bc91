// rail.address and rail.routing.
#include <algorithm>
#include <cerrno>

#include "core/decode/cidr.h"
#include "core/decode/rail_routing.h"
#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kAddr = "/rtnl/addr/rail0";

TEST(CidrTest, OneSpellingAndClearRefusals) {
  struct {
    const char* typed;
    const char* canonical;
  } good[] = {{"10.10.0.1/24", "10.10.0.1/24"},
              {"FD00:10:0:0::1/64", "fd00:10::1/64"},
              {"fd00:0010:0000::0001/064", nullptr},
              {"::ffff:10.0.0.1/128", "::ffff:10.0.0.1/128"},
              {"10.0.0.0/31", "10.0.0.0/31"}};
  for (const auto& one : good) {
    const auto cidr = Cidr::Parse(one.typed);
    if (one.canonical == nullptr) {
      EXPECT_FALSE(cidr.ok()) << one.typed;
      continue;
    }
    ASSERT_TRUE(cidr.ok()) << one.typed;
    EXPECT_EQ(cidr->Text(), one.canonical);
  }
  for (const char* bad :
       {"", "/24", "10.10.0.1", "10.10.0.1/33", "10.10.0/24", "010.1.1.1/8", "10.10.0.1/-1", "10.10.0.1/",
        "fd00::1/129", "fd00::1%rail0/64", "fd00:::1/64", "a/b", "10.0.0.1/24/24"})
    EXPECT_FALSE(Cidr::Parse(bad).ok()) << bad;
  EXPECT_FALSE(Cidr::Parse(std::string_view("10.10.0.1\0.evil/24", 18)).ok()) << "a NUL ends no address";
}

TEST(CidrTest, WhatNoPortCanHaveIsRefused) {
  for (const char* bad :
       {"10.10.0.0/24", "10.10.0.255/24", "127.0.0.1/8", "224.0.0.1/4", "0.0.0.0/0", "169.254.1.1/16",
        "fe80::1/64", "ff02::1/16", "::1/128", "::/64", "fd00::/64", "255.255.255.255/32"})
    EXPECT_FALSE(Cidr::Parse(bad)->CheckHost().ok()) << bad;
  for (const char* good : {"10.10.0.1/24", "10.10.0.0/31", "10.10.0.1/31", "10.10.0.0/32", "fd00::/127",
                           "fd00::1/64", "fd00::ffff:ffff:ffff:ffff/64"})
    EXPECT_TRUE(Cidr::Parse(good)->CheckHost().ok()) << good;
}

TEST(CidrTest, ContainmentAndOutermost) {
  const auto net = [](const char* text) { return *Cidr::Parse(text); };
  EXPECT_TRUE(net("10.10.0.0/16").Contains(net("10.10.3.4/32")));
  EXPECT_FALSE(net("10.10.0.0/16").Contains(net("10.11.0.0/16")));
  EXPECT_FALSE(net("10.10.0.0/16").Contains(net("10.0.0.0/8")));
  EXPECT_FALSE(net("0.0.0.0/0").Contains(net("fd00::/64")));
  std::vector<std::string> texts;
  for (const Cidr& one : OutermostNetworks({net("fd00::1/64"), net("10.10.3.1/24"), net("10.10.0.0/16"),
                                            net("10.10.0.9/16"), net("10.20.0.0/24")}))
    texts.push_back(one.Text());
  EXPECT_EQ(texts, (std::vector<std::string>{"10.10.0.0/16", "10.20.0.0/24", "fd00::/64"}));
}

TEST(RailAddressTest, DeclaredIsWhatTheClusterGivesThePort) {
  Subject address("rail.address", FabricPort("rail0", {"fd00:10::1/64", "10.10.0.1/24"}));
  EXPECT_EQ(address.Wish("declared"), "10.10.0.1/24,fd00:10::1/64");
  EXPECT_EQ(address.Wish("10.1.0.1/24, 10.1.0.1/24 FD00::1/64"), "10.1.0.1/24,fd00::1/64");
  const Subject none("rail.address");
  const auto refused = none.setting->Desired(none.target, "declared");
  EXPECT_EQ(refused.status().code(), Code::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("port rail0 has no address in the Cluster document"),
            std::string::npos);
  for (const char* bad : {"", ",", "10.10.0.1", "10.10.0.0/24", "dhcp", "10.10.0.1/24;x"})
    EXPECT_FALSE(none.Canonical(bad).ok()) << bad;
}

TEST(RailAddressTest, TheWholeSetIsReadAndMadeSo) {
  Subject address("rail.address", FabricPort("rail0", {"10.10.0.1/24", "fd00:10::1/64"}));
  FakeMachine machine;
  machine.Put(kAddr, "10.10.0.9/24");
  address.Wish("declared");
  EXPECT_FALSE(address.Satisfied(machine));
  ASSERT_TRUE(address.Apply(machine, address.target.wish).ok());
  EXPECT_EQ(machine.Value(kAddr), "10.10.0.1/24\nfd00:10::1/64");
  EXPECT_TRUE(address.Satisfied(machine));
  machine.Put(kAddr, "10.10.0.1/24\n10.10.0.9/24\nfd00:10::1/64");
  EXPECT_FALSE(address.Satisfied(machine)) << "one too many";
  machine.Put(kAddr, "10.10.0.1/24\nfd00:10::1/64 dadfailed");
  EXPECT_FALSE(address.Satisfied(machine)) << "an address that another host has is not used";
}

TEST(RailAddressTest, NoAddressIsAbsentAndCanBePutBack) {
  Subject address("rail.address", FabricPort("rail0", {"10.10.0.1/24"}));
  FakeMachine machine;
  machine.Put(kAddr, "");
  EXPECT_EQ(address.See(machine).kind, Observation::Kind::kAbsent);
  ASSERT_TRUE(address.Apply(machine, "10.10.0.1/24").ok());
  ASSERT_TRUE(address.Apply(machine, "").ok());
  EXPECT_EQ(machine.Value(kAddr), "");
}

TEST(RailAddressTest, AProfileSaysDeclaredOrNothing) {
  FakeMachine machine;
  const Subject address("rail.address", FabricPort("rail0", {"10.10.0.1/24"}));
  machine.Put(kAddr, "10.10.0.1/24");
  EXPECT_EQ(*address.setting->AsWish(address.target, address.See(machine)), "declared");
  machine.Put(kAddr, "10.10.0.9/24");
  const auto other = address.setting->AsWish(address.target, address.See(machine));
  EXPECT_EQ(other.status().message(), "rail0 has 10.10.0.9/24; the Cluster document declares 10.10.0.1/24");
  const Subject undeclared("rail.address");
  EXPECT_FALSE(undeclared.setting->AsWish(undeclared.target, undeclared.See(machine)).ok());
}

TEST(RailAddressTest, OnlyRemovalDisturbs) {
  const Subject address("rail.address");
  EXPECT_EQ(address.setting->DisruptionOf(address.target, "", "10.10.0.1/24"), Disruption::kNone);
  EXPECT_EQ(address.setting->DisruptionOf(address.target, "10.10.0.1/24", "10.10.0.1/24,10.10.0.2/24"),
            Disruption::kNone);
  EXPECT_EQ(address.setting->DisruptionOf(address.target, "10.10.0.1/24", "10.10.0.1/25"),
            Disruption::kTrafficBlip);
}

TEST(RailRoutingTest, NumbersThatAreTheDefaultsAreNotSpelled) {
  const Subject routing("rail.routing");
  EXPECT_EQ(routing.Said("per-rail"), "per-rail");
  EXPECT_EQ(routing.Said("per-rail priority=1001 table=101"), "per-rail");
  EXPECT_EQ(routing.Said("per-rail,priority=500,table=1000"), "per-rail table=1000 priority=500");
  for (const char* bad : {"", "table=101", "per-rail table=0", "per-rail table=254", "per-rail table=255",
                          "per-rail priority=32766", "per-rail priority=0", "per-rail table=1 table=2",
                          "per-rail x=1", "per-rail table", "per-rail table=main"})
    EXPECT_FALSE(routing.Canonical(bad).ok()) << bad;
}

TEST(RailRoutingTest, TheWishIsWrittenOutFromAddressesAndGateways) {
  Subject routing("rail.routing",
                  FabricPort("rail0", {"10.10.0.1/24", "fd00:10::1/64"}, {"10.10.0.254", "fd00:10::fe"}), 3);
  EXPECT_EQ(routing.Wish("per-rail"),
            "priority 1004: from 10.10.0.1 lookup 104, from fd00:10::1 lookup 104; table 104: 10.10.0.0/24 "
            "dev rail0 "
            "scope link src 10.10.0.1, default via 10.10.0.254 dev rail0, default via fd00:10::fe dev rail0, "
            "fd00:10::/64 dev rail0");
  Subject second("rail.routing", FabricPort("rail0", {"10.10.0.1/24", "10.10.0.2/24"}), 0);
  EXPECT_EQ(second.Wish("per-rail table=300 priority=20"),
            "priority 20: from 10.10.0.1 lookup 300, from 10.10.0.2 lookup 300; table 300: 10.10.0.0/24 dev "
            "rail0 scope "
            "link src 10.10.0.1")
      << "one connected route a subnet";
}

TEST(RailRoutingTest, AWishThatThePortCannotHaveNamesTheCluster) {
  const auto say = [](const std::vector<std::string>& addresses, const std::vector<std::string>& gateways,
                      const char* wish, int index) {
    const Subject routing("rail.routing", FabricPort("rail0", addresses, gateways), index);
    const auto desired = routing.setting->Desired(routing.target, wish);
    return desired.ok() ? std::string("ok") : desired.status().message();
  };
  EXPECT_NE(say({}, {}, "per-rail", 0).find("has no address"), std::string::npos);
  EXPECT_NE(say({"10.10.0.1/24"}, {"10.11.0.254"}, "per-rail", 0)
                .find("port rail0: gateway 10.11.0.254 lies in no subnet of the port (10.10.0.1/24)"),
            std::string::npos);
  EXPECT_NE(say({"10.10.0.1/24"}, {}, "per-rail table=250", 5).find("table 255, which is the kernel's"),
            std::string::npos);
  EXPECT_EQ(say({"10.10.0.1/24"}, {}, "per-rail table=250", 2), "ok");
}

TEST(RailRoutingTest, AProfileSaysPerRailOrNothing) {
  FakeMachine machine;
  machine.Put("/rtnl/link/rail0/state", "up");
  Subject routing("rail.routing", FabricPort("rail0", {"10.10.0.1/24"}));
  const auto nothing = routing.setting->AsWish(routing.target, routing.See(machine));
  EXPECT_NE(nothing.status().message().find("no routing of its own"), std::string::npos);
  const std::string wish = routing.Wish("per-rail");
  ASSERT_TRUE(routing.Apply(machine, wish).ok());
  routing.target.wish.clear();
  EXPECT_EQ(*routing.setting->AsWish(routing.target, routing.See(machine)), "per-rail");
}

TEST(RailRoutingTest, TextAndValueGoRoundTrip) {
  for (const char* text :
       {"priority 1001: none; table 101: none", "priority 1: from 10.0.0.1 lookup 9; table 9: none",
        "priority 1: from 10.0.0.1 lookup 9, from fd00::1 lookup 9; table 9: default via 10.0.0.2 dev "
        "rail0, fd00::/64 dev rail0"}) {
    const auto parsed = RailRouting::Parse(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(parsed->Text(), text);
  }
  for (const char* bad : {"", "per-rail", "priority 1: none", "priority x: none; table 9: none",
                          "priority 1: none; table 9: none; more", "priority 1: ; table 9: none"})
    EXPECT_FALSE(RailRouting::Parse(bad).ok()) << bad;
}

struct Routed : FakeMachine {
  explicit Routed(const std::string& state = "up") { Put("/rtnl/link/rail0/state", state); }
};

TEST(RailRoutingTest, RoutesAreWrittenBeforeRulesAndRemovedAfter) {
  Subject routing("rail.routing", FabricPort("rail0", {"10.10.0.1/24"}, {"10.10.0.254"}));
  Routed machine;
  routing.Wish("per-rail");
  const std::string original = routing.See(machine).value;
  EXPECT_EQ(original, "priority 1001: none; table 101: none");
  EXPECT_FALSE(routing.Satisfied(machine));
  ASSERT_TRUE(routing.Apply(machine, routing.target.wish).ok());
  EXPECT_EQ(machine.Value("/rtnl/rule/1001"), "from 10.10.0.1 lookup 101");
  EXPECT_EQ(machine.Value("/rtnl/route/101"),
            "10.10.0.0/24 dev rail0 scope link src 10.10.0.1\ndefault via 10.10.0.254 dev rail0");
  ASSERT_EQ(machine.Writes().size(), 2U);
  EXPECT_EQ(machine.Writes()[0].first, "/rtnl/route/101");
  EXPECT_TRUE(routing.Satisfied(machine));
  machine.ClearLog();
  ASSERT_TRUE(routing.Apply(machine, original).ok());
  ASSERT_EQ(machine.Writes().size(), 2U);
  EXPECT_EQ(machine.Writes()[0].first, "/rtnl/rule/1001");
  routing.target.wish = original;
  EXPECT_TRUE(routing.Satisfied(machine));
}

TEST(RailRoutingTest, ADownLinkIsDriftWithItsCauseAndNothingIsWritten) {
  Subject routing("rail.routing", FabricPort("rail0", {"10.10.0.1/24"}));
  Routed machine("down");
  routing.Wish("per-rail");
  const Observation observed = routing.See(machine);
  EXPECT_EQ(observed.kind, Observation::Kind::kValue) << "seen, and different: drift, not NotApplicable";
  EXPECT_NE(observed.message.find("rail0 is down"), std::string::npos);
  EXPECT_FALSE(routing.Satisfied(machine));
  const Status refused = routing.Apply(machine, routing.target.wish);
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_EQ(refused.error_number(), ENETDOWN);
  EXPECT_NE(refused.message().find("ip link set rail0 up"), std::string::npos);
  EXPECT_TRUE(machine.Writes().empty());
  const auto reads = machine.Reads();
  EXPECT_NE(std::find(reads.begin(), reads.end(), "/rtnl/link/rail0/state"), reads.end())
      << "so that the link's events lead to another look";
}

TEST(RailRoutingTest, WhatSomebodyElsePutInOurPlaceIsNotRemoved) {
  Subject routing("rail.routing", FabricPort("rail0", {"10.10.0.1/24"}));
  routing.Wish("per-rail");
  {
    Routed machine;
    machine.Put("/rtnl/rule/1001", "from 192.168.0.7 lookup 7");
    EXPECT_NE(routing.Apply(machine, routing.target.wish)
                  .message()
                  .find("rule \"1001: from 192.168.0.7 lookup 7\""),
              std::string::npos);
    EXPECT_TRUE(machine.Writes().empty());
  }
  {
    Routed machine;
    machine.Put("/rtnl/route/101", "default via 192.168.0.1 dev eno1");
    EXPECT_NE(routing.Apply(machine, routing.target.wish).message().find("default via 192.168.0.1 dev eno1"),
              std::string::npos);
    EXPECT_TRUE(machine.Writes().empty());
  }
  {
    // A rule of an address that the port had before leads to our table, so it is ours to remove.
    Routed machine;
    machine.Put("/rtnl/rule/1001", "from 10.10.0.9 lookup 101")
        .Put("/rtnl/route/101", "10.10.0.0/25 dev rail0 scope link");
    EXPECT_TRUE(routing.Apply(machine, routing.target.wish).ok());
    EXPECT_TRUE(routing.Satisfied(machine));
  }
}

TEST(RailRoutingTest, AnUnreadableStateRuleOrTableIsAnError) {
  Subject routing("rail.routing", FabricPort("rail0", {"10.10.0.1/24"}));
  routing.Wish("per-rail");
  for (const char* path : {"/rtnl/link/rail0/state", "/rtnl/rule/1001", "/rtnl/route/101"}) {
    Routed machine;
    ASSERT_TRUE(routing.Apply(machine, routing.target.wish).ok());
    machine.FailReads(path, FromErrno(EIO, path));
    EXPECT_FALSE(routing.setting->Observe(machine, routing.target).ok()) << path;
  }
}

}  // namespace
}  // namespace railwright
