#include <cerrno>

#include "tests/settings/subject.h"
#include "tests/support/mlx5_machine.h"

namespace railwright {
namespace {

TEST(QosPfcTest, PrioritiesAreAListInOrder) {
  const Subject pfc("qos.pfc");
  EXPECT_EQ(pfc.Said("3"), "3");
  EXPECT_EQ(pfc.Said("5,3"), "3,5") << "a YAML list arrives joined by commas";
  EXPECT_EQ(pfc.Said(" 5 3 "), "3,5");
  EXPECT_EQ(pfc.Said("none"), "none");
  for (const char* bad : {"", "8", "-1", "03", "3,3", "none,3", "0x08", "3-5"})
    EXPECT_FALSE(pfc.Canonical(bad).ok()) << bad;
  EXPECT_NE(pfc.Said("8").find("allowed: none, or priorities 0…7"), std::string::npos) << pfc.Said("8");
}

TEST(QosPfcTest, AMaskIsWrittenAndReadBack) {
  Subject pfc("qos.pfc");
  Mlx5Machine machine;
  pfc.Wish("3");
  EXPECT_FALSE(pfc.Satisfied(machine));
  ASSERT_TRUE(pfc.Apply(machine, "3").ok());
  EXPECT_TRUE(pfc.Satisfied(machine));
  EXPECT_EQ(machine.dcb_writes, std::vector<std::string>{"pfc: enabled=3"});
  EXPECT_EQ(machine.dcb.pfc.delay, 7) << "what is not named stays";
  EXPECT_EQ(machine.dcb.link_flaps, 1);
  ASSERT_TRUE(pfc.Apply(machine, "none").ok());
  EXPECT_EQ(pfc.See(machine).value, "none");
}

TEST(QosPfcTest, AnUnchangedMaskIsNotWritten) {
  const Subject pfc("qos.pfc");
  Mlx5Machine machine;
  machine.dcb.pfc.enabled = 0x08;
  machine.Show();
  ASSERT_TRUE(pfc.Apply(machine, "3").ok());
  EXPECT_TRUE(machine.dcb_writes.empty());
  EXPECT_EQ(machine.dcb.link_flaps, 0);
}

TEST(QosPfcTest, OnlyAnotherMaskTakesTheLinkDown) {
  const Subject pfc("qos.pfc");
  EXPECT_EQ(pfc.setting->DisruptionOf(pfc.target, "none", "3"), Disruption::kLinkFlap);
  EXPECT_EQ(pfc.setting->DisruptionOf(pfc.target, "3", "none"), Disruption::kLinkFlap);
  EXPECT_EQ(pfc.setting->DisruptionOf(pfc.target, "3", "3"), Disruption::kNone);
}

TEST(QosPfcTest, AnErrorAlthoughTheMaskChangedIsSeenByReadingBack) {
  Subject pfc("qos.pfc");
  Mlx5Machine machine;
  machine.dcb.pfc_error = -ENOMEM;
  pfc.Wish("3");
  const Status applied = pfc.Apply(machine, "3");
  EXPECT_EQ(applied.error_number(), ENOMEM);
  EXPECT_TRUE(pfc.Satisfied(machine)) << "what is read back decides";
  EXPECT_TRUE(pfc.Apply(machine, "3").ok()) << "and is not written again";
  EXPECT_EQ(machine.dcb.link_flaps, 1);
}

TEST(QosPfcTest, MoreThanTheCardTakesIsRefusedBeforeItIsWritten) {
  const Subject pfc("qos.pfc");
  Mlx5Machine machine;
  machine.dcb.pfc.capacity = 2;
  machine.Show();
  const Status applied = pfc.Apply(machine, "1,3,5");
  EXPECT_EQ(applied.code(), Code::kInvalidArgument);
  EXPECT_NE(applied.message().find("takes PFC on 2 priorities at once"), std::string::npos);
  EXPECT_TRUE(machine.dcb_writes.empty());
}

TEST(QosPfcTest, AFailedReadIsAnErrorAndNothingIsWritten) {
  const Subject pfc("qos.pfc");
  Mlx5Machine machine;
  machine.FailReads("/dcb/rail0/pfc", FromErrno(EIO, "/dcb/rail0/pfc"));
  EXPECT_FALSE(pfc.setting->Observe(machine, pfc.target).ok());
  EXPECT_FALSE(pfc.Apply(machine, "3").ok());
  EXPECT_TRUE(machine.dcb_writes.empty());
}

}  // namespace
}  // namespace railwright
