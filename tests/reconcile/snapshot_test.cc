// The loop with the real catalogue and checks over every recorded machine of tests/snapshots.
#include <filesystem>

#include "agent/machine/linux_machine.h"
#include "tests/reconcile/node.h"

namespace railwright {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Snapshots() {
  std::vector<std::string> list;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(RAILWRIGHT_SOURCE_DIR "/tests/snapshots", none))
    if (entry.is_directory()) list.push_back(entry.path().filename().string());
  std::sort(list.begin(), list.end());
  return list;
}

class SnapshotTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string folder = RAILWRIGHT_SOURCE_DIR "/tests/snapshots/" + GetParam();
    auto opened = OpenSnapshotMachine(folder);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    machine_ = std::move(*opened);
    for (const auto& link : fs::directory_iterator(folder + "/get/rtnl/link")) {
      const std::string name = link.path().filename().string();
      if (name != "lo") links_.push_back(name);
    }
    std::sort(links_.begin(), links_.end());
    ASSERT_FALSE(links_.empty());
  }

  /// Every interface but the first (management) is a fabric port; one wish of each kind on each.
  DesiredState State(Mode mode) const {
    BuildState state(1);
    state.Management("mgmt", links_.front());
    const auto wish = [&](const std::string& key, const std::string& target, const std::string& value) {
      mode == Mode::kEnforce ? state.Enforce(key, target, value) : state.Observe(key, target, value);
    };
    for (std::size_t i = 1; i < links_.size(); ++i) {
      const std::string address = "10." + std::to_string(10 + i) + ".0.1/24";
      state.Fabric(links_[i], links_[i], {address});
      wish("link.mtu", links_[i], "4200");
      wish("link.channels", links_[i], "max");
      wish("link.rings", links_[i], "max");
      wish("rail.address", links_[i], "declared");
      wish("rail.routing", links_[i], "per-rail");
      wish("roce.mode", links_[i], "v2");
    }
    wish("link.mtu", "mgmt", "9000");
    wish("sysctl.net.ipv4.conf.all.arp_ignore", "", "1");
    wish("firewall.rdma", "", "allow");
    wish("limits.memlock", "", "unlimited");
    wish("nccl.NCCL_IB_TC", "", "106");
    wish("module.nvidia_peermem", "", "loaded");
    wish("kernel.cmdline", "", "iommu=pt");
    wish("no.such_setting", "", "1");
    return state;
  }

  std::unique_ptr<Machine> machine_;
  std::vector<std::string> links_;
  Catalog catalog_ = MakeCatalog();
  std::vector<std::unique_ptr<const Check>> checks_ = MakeChecks();
};

TEST_P(SnapshotTest, NoVerdictWithoutEvidenceAndNoPassWithoutAValue) {
  const NodeReport report = CheckOnce(*machine_, catalog_, checks_, State(Mode::kEnforce));
  for (const Finding& finding : report.findings) {
    SCOPED_TRACE(finding.key + " " + finding.target + ": " + finding.message);
    EXPECT_FALSE(finding.code.empty());
    if (finding.verdict == Verdict::kCompliant) {
      EXPECT_FALSE(finding.evidence.empty());
      EXPECT_TRUE(finding.reason.empty());
    } else {
      EXPECT_FALSE(finding.reason.empty());
      EXPECT_FALSE(finding.message.empty());
    }
    if (finding.key == "no.such_setting") {
      EXPECT_EQ(finding.reason, "UnknownSetting");
    }
    if (finding.target == "mgmt") {
      EXPECT_NE(finding.verdict, Verdict::kCompliant);
    }
  }
}

TEST_P(SnapshotTest, TheLoopComesToRestAndTheManagementPortIsAsItWas) {
  DesiredState state = State(Mode::kEnforce);
  std::erase_if(state.settings, [](const SettingSpec& spec) { return spec.key == "no.such_setting"; });
  const std::string mtu = machine_->Get("/rtnl/link/" + links_.front() + "/mtu").value_or("");
  SimClock clock;
  MemoryJournal journal;
  Reconciler agent(*machine_, catalog_, checks_, journal, clock, {});
  EXPECT_TRUE(agent.Start().ok());
  ASSERT_TRUE(agent.Accept(state).ok());
  for (int i = 0; i < 50; ++i) {
    agent.Tick();
    clock.AdvanceTo(std::min(agent.NextDue(), clock.Now() + std::chrono::seconds(1)));
  }
  EXPECT_TRUE(agent.Report().settled);
  EXPECT_EQ(agent.counters().contended, 0u);
  EXPECT_EQ(machine_->Get("/rtnl/link/" + links_.front() + "/mtu").value_or(""), mtu);
  for (const Original& original : journal.Originals()) EXPECT_NE(original.target, "mgmt");
  EXPECT_TRUE(journal.OpenSteps().empty());
  agent.TakeChanges();
  // At rest: scans find nothing to write.
  for (int scan = 0; scan < 3; ++scan) {
    agent.Refresh();
    agent.Tick();
  }
  for (const ChangeRecord& change : agent.TakeChanges())
    ADD_FAILURE() << Name(change.kind) << " " << change.key << " " << change.target << ": " << change.message;
}

INSTANTIATE_TEST_SUITE_P(Recorded, SnapshotTest, testing::ValuesIn(Snapshots()), [](const auto& one) {
  std::string name = one.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SnapshotTest);

}  // namespace
}  // namespace railwright
