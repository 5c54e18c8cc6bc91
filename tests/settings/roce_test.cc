// roce.mode and roce.tos: what rdma_cm gives to new connections.
#include <cerrno>

#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kPort = "/sys/kernel/config/rdma_cm/mlx5_0/ports/1";

struct Host : FakeMachine {
  explicit Host(const std::string& mode = "RoCE v2", const std::string& tos = "0") {
    Put(std::string(kPort) + "/default_roce_mode", mode).Put(std::string(kPort) + "/default_roce_tos", tos);
    PutList("/sys/module/rdma_cm", {});
  }
};

TEST(RoceModeTest, BothSpellingsAreUnderstoodAndTheKernelsIsWritten) {
  Subject mode("roce.mode");
  EXPECT_EQ(mode.Said("v2"), "v2");
  EXPECT_EQ(mode.Said("RoCE v2"), "v2");
  EXPECT_EQ(mode.Said("IB/RoCE v1"), "v1");
  EXPECT_EQ(mode.Said("2"), "\"2\"; allowed: v1, v2");
  Host machine("IB/RoCE v1");
  EXPECT_EQ(mode.See(machine).value, "v1");
  ASSERT_TRUE(mode.Apply(machine, "v2").ok());
  EXPECT_EQ(machine.Value(std::string(kPort) + "/default_roce_mode"), "RoCE v2");
  EXPECT_EQ(mode.See(machine).value, "v2");
}

TEST(RoceTosTest, HexadecimalIsUnderstood) {
  Subject tos("roce.tos");
  EXPECT_EQ(tos.Said("0x6a"), "106");
  EXPECT_EQ(tos.Said("0XFF"), "255");
  EXPECT_EQ(tos.Said("106"), "106");
  for (const char* bad : {"", "256", "0x100", "0x", "0x6g", "-1", "ef", "0106"})
    EXPECT_FALSE(tos.Canonical(bad).ok()) << bad;
  Host machine;
  EXPECT_EQ(tos.See(machine).value, "0");
  ASSERT_TRUE(tos.Apply(machine, "106").ok());
  EXPECT_EQ(tos.See(machine).value, "106");
}

TEST(RoceModeTest, EveryReasonWhyItDoesNotApply) {
  Subject mode("roce.mode");
  Host machine;
  mode.facts.ports.front().ibdev.clear();
  EXPECT_EQ(mode.See(machine).reason, "NoRdmaDevice");
  machine.FailReads("/sys/class/infiniband", FromErrno(EACCES, "/sys/class/infiniband"));
  EXPECT_FALSE(mode.setting->Observe(machine, mode.target).ok()) << "nobody could look";
  machine.FailReads("/sys/class/infiniband", Ok());
  mode.facts.ports.front().ibdev = "mlx5_0";
  machine.Remove("/sys/kernel/config");
  EXPECT_EQ(mode.See(machine).reason, "NoConfigfs");
  EXPECT_EQ(mode.Apply(machine, "v2").code(), Code::kFailedPrecondition);
  machine.Remove("/sys/module/rdma_cm");
  EXPECT_EQ(mode.See(machine).reason, "RdmaCmNotLoaded");
  machine.FailReads("/sys/module/rdma_cm", FromErrno(EACCES, "x"));
  EXPECT_FALSE(mode.setting->Observe(machine, mode.target).ok());
}

TEST(RoceModeTest, ADeviceWithoutADirectoryIsAnErrorNotAValue) {
  Subject mode("roce.mode");
  FakeMachine machine;
  machine.PutList("/sys/kernel/config/rdma_cm", {});
  const auto none = mode.setting->Observe(machine, mode.target);
  EXPECT_EQ(none.status().code(), Code::kNotFound);
  EXPECT_NE(none.status().message().find("mkdir /sys/kernel/config/rdma_cm/mlx5_0"), std::string::npos);
  machine.Put(std::string(kPort) + "/default_roce_mode", "InfiniBand");
  EXPECT_FALSE(mode.setting->Observe(machine, mode.target).ok());
}

TEST(RoceModeTest, ATwoPortDeviceIsReadAtThePortOfItsInterface) {
  Subject mode("roce.mode");
  Host machine;
  machine.Put("/sys/kernel/config/rdma_cm/mlx5_0/ports/2/default_roce_mode", "IB/RoCE v1");
  machine.Put("/sys/class/net/rail0/dev_port", "1");
  EXPECT_EQ(mode.See(machine).value, "v1");
  machine.Put("/sys/class/net/rail0/dev_port", "0");
  EXPECT_EQ(mode.See(machine).value, "v2");
}

TEST(RoceModeTest, DirectoriesAreMadeOnceAndNamedForRemoval) {
  const Subject mode("roce.mode");
  FakeMachine machine;
  machine.PutList("/sys/class/infiniband", {"mlx5_0", "mlx5_1", "siw0"});
  machine.PutList("/sys/kernel/config/rdma_cm", {"mlx5_1"});
  machine.FailWrites("/sys/kernel/config/rdma_cm/siw0", FromErrno(ENODEV, "siw0"));
  const auto made = mode.setting->Prepare(machine);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(*made, std::vector<std::string>{"/sys/kernel/config/rdma_cm/mlx5_0"})
      << "the one that was there is not ours to remove";
  EXPECT_EQ(machine.Value("/sys/kernel/config/rdma_cm/mlx5_0"), "directory");
  machine.ClearLog();
  FakeMachine bare;
  EXPECT_TRUE(mode.setting->Prepare(bare)->empty());
  EXPECT_TRUE(bare.Writes().empty());
}

}  // namespace
}  // namespace railwright
