// qos.ets and qos.buffer over a port that behaves as mlx5 does.
#include <cerrno>

#include "tests/settings/subject.h"
#include "tests/support/mlx5_machine.h"

namespace railwright {
namespace {

constexpr const char* kFactory =
    "prio_tc=1,0,2,3,4,5,6,7 tsa=vendor,vendor,vendor,vendor,vendor,vendor,vendor,vendor bw=0,0,0,0,0,0,0,0";
constexpr const char* kRoce =
    "prio_tc=0,0,0,3,0,0,6,0 tsa=ets,strict,strict,ets,strict,strict,strict,strict bw=50,0,0,50,0,0,0,0";

TEST(QosEtsTest, GroupsAreShortForClasses) {
  const Subject ets("qos.ets");
  EXPECT_EQ(ets.Said("3:50,6:strict,rest:50"), kRoce);
  EXPECT_EQ(ets.Said("rest:50 6:strict 3:50"), kRoce);
  EXPECT_EQ(ets.Said("0+1+2+4+5+7:50,3:50,6:strict"), kRoce);
  EXPECT_EQ(ets.Said(kRoce), kRoce);
  EXPECT_EQ(ets.Said("rest:strict"),
            "prio_tc=0,0,0,0,0,0,0,0 tsa=strict,strict,strict,strict,strict,strict,strict,strict "
            "bw=0,0,0,0,0,0,0,0");
}

TEST(QosEtsTest, WhatTheDriverWouldRefuseIsRefusedBefore) {
  const Subject ets("qos.ets");
  for (const auto& [bad, why] :
       {std::pair("3:50,rest:40", "gives its ets classes 90 %, not 100"),
        std::pair("3:50", "does not name priority 0"),
        std::pair("3:50,3:50,rest:0", "names priority 3 twice"),
        std::pair("8:50,rest:50", "\"8\" where a priority 0…7 belongs"),
        std::pair("3:wfq,rest:100", "\"wfq\" where 0…100 or strict belongs"),
        std::pair("rest:50,rest:50", "names rest twice"),
        std::pair("0+1+2+3+4+5+6+7:50,rest:50", "leaves no priority for rest"), std::pair("", "is empty"),
        std::pair("prio_tc=0,0,0,0,0,0,0,0", "lacks tsa")})
    EXPECT_NE(ets.Said(bad).find(why), std::string::npos) << bad << ": " << ets.Said(bad);
  const std::string eight = "0,0,0,0,0,0,0,";
  const std::string tsa = "ets,ets,ets,ets,ets,ets,ets,";
  for (const std::string& bad :
       {"prio_tc=" + eight + "8 tsa=" + tsa + "ets bw=100," + eight + "0",
        "prio_tc=" + eight + "0 tsa=" + tsa + "cb_shaper bw=100,0,0,0,0,0,0,0",
        "prio_tc=" + eight + "0 tsa=" + tsa + "ets bw=100,0,0,0,0,0,0", "cap=8 " + std::string(kRoce)})
    EXPECT_FALSE(ets.Canonical(bad).ok()) << bad;
}

TEST(QosEtsTest, ItIsWrittenInOneMessageAndTheFactoryStateComesBack) {
  Subject ets("qos.ets");
  Mlx5Machine machine;
  const std::string original = ets.See(machine).value;
  EXPECT_EQ(original, kFactory);
  ets.Wish("3:50,6:strict,rest:50");
  ASSERT_TRUE(ets.Apply(machine, ets.target.wish).ok());
  EXPECT_TRUE(ets.Satisfied(machine));
  EXPECT_EQ(machine.dcb_writes.size(), 1U);
  ASSERT_TRUE(ets.Apply(machine, original).ok());
  EXPECT_EQ(ets.See(machine).value, original);
  EXPECT_EQ(ets.setting->DisruptionOf(ets.target, kFactory, kRoce), Disruption::kTrafficBlip);
}

TEST(QosEtsTest, TheBandwidthOfAClassThatDoesNotShareCountsForNothing) {
  Subject ets("qos.ets");
  Mlx5Machine machine;
  ets.Wish("3:50,6:strict,rest:50");
  ASSERT_TRUE(ets.Apply(machine, ets.target.wish).ok());
  machine.dcb.ets.tx_bandwidth[6] = 100;  // as MLNX_OFED reports it
  machine.Show();
  EXPECT_TRUE(ets.Satisfied(machine));
  machine.dcb.ets.tx_bandwidth[3] = 40;
  machine.Show();
  EXPECT_FALSE(ets.Satisfied(machine));
}

TEST(QosEtsTest, ARefusalOfTheDriverKeepsItsErrno) {
  const Subject ets("qos.ets");
  Mlx5Machine machine;
  const Status applied =
      ets.Apply(machine,
                "prio_tc=0,0,0,0,0,0,0,0 tsa=ets,vendor,vendor,vendor,vendor,vendor,vendor,vendor "
                "bw=90,0,0,0,0,0,0,0");
  EXPECT_EQ(applied.error_number(), EINVAL);
  EXPECT_NE(applied.message().find("answered in the payload"), std::string::npos);
  EXPECT_EQ(ets.See(machine).value, kFactory);
}

TEST(QosBufferTest, WhatIsNotNamedStays) {
  Subject buffer("qos.buffer");
  Mlx5Machine machine;
  EXPECT_EQ(buffer.See(machine).value, "prio_buffer=0,0,0,0,0,0,0,0 size=20016,156096,0,0,0,0,0,0");
  buffer.Wish("prio_buffer=0,0,0,1,0,0,0,0");
  EXPECT_FALSE(buffer.Satisfied(machine));
  ASSERT_TRUE(buffer.Apply(machine, buffer.target.wish).ok());
  EXPECT_TRUE(buffer.Satisfied(machine));
  EXPECT_EQ(machine.dcb.buffer.size[1], 156096U);
}

TEST(QosBufferTest, ASizeRoundedDownToTheCellFulfilsTheWish) {
  Subject buffer("qos.buffer");
  Mlx5Machine machine;
  buffer.Wish("size=20016,262144,0,0,0,0,0,0");
  ASSERT_TRUE(buffer.Apply(machine, buffer.target.wish).ok());
  EXPECT_EQ(machine.dcb.buffer.size[1], 262080U);
  EXPECT_TRUE(buffer.Satisfied(machine));
  machine.dcb.buffer.size[1] = 262144 - 1024;
  machine.Show();
  EXPECT_FALSE(buffer.Satisfied(machine));
  machine.dcb.buffer.size[1] = 262145;
  machine.Show();
  EXPECT_FALSE(buffer.Satisfied(machine));
}

TEST(QosBufferTest, BuffersThatAreRightAreNotTakenFromTheFirmware) {
  Subject buffer("qos.buffer");
  Mlx5Machine machine;
  ASSERT_TRUE(buffer.Apply(machine, buffer.See(machine).value).ok());
  EXPECT_TRUE(machine.dcb_writes.empty());
}

TEST(QosBufferTest, MoreThanThereIsIsRefusedWithTheNumber) {
  const Subject buffer("qos.buffer");
  Mlx5Machine machine;
  const Status applied = buffer.Apply(machine, "size=1000000,1000000,0,0,0,0,0,0");
  EXPECT_EQ(applied.code(), Code::kInvalidArgument);
  EXPECT_NE(applied.message().find("has 1027728 bytes of buffer, not 2000000"), std::string::npos);
  EXPECT_TRUE(machine.dcb_writes.empty());
}

TEST(QosBufferTest, HeadroomThatDoesNotFitIsAnErrorInThePayload) {
  const Subject buffer("qos.buffer");
  Mlx5Machine machine;
  machine.dcb.pfc.enabled = 0x08;
  machine.Show();
  const Status applied = buffer.Apply(machine, "prio_buffer=0,0,0,2,0,0,0,0");
  EXPECT_EQ(applied.error_number(), ENOMEM);
  EXPECT_NE(applied.message().find("answered in the payload"), std::string::npos);
}

TEST(QosBufferTest, OnlyTheTwoFieldsAreTaken) {
  const Subject buffer("qos.buffer");
  for (const char* bad : {"", "size=1", "total=5", "prio_buffer=0,0,0,8,0,0,0,0", "size=0,0,0,0,0,0,0,x",
                          "size=0,0,0,0,0,0,0,4294967296"})
    EXPECT_FALSE(buffer.Canonical(bad).ok()) << bad;
  EXPECT_EQ(buffer.Said("size=1,0,0,0,0,0,0,0 prio_buffer=0,0,0,1,0,0,0,0"),
            "prio_buffer=0,0,0,1,0,0,0,0 size=1,0,0,0,0,0,0,0");
}

}  // namespace
}  // namespace railwright
