// What must be there before a setting can be looked at, removed behind the agent's back or there too late:
// the real roce.mode and roce.tos over a fake rdma_cm that keeps its values itself, as the kernel's does.
#include "tests/reconcile/node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

constexpr const char* kGroup = "/sys/kernel/config/rdma_cm";
constexpr const char* kDirectory = "/sys/kernel/config/rdma_cm/mlx5_0";
constexpr const char* kTos = "/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos";
constexpr const char* kMode = "/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode";

class PrepareTest : public testing::Test {
 protected:
  PrepareTest() {
    node.catalog = MakeCatalog();
    node.machine.on_set = [this](const std::string& path, const std::string& value) {
      if (path == kDirectory && value == "directory") {
        node.machine.Put(kTos, tos).Put(kMode, mode);
      } else if (path == kDirectory) {
        node.machine.Remove(kDirectory);
      } else if (path == kTos) {
        tos = value;
      } else if (path == kMode) {
        mode = value;
      } else if (path == "/kmod/rdma_cm") {
        LoadRdmaCm();
      }
    };
  }
  void LoadRdmaCm() {
    node.machine.PutList("/sys/module/rdma_cm", {"refcnt"});
    node.machine.PutList(kGroup, {});
  }
  void AddDevice() { node.machine.Put("/sys/class/infiniband/mlx5_0/parent", "rail0"); }
  /// rdma_cm is loaded, the device is there, and the state is fulfilled.
  void Fulfilled() {
    LoadRdmaCm();
    AddDevice();
    node.Apply(Wants());
    ASSERT_EQ(node.agent->Report().verdict, Verdict::kCompliant) << node.Of("roce.tos", "rail0").message;
    ASSERT_EQ(tos, "106");
    node.agent->TakeChanges();
    node.machine.ClearLog();
  }
  static DesiredState Wants() {
    return Node::State(1).Enforce("roce.mode", "rail0", "v2").Enforce("roce.tos", "rail0", "106");
  }
  /// With a wish whose read says NotFound whatever is prepared.
  void WithWhatIsNeverThere(DesiredState& state) {
    SettingSpec spec = state.settings.back();
    spec.key = "link.mtu";
    spec.target = "rail1";
    spec.value = "4200";
    state.settings.push_back(spec);
    node.machine.FailReads("/rtnl/link/rail1/mtu", FromErrno(ENODEV, "/rtnl/link/rail1/mtu"));
  }
  /// Directories that were asked for, made or not.
  std::size_t Asked() const {
    std::size_t asked = 0;
    for (const auto& [path, value] : node.machine.Writes())
      if (path == kDirectory && value == "directory") ++asked;
    return asked;
  }

  Node node;
  std::string tos = "0", mode = "RoCE v2";  // of the device, in rdma_cm
};

TEST_F(PrepareTest, ADirectoryThatSomebodyRemovedIsMadeAgainWithinAScanAndItsValueIsThere) {
  Fulfilled();
  node.machine.Remove(kDirectory);
  node.Pass(70s);
  EXPECT_TRUE(node.machine.Exists(kDirectory));
  EXPECT_EQ(node.Of("roce.mode", "rail0").verdict, Verdict::kCompliant);
  EXPECT_EQ(node.Of("roce.tos", "rail0").verdict, Verdict::kCompliant);
  EXPECT_TRUE(node.Changes(ChangeKind::kDrift).empty()) << "no value was another one";
  EXPECT_TRUE(node.Changes(ChangeKind::kCorrective).empty());
  EXPECT_EQ(node.journal.Prepared(), Lines{kDirectory});
  EXPECT_TRUE(node.agent->Stop().ok());
  EXPECT_FALSE(node.machine.Exists(kDirectory));
}

TEST_F(PrepareTest, AValueThatWasChangedBeforeIsSeenAndPutRightInTheSamePass) {
  Fulfilled();
  tos = "0";
  node.machine.Remove(kDirectory);
  node.agent->Refresh();
  node.agent->Tick();
  EXPECT_EQ(tos, "106");
  EXPECT_EQ(node.Of("roce.tos", "rail0").verdict, Verdict::kCompliant);
  EXPECT_EQ(node.Changes(ChangeKind::kDrift), Lines{"roce.tos rail0 106→0"});
  EXPECT_EQ(node.Changes(ChangeKind::kCorrective), Lines{"roce.tos rail0 0→106"});
}

