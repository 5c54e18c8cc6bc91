#include <cerrno>

#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

struct Host : FakeMachine {
  explicit Host(const std::string& mtu = "1500", const std::string& limits = "min_mtu=68 max_mtu=9978") {
    Put("/rtnl/link/rail0", "ifindex=4 mtu=" + mtu + " " + limits + " state=up carrier=1");
    Put("/rtnl/link/rail0/mtu", mtu);
  }
};

TEST(LinkMtuTest, ANumberHasOneSpelling) {
  const Subject mtu("link.mtu");
  EXPECT_EQ(mtu.Said(" 4200 "), "4200");
  EXPECT_EQ(mtu.Said("max"), "max");
  EXPECT_EQ(mtu.Said("68"), "68");
  EXPECT_EQ(mtu.Said("65535"), "65535");
}

TEST(LinkMtuTest, ARefusalNamesTheValueAndWhatIsAllowed) {
  const Subject mtu("link.mtu");
  EXPECT_EQ(mtu.Said("67"), "\"67\" is too small; allowed: 68…65535 bytes, or max");
  EXPECT_EQ(mtu.Said("65536"), "\"65536\" is too large; allowed: 68…65535 bytes, or max");
  for (const char* bad : {"", "jumbo", "0x1000", "-1", "+9000", "09000", "9000 bytes", "9k",
                          "99999999999999999999", "1500\n1500", "MAX"})
    EXPECT_FALSE(mtu.Canonical(bad).ok()) << bad;
}

TEST(LinkMtuTest, ItReadsWhatItWrites) {
  Subject mtu("link.mtu");
  Host machine;
  mtu.Wish("4200");
  EXPECT_FALSE(mtu.Satisfied(machine));
  ASSERT_TRUE(mtu.Apply(machine, "4200").ok());
  EXPECT_EQ(mtu.See(machine).value, "4200");
  EXPECT_TRUE(mtu.Satisfied(machine));
}

TEST(LinkMtuTest, TheRefusalOfADeviceNamesItsLimits) {
  const Subject mtu("link.mtu");
  Host machine;
  const Status refused = mtu.Apply(machine, "9999");
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.message().find("rail0 takes an MTU of 68…9978 bytes, not 9999"), std::string::npos)
      << refused.message();
  EXPECT_TRUE(machine.Writes().empty());
}

TEST(LinkMtuTest, MaxIsTheGreatestThatTheDeviceTakes) {
  Subject mtu("link.mtu");
  Host machine;
  mtu.Wish("max");
  EXPECT_FALSE(mtu.Satisfied(machine));
  ASSERT_TRUE(mtu.Apply(machine, "max").ok());
  EXPECT_EQ(machine.Value("/rtnl/link/rail0/mtu"), "9978");
  EXPECT_TRUE(mtu.Satisfied(machine));
}

TEST(LinkMtuTest, MaxIsNeverSatisfiedByADriverThatNamesNoMaximum) {
  Subject mtu("link.mtu");
  Host machine("1500", "min_mtu=0 max_mtu=0");
  mtu.Wish("max");
  EXPECT_FALSE(mtu.Satisfied(machine));
  EXPECT_EQ(mtu.Apply(machine, "max").code(), Code::kUnimplemented);
  EXPECT_TRUE(mtu.Apply(machine, "4200").ok()) << "a number still may be tried";
}

TEST(LinkMtuTest, AnUnreadableLimitLeavesTheDecisionToTheKernel) {
  const Subject mtu("link.mtu");
  Host machine;
  machine.FailReads("/rtnl/link/rail0", FromErrno(EIO, "/rtnl/link/rail0"));
  EXPECT_TRUE(mtu.Apply(machine, "9999").ok());
}

TEST(LinkMtuTest, AMissingInterfaceIsAnErrorNotAValue) {
  const Subject mtu("link.mtu");
  FakeMachine machine;
  EXPECT_EQ(mtu.setting->Observe(machine, mtu.target).status().code(), Code::kNotFound);
}

TEST(LinkMtuTest, ScanningOneNumberReadsOnePath) {
  Subject mtu("link.mtu");
  Host machine;
  mtu.Wish("1500");
  mtu.See(machine);
  EXPECT_EQ(machine.Reads(), std::vector<std::string>{"/rtnl/link/rail0/mtu"});
}

}  // namespace
}  // namespace railwright
