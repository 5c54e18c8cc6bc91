#include <cerrno>

#include "core/decode/nccl_conf.h"
#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kConf = "/file/etc/nccl.conf";

TEST(NcclTest, ValuesAreCheckedWhereNcclDocumentsARange) {
  const Subject tc("nccl.NCCL_IB_TC");
  EXPECT_EQ(tc.Said(" 106 "), "106");
  EXPECT_EQ(tc.Said("256"), "NCCL_IB_TC: \"256\" is too large; allowed: 0…255");
  const Subject hca("nccl.NCCL_IB_HCA");
  EXPECT_EQ(hca.Said("=mlx5_0:1,mlx5_1:1"), "=mlx5_0:1,mlx5_1:1");
  EXPECT_FALSE(hca.Canonical("a\nNCCL_DEBUG=TRACE").ok());
  EXPECT_FALSE(hca.Canonical("").ok());
  EXPECT_FALSE(hca.Canonical(std::string(1024, 'x')).ok());
  EXPECT_TRUE(hca.Canonical(std::string(1023, 'x')).ok());
  EXPECT_FALSE(Subject("nccl.NCCL_DEBUG").Canonical("DEBUG").ok());
}

TEST(NcclTest, OnlyNcclVariablesAreKeys) {
  for (const char* bad :
       {"LD_PRELOAD", "NCCL_", "nccl_ib_tc", "NCCL_IB TC", "NCCL_A=B", "NCCL_A\nB", "XNCCL_A"})
    EXPECT_FALSE(IsNcclName(bad)) << bad;
  const Subject preload("nccl.LD_PRELOAD");
  FakeMachine machine;
  EXPECT_FALSE(preload.Canonical("/tmp/x.so").ok());
  EXPECT_FALSE(preload.setting->Observe(machine, preload.target).ok());
  EXPECT_FALSE(preload.Apply(machine, "/tmp/x.so").ok());
}

TEST(NcclTest, OtherLinesCommentsOrderAndLineEndsAreKept) {
  const std::string before =
      "# site\r\nNCCL_DEBUG=WARN\r\n\r\nNCCL_IB_TC=0\nNCCL_SOCKET_IFNAME==bond0\r\n#end";
  Subject tc("nccl.NCCL_IB_TC");
  FakeMachine machine;
  machine.Put(kConf, before);
  ASSERT_TRUE(tc.Apply(machine, "106").ok());
  EXPECT_EQ(machine.Value(kConf),
            "# site\r\nNCCL_DEBUG=WARN\r\n\r\nNCCL_IB_TC=106\nNCCL_SOCKET_IFNAME==bond0\r\n#end");
  ASSERT_TRUE(tc.Apply(machine, "0").ok());
  EXPECT_EQ(machine.Value(kConf), before) << "and back";
}

TEST(NcclTest, ANewVariableGoesToTheEndAndItsRemovalLeavesNothing) {
  Subject tc("nccl.NCCL_IB_TC");
  FakeMachine machine;
  machine.Put(kConf, "NCCL_DEBUG=WARN\n");
  EXPECT_EQ(tc.See(machine).kind, Observation::Kind::kAbsent);
  ASSERT_TRUE(tc.Apply(machine, "106").ok());
  EXPECT_EQ(machine.Value(kConf), "NCCL_DEBUG=WARN\nNCCL_IB_TC=106\n");
  ASSERT_TRUE(tc.Apply(machine, "").ok());
  EXPECT_EQ(machine.Value(kConf), "NCCL_DEBUG=WARN\n");
}

TEST(NcclTest, TheFileIsMadeAndRemovedWithItsOnlyVariable) {
  Subject tc("nccl.NCCL_IB_TC");
  FakeMachine machine;
  EXPECT_EQ(tc.See(machine).kind, Observation::Kind::kAbsent);
  ASSERT_TRUE(tc.Apply(machine, "106").ok());
  EXPECT_EQ(machine.Value(kConf), "NCCL_IB_TC=106\n");
  ASSERT_TRUE(tc.Apply(machine, "").ok());
  EXPECT_FALSE(machine.Exists(kConf));
}

TEST(NcclTest, ALastLineWithoutLineBreakIsNotGluedTo) {
  FakeMachine machine;
  machine.Put(kConf, "NCCL_DEBUG=WARN");
  ASSERT_TRUE(Subject("nccl.NCCL_IB_TC").Apply(machine, "106").ok());
  EXPECT_EQ(machine.Value(kConf), "NCCL_DEBUG=WARN\nNCCL_IB_TC=106\n");
}

TEST(NcclTest, TheFirstOfSeveralLinesCountsAndOneIsKept) {
  Subject tc("nccl.NCCL_IB_TC");
  FakeMachine machine;
  machine.Put(kConf, "NCCL_IB_TC=1\n#x\nNCCL_IB_TC=2\nNCCL_IB_TC=3\n");
  const Observation observed = tc.See(machine);
  EXPECT_EQ(observed.value, "1");
  EXPECT_NE(observed.message.find("takes line 1 and ignores lines 3, 4"), std::string::npos)
      << observed.message;
  ASSERT_TRUE(tc.Apply(machine, "106").ok());
  EXPECT_EQ(machine.Value(kConf), "NCCL_IB_TC=106\n#x\n");
}

TEST(NcclTest, LinesThatNcclDoesNotReadDoNotCount) {
  Subject tc("nccl.NCCL_IB_TC");
  FakeMachine machine;
  machine.Put(kConf,
              "#NCCL_IB_TC=106\nNCCL_IB_TC = 106\n NCCL_IB_TC=106\nexport NCCL_IB_TC=106\nNCCL_IB_TC\n");
  const Observation observed = tc.See(machine);
  EXPECT_EQ(observed.kind, Observation::Kind::kAbsent);
  EXPECT_NE(observed.message.find("lines 2, 3"), std::string::npos) << observed.message;
}

TEST(NcclTest, ACarriageReturnIsPartOfTheValueAsItIsForNccl) {
  Subject name("nccl.NCCL_SOCKET_IFNAME");
  FakeMachine machine;
  machine.Put(kConf, "NCCL_SOCKET_IFNAME=rail0\r\n");
  name.Wish("rail0");
  EXPECT_FALSE(name.Satisfied(machine)) << "NCCL would look for an interface named rail0<CR>";
  EXPECT_NE(name.See(machine).message.find("CR at the end"), std::string::npos);
  ASSERT_TRUE(name.Apply(machine, "rail0").ok());
  EXPECT_TRUE(name.Satisfied(machine));
}

TEST(NcclTest, AnUnreadableFileIsAnErrorAndIsNotOverwritten) {
  Subject tc("nccl.NCCL_IB_TC");
  FakeMachine machine;
  machine.Put(kConf, "NCCL_DEBUG=WARN\n");
  machine.FailReads(kConf, FromErrno(EIO, "/etc/nccl.conf"));
  EXPECT_FALSE(tc.setting->Observe(machine, tc.target).ok());
  EXPECT_FALSE(tc.Apply(machine, "106").ok());
  EXPECT_TRUE(machine.Writes().empty());
}

}  // namespace
}  // namespace railwright