TEST_F(PrepareTest, ADeviceThatAppearsLaterGetsItsDirectoryAtOnce) {
  LoadRdmaCm();
  DesiredState state = Wants();
  WithWhatIsNeverThere(state);
  node.Apply(state);
  ASSERT_EQ(node.Of("link.mtu", "rail1").reason, "ReadFailed");
  EXPECT_EQ(node.Of("roce.tos", "rail0").verdict, Verdict::kNotApplicable);
  EXPECT_TRUE(node.journal.Prepared().empty());
  AddDevice();
  node.Hint("/sys/class/infiniband");
  node.Settle();
  EXPECT_EQ(node.Of("roce.tos", "rail0").verdict, Verdict::kCompliant)
      << node.Of("roce.tos", "rail0").message;
  EXPECT_EQ(tos, "106");
  EXPECT_EQ(node.journal.Prepared(), Lines{kDirectory});
  EXPECT_TRUE(node.agent->Stop().ok());
  EXPECT_FALSE(node.machine.Exists(kDirectory));
}

TEST_F(PrepareTest, AModuleThatAPassLoadsIsPreparedBeforeTheStateIsCalledSettled) {
  AddDevice();
  node.machine.Put("/kmod/rdma_cm", "absent").Put("/proc/modules", "");
  DesiredState state =
      Node::State(1).Enforce("module.rdma_cm", "", "loaded").Enforce("roce.tos", "rail0", "106");
  WithWhatIsNeverThere(state);
  node.Apply(state);
  EXPECT_EQ(node.Of("module.rdma_cm").verdict, Verdict::kCompliant);
  EXPECT_EQ(node.Of("roce.tos", "rail0").verdict, Verdict::kCompliant)
      << node.Of("roce.tos", "rail0").message;
  EXPECT_EQ(node.clock.Now(), SimClock().Now()) << "without waiting for a scan";
}

TEST_F(PrepareTest, ADirectoryThatIsRefusedIsAskedForOnceAScanWhateverHintsCome) {
  Fulfilled();
  node.machine.Remove(kDirectory);
  node.machine.FailWrites(kDirectory, FromErrno(ENODEV, kDirectory));
  const auto scans = node.agent->counters().scans;
  for (int i = 0; i < 600; ++i) {
    node.Hint(kGroup);
    node.Pass(1s);
  }
  EXPECT_EQ(node.Of("roce.tos", "rail0").reason, "ReadFailed");
  EXPECT_GE(Asked(), 5u);
  EXPECT_LE(Asked(), node.agent->counters().scans - scans + 1);
  node.machine.FailWrites(kDirectory, Ok());
  node.Pass(70s);
  EXPECT_EQ(node.Of("roce.tos", "rail0").verdict, Verdict::kCompliant);
}

TEST_F(PrepareTest, WhatCannotBeJournalledIsNotLeftBehind) {
  Fulfilled();
  node.machine.Remove(kDirectory);
  node.journal.fail_from = node.journal.calls + 1;
  node.Pass(70s);
  EXPECT_FALSE(node.machine.Exists(kDirectory));
  EXPECT_EQ(node.Of("roce.mode", "rail0").verdict, Verdict::kUnknown);
  EXPECT_NE(node.Of("roce.mode", "rail0").message.find("No space left on device"), std::string::npos)
      << node.Of("roce.mode", "rail0").message;
  node.journal.fail_from = 0;
  node.Pass(70s);
  EXPECT_EQ(node.Of("roce.mode", "rail0").verdict, Verdict::kCompliant);
}

TEST_F(PrepareTest, WhatSomebodyElseMadeMeanwhileIsNotRemovedAtStop) {
  LoadRdmaCm();
  node.Apply(Wants());
  AddDevice();
  node.machine.Put(kDirectory, "directory").Put(kTos, tos).Put(kMode, mode);
  node.Hint("/sys/class/infiniband");
  node.Settle();
  EXPECT_EQ(node.Of("roce.tos", "rail0").verdict, Verdict::kCompliant);
  EXPECT_TRUE(node.agent->Stop().ok());
  EXPECT_TRUE(node.machine.Exists(kDirectory));
}

}  // namespace
}  // namespace railwright
