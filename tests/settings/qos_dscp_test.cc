// qos.trust and qos.dscp_map over a port that behaves as mlx5 does.
#include <cerrno>

#include "core/decode/dscp_map.h"
#include "tests/settings/subject.h"
#include "tests/support/mlx5_machine.h"

namespace railwright {
namespace {

constexpr const char* kApp = "/dcb/rail0/app";

void List(Mlx5Machine& machine, const std::vector<std::pair<std::uint16_t, std::uint8_t>>& dscps) {
  for (const auto& [dscp, priority] : dscps)
    ASSERT_EQ(machine.dcb.SetApp({DcbApp::kDscp, dscp, priority}), 0);
  machine.Show();
}

TEST(QosTrustTest, OneListedDscpIsTrust) {
  Subject trust("qos.trust");
  Mlx5Machine machine;
  EXPECT_EQ(trust.See(machine).value, "pcp");
  List(machine, {{26, 3}});
  const Observation seen = trust.See(machine);
  EXPECT_EQ(seen.value, "dscp");
  EXPECT_NE(seen.message.find("1 of 64 DSCPs are listed"), std::string::npos) << seen.message;
  for (const char* bad : {"", "DSCP", "both", "l3"}) EXPECT_FALSE(trust.Canonical(bad).ok()) << bad;
}

TEST(QosTrustTest, OtherEntriesAreNoTrust) {
  const Subject trust("qos.trust");
  FakeMachine machine;
  machine.Put(kApp, "dgram 4791 prio 3");
  machine.Put("/dcb/rail0/dcbx", "host=1 lld_managed=0 cee=0 ieee=1 static=0");
  EXPECT_EQ(trust.See(machine).value, "pcp");
}

TEST(QosTrustTest, DscpListsAll64AsTheCardHasThem) {
  Subject trust("qos.trust");
  Mlx5Machine machine;
  const auto hardware = machine.dcb.hardware;
  trust.Wish("dscp");
  ASSERT_TRUE(trust.Apply(machine, "dscp").ok());
  EXPECT_TRUE(trust.Satisfied(machine));
  EXPECT_TRUE(machine.dcb.trusts_dscp);
  EXPECT_EQ(machine.dcb.apps.size(), 64U);
  EXPECT_EQ(machine.dcb.hardware, hardware);
  EXPECT_EQ(trust.See(machine).message, "");
}

TEST(QosTrustTest, WhatIsListedStaysAndIsNotCompleted) {
  Subject trust("qos.trust");
  Mlx5Machine machine;
  List(machine, {{26, 4}});
  ASSERT_TRUE(trust.Apply(machine, "dscp").ok());
  EXPECT_TRUE(machine.dcb_writes.empty());
  EXPECT_EQ(machine.Value(kApp), "dscp 26 prio 4");
}

TEST(QosTrustTest, PcpRemovesEveryDscp) {
  Subject trust("qos.trust");
  Mlx5Machine machine;
  ASSERT_TRUE(trust.Apply(machine, "dscp").ok());
  trust.Wish("pcp");
  ASSERT_TRUE(trust.Apply(machine, "pcp").ok());
  EXPECT_TRUE(trust.Satisfied(machine));
  EXPECT_FALSE(machine.dcb.trusts_dscp);
  EXPECT_EQ(trust.setting->DisruptionOf(trust.target, "dscp", "pcp"), Disruption::kTrafficBlip);
  EXPECT_EQ(trust.setting->DisruptionOf(trust.target, "dscp", "dscp"), Disruption::kNone);
}

TEST(QosDscpMapTest, OneSpellingPerMeaning) {
  const Subject map("qos.dscp_map");
  EXPECT_EQ(map.Said("default"), "default");
  EXPECT_EQ(map.Said("26:3,48:6"), "default") << "as every card has it";
  EXPECT_EQ(map.Said("48:7 26:4"), "26:4,48:7");
  EXPECT_EQ(map.Said("24,25:4").find("\"24\" is no DSCP:PRIORITY"), 0U);
  EXPECT_EQ(map.Said("24:5,25:5,26:5"), "24-26:5");
  EXPECT_EQ(map.Said("0-63:3"), "0-23:3,32-63:3");
  for (const char* bad :
       {"", "64:1", "1:8", "26", "26:3,26:4", "9-3:1", "only 26:3", "default,26:4", "1:1:1"})
    EXPECT_FALSE(map.Canonical(bad).ok()) << bad;
}

TEST(QosDscpMapTest, ATableWithoutEntriesIsNotTheDefault) {
  Subject map("qos.dscp_map");
  Mlx5Machine machine;
  map.Wish("default");
  EXPECT_EQ(map.See(machine).kind, Observation::Kind::kAbsent);
  EXPECT_FALSE(map.Satisfied(machine)) << "although the card has it: nothing proves that";
  List(machine, {{26, 3}});
  EXPECT_EQ(map.See(machine).value, "only 26:3");
  EXPECT_FALSE(map.Satisfied(machine));
  ASSERT_TRUE(map.Apply(machine, "default").ok());
  EXPECT_TRUE(map.Satisfied(machine));
}

TEST(QosDscpMapTest, AChangedPriorityReplacesAndTrustNeverFlips) {
  Subject map("qos.dscp_map");
  Mlx5Machine machine;
  ASSERT_TRUE(map.Apply(machine, "default").ok());
  map.Wish("26:4,48:7");
  ASSERT_TRUE(map.Apply(machine, map.target.wish).ok());
  EXPECT_TRUE(map.Satisfied(machine));
  EXPECT_EQ(machine.dcb.hardware[26], 4);
  EXPECT_EQ(machine.dcb.hardware[48], 7);
  EXPECT_EQ(machine.dcb.hardware[27], 3);
  EXPECT_TRUE(machine.dcb.trusts_dscp);
  EXPECT_EQ(machine.dcb.apps.size(), 64U);
}

TEST(QosDscpMapTest, ADriverThatAddsHasOneEntryADscpAfterwards) {
  Subject map("qos.dscp_map");
  Mlx5Machine machine;
  machine.dcb.adds_entries = true;
  ASSERT_TRUE(map.Apply(machine, "default").ok());
  ASSERT_EQ(machine.dcb.SetApp({DcbApp::kDscp, 26, 5}), 0);
  machine.Show();
  map.Wish("26:4");
  EXPECT_TRUE(map.See(machine).value.starts_with("only 0:0,")) << "26 stands there twice";
  EXPECT_FALSE(map.Satisfied(machine));
  ASSERT_TRUE(map.Apply(machine, map.target.wish).ok());
  EXPECT_TRUE(map.Satisfied(machine));
}

TEST(QosDscpMapTest, EntriesForOtherThingsStay) {
  Subject map("qos.dscp_map");
  Mlx5Machine machine;
  machine.dcb.adds_entries = true;
  ASSERT_EQ(machine.dcb.SetApp({DcbApp::kDgram, 4791, 3}), 0);
  machine.Show();
  ASSERT_TRUE(map.Apply(machine, "default").ok());
  EXPECT_NE(machine.Value(kApp).find("dgram 4791 prio 3"), std::string::npos);
  ASSERT_TRUE(map.Apply(machine, "").ok());
  EXPECT_EQ(machine.Value(kApp), "dgram 4791 prio 3");
}

TEST(QosDscpMapTest, AnOriginalWithoutEntriesIsPutBack) {
  Subject map("qos.dscp_map");
  Mlx5Machine machine;
  ASSERT_TRUE(map.Apply(machine, "26:4").ok());
  ASSERT_TRUE(map.Apply(machine, "").ok());
  EXPECT_EQ(map.See(machine).kind, Observation::Kind::kAbsent);
  EXPECT_FALSE(machine.dcb.trusts_dscp);
}

TEST(QosDscpMapTest, APartialOriginalIsPutBackWithoutSendingTheOthersToPriorityZero) {
  Subject map("qos.dscp_map");
  Mlx5Machine machine;
  List(machine, {{26, 4}, {48, 6}});
  const auto hardware = machine.dcb.hardware;
  const std::string original = map.See(machine).value;
  EXPECT_EQ(original, "only 26:4,48:6");
  ASSERT_TRUE(map.Apply(machine, "26:5,48:7").ok());
  ASSERT_TRUE(map.Apply(machine, original).ok());
  EXPECT_EQ(machine.dcb.hardware, hardware) << "the card does what it did";
  map.target.wish = original;
  EXPECT_TRUE(map.Satisfied(machine));
}

TEST(QosDscpMapTest, AFirmwareThatRefusesOneIsAnErrorInThePayload) {
  Subject map("qos.dscp_map");
  Mlx5Machine machine;
  machine.dcb.refused_dscp = 26;
  map.Wish("26:4");
  const Status applied = map.Apply(machine, map.target.wish);
  EXPECT_EQ(applied.error_number(), EIO);
  EXPECT_NE(applied.message().find("answered in the payload"), std::string::npos);
  EXPECT_FALSE(map.Satisfied(machine));
  EXPECT_FALSE(machine.dcb.trusts_dscp) << "although 26 DSCPs are listed";
  EXPECT_NE(applied.message().find("may now trust PCP"), std::string::npos) << applied.message();
  const Subject trust("qos.trust");
  machine.dcb.refused_dscp = -1;
  ASSERT_TRUE(trust.Apply(machine, "pcp").ok());
  ASSERT_TRUE(trust.Apply(machine, "dscp").ok());
  EXPECT_TRUE(machine.dcb.trusts_dscp) << "the way out that the message names";
}

TEST(QosDscpMapTest, AnyChangeIsABlip) {
  const Subject map("qos.dscp_map");
  EXPECT_EQ(map.setting->DisruptionOf(map.target, "default", "26:4"), Disruption::kTrafficBlip);
  EXPECT_EQ(map.setting->DisruptionOf(map.target, "", "default"), Disruption::kTrafficBlip);
  EXPECT_EQ(map.setting->DisruptionOf(map.target, "default", "default"), Disruption::kNone);
}

}  // namespace
}  // namespace railwright
