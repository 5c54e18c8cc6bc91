#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/files/whole_file.h"
#include "tests/agent/agent_node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

class NodeAgentTest : public testing::Test, protected AgentNode {
 protected:
  void SetUp() override { ASSERT_TRUE(Boot()); }
  nlohmann::json Status() const {
    return nlohmann::json::parse(*ReadWhole(directory.path() + "/status.json"));
  }
};

TEST_F(NodeAgentTest, AStateIsAppliedAcknowledgedAndReported) {
  Welcome();
  Give(State(7));
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "4200");
  EXPECT_EQ(Value("/proc/sys/a"), "1");
  const auto acks = Sent<v1::Ack>();
  ASSERT_EQ(acks.size(), 1U);
  EXPECT_EQ(acks[0].generation(), 7U);
  EXPECT_EQ(acks[0].hash(), State(7).hash());
  AcknowledgeReports();
  const v1::Report last = Sent<v1::Report>().back();
  EXPECT_TRUE(last.settled());
  EXPECT_EQ(last.verdict(), v1::VERDICT_COMPLIANT);
  EXPECT_EQ(last.generation(), 7U);
  EXPECT_EQ(agent->Hello().state_hash(), State(7).hash());
  EXPECT_EQ(agent->Hello().report_hash(), last.hash());
  EXPECT_EQ(stored, 2U) << "two intended changes";
}

TEST_F(NodeAgentTest, TheStateIsDurableWhenTheAckGoesOut) {
  Welcome();
  Give(State(7));
  v1::DesiredState kept;
  ASSERT_TRUE(kept.ParseFromString(*ReadWhole(directory.path() + "/desired.bin")));
  EXPECT_EQ(kept.group(), State(7).group());
  EXPECT_EQ(kept.overlay(), State(7).overlay());
}

TEST_F(NodeAgentTest, WithoutAControllerTheLastAcceptedStateGoesOnBeingEnforced) {
  Welcome();
  Give(State(7));
  ASSERT_TRUE(Boot());
  EXPECT_EQ(agent->Hello().generation(), 7U);
  EXPECT_FALSE(agent->Ready());
  machine.Put("/rtnl/link/rail0/mtu", "1500");
  Settle();
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "4200");
  EXPECT_TRUE(agent->Ready());
  Drift("/proc/sys/a", "0");
  EXPECT_EQ(Value("/proc/sys/a"), "1");
}

TEST_F(NodeAgentTest, ADamagedStateOnDiskIsNotEnforcedAndAskedForAgain) {
  Welcome();
  Give(State(7));
  const std::string path = directory.path() + "/desired.bin";
  std::string bytes = *ReadWhole(path);
  for (const std::string& damaged :
       {bytes.substr(0, bytes.size() / 2), std::string("\x01\x02"), std::string()}) {
    ASSERT_TRUE(WriteWholeFile(path, damaged, {.sync = Sync::kNone}).ok());
    ASSERT_TRUE(Boot());
    machine.ClearLog();
    Settle();
    EXPECT_TRUE(machine.Writes().empty());
    EXPECT_EQ(agent->Hello().state_hash(), "");
  }
  Welcome();
  Give(State(7));
  EXPECT_EQ(agent->Hello().state_hash(), State(7).hash());
}

TEST_F(NodeAgentTest, DriftIsFixedReportedAndItsRecordSurvivesAKill) {
  Welcome();
  Give(State(7));
  AcknowledgeReports();
  const std::uint64_t before = stored;
  Drift("/rtnl/link/rail0/mtu", "1500");
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "4200");
  // Killed before the controller stored it: nothing was acknowledged since.
  ASSERT_TRUE(Boot());
  sent.clear();
  acknowledged = 0;
  Welcome(before);
  Settle();
  AcknowledgeReports();
  std::vector<std::uint64_t> numbers;
  bool corrective = false;
  for (const auto& report : Sent<v1::Report>())
    for (const auto& change : report.changes()) {
      numbers.push_back(change.sequence());
      corrective = corrective || change.kind() == v1::CHANGE_KIND_CORRECTIVE;
    }
  EXPECT_TRUE(corrective);
  ASSERT_FALSE(numbers.empty());
  EXPECT_EQ(numbers.front(), before + 1);
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

TEST_F(NodeAgentTest, SequencesGoOnAfterTheStateDirectoryWasLost) {
  Welcome(500);
  Give(State(7));
  AcknowledgeReports();
  const auto reports = Sent<v1::Report>();
  std::uint64_t least = 1'000'000;
  for (const auto& report : reports)
    for (const auto& change : report.changes()) least = std::min(least, change.sequence());
  EXPECT_EQ(least, 501U);
}

TEST_F(NodeAgentTest, TheCatalogueIsSentOnlyWhenItIsAskedFor) {
  Welcome();
  EXPECT_TRUE(Sent<v1::Catalog>().empty());
  Welcome(0, true);
  ASSERT_EQ(Sent<v1::Catalog>().size(), 1U);
  EXPECT_EQ(Sent<v1::Catalog>()[0].hash(), catalog.hash());
  EXPECT_EQ(static_cast<std::size_t>(Sent<v1::Catalog>()[0].settings_size()), catalog.settings().size());
}

TEST_F(NodeAgentTest, BeatsWhenNothingElseIsSaid) {
  Welcome();
  Give(State(7));
  AcknowledgeReports();
  sent.clear();
  Pass(60s);
  const auto beats = Sent<v1::Heartbeat>();
  EXPECT_GE(beats.size(), 5U);
  EXPECT_LE(beats.size(), 7U);
  EXPECT_EQ(beats[0].report_hash8(), HashPrefix8(agent->Hello().report_hash()));
  for (const ToController& message : sent) EXPECT_EQ(message.connection, connection);
}

TEST_F(NodeAgentTest, MessagesOfAnEarlierConnectionAreNotHeard) {
  Welcome();
  Welcome();
  agent->Handle({State(7), 1});
  Settle();
  EXPECT_TRUE(Sent<v1::Ack>().empty());
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "1500");
}

TEST_F(NodeAgentTest, AControllersPauseStopsWritesAndSurvivesARestart) {
  Welcome();
  Give(State(7));
  v1::PauseList list;
  list.add_pauses()->set_reason("maintenance");
  Give(list);
  Drift("/proc/sys/a", "0");
  EXPECT_EQ(Value("/proc/sys/a"), "0");
  ASSERT_TRUE(Boot());
  Settle();
  EXPECT_EQ(Value("/proc/sys/a"), "0");
  Welcome();
  Give(v1::PauseList());
  EXPECT_EQ(Value("/proc/sys/a"), "1");
}

TEST_F(NodeAgentTest, APauseForAnotherNodeIsNotOurs) {
  Welcome();
  Give(State(7));
  v1::PauseList list;
  list.add_pauses()->set_node("gpu-002");
  Give(list);
  Drift("/proc/sys/a", "0");
  EXPECT_EQ(Value("/proc/sys/a"), "1");
}

TEST_F(NodeAgentTest, APauseOnTheNodeStopsWritesWithoutBeingToldAndItsEndResumes) {
  Welcome();
  Give(State(7));
  const std::string path = directory.path() + "/paused.json";
  ASSERT_TRUE(
      WriteWholeFile(path, FormatPauses({{"", "sysctl.<name>", "root", "looking"}}), {.sync = Sync::kNone})
          .ok());
  Drift("/proc/sys/a", "0");  // no LookAtPauses: seen before the write itself
  EXPECT_EQ(Value("/proc/sys/a"), "0");
  Drift("/rtnl/link/rail0/mtu", "1500");
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "4200") << "another key is still enforced";
  unlink(path.c_str());
  agent->LookAtPauses();
  Settle();
  EXPECT_EQ(Value("/proc/sys/a"), "1");
}

TEST_F(NodeAgentTest, APauseThatComesInTheMiddleOfAPassStopsTheNextWrite) {
  Welcome();
  const std::string path = directory.path() + "/paused.json";
  machine.on_set = [&](const std::string&, const std::string&) {
    EXPECT_TRUE(WriteWholeFile(path, FormatPauses({{"", "", "root", "stop"}}), {.sync = Sync::kNone}).ok());
  };
  Give(State(7));
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "4200");
  EXPECT_EQ(Value("/proc/sys/a"), "0");
  machine.on_set = {};
  EXPECT_TRUE(Logged("enforcement is paused on this node: stop"));
}

TEST_F(NodeAgentTest, AStateDirectoryThatTakesNoWritesStopsEnforcementSaysSoAndHeals) {
  Welcome();
  Give(State(7));
  AcknowledgeReports();
  const std::string elsewhere = directory.path() + "-away";
  std::filesystem::rename(directory.path(), elsewhere);
  Drift("/proc/sys/a", "0");  // corrected: the trouble is not known yet; its record cannot be kept
  EXPECT_TRUE(Logged("nothing is written to this machine until that is over"));
  machine.ClearLog();
  Drift("/rtnl/link/rail0/mtu", "1500");
  EXPECT_TRUE(machine.Writes().empty());
  Give(State(8, "9000"));
  ASSERT_EQ(Sent<v1::Nack>().size(), 1U);
  EXPECT_NE(Sent<v1::Nack>()[0].message().find("cannot be kept yet"), std::string::npos);
  EXPECT_TRUE(machine.Writes().empty()) << "what is not durable is not acted upon";
  bool told = false;
  for (const auto& report : Sent<v1::Report>())
    for (const auto& finding : report.findings())
      told = told || finding.message().find("state directory") != std::string::npos;
  EXPECT_TRUE(told);
  std::filesystem::rename(elsewhere, directory.path());
  Pass(6s);
  EXPECT_TRUE(Logged("takes writes again"));
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "9000");
  EXPECT_EQ(Sent<v1::Ack>().back().generation(), 8U);
  AcknowledgeReports();
  bool kept = false;
  for (const auto& report : Sent<v1::Report>())
    for (const auto& change : report.changes())
      kept = kept || (change.key() == "sysctl.a" && change.kind() == v1::CHANGE_KIND_CORRECTIVE);
  EXPECT_TRUE(kept) << "the record of the correction was not lost";
}

TEST_F(NodeAgentTest, ADryRunAnswersWithAPlanAndWritesNothing) {
  Welcome();
  Give(State(7));
  machine.ClearLog();
  v1::Command command;
  command.set_id(11);
  command.set_deadline_ms(5000);
  *command.mutable_plan() = State(8, "9000");
  Give(command);
  const auto results = Sent<v1::CommandResult>();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].id(), 11U);
  EXPECT_EQ(results[0].error(), "");
  ASSERT_EQ(results[0].plan().steps_size(), 1);
  EXPECT_EQ(results[0].plan().steps(0).to(), "9000");
  EXPECT_TRUE(machine.Writes().empty());
  EXPECT_EQ(agent->Hello().generation(), 7U);
}

TEST_F(NodeAgentTest, ADryRunOfABadStateAnswersWithTheReason) {
  Welcome();
  v1::Command command;
  command.set_id(12);
  *command.mutable_plan() = State(8, "not a number");
  Give(command);
  ASSERT_EQ(Sent<v1::CommandResult>().size(), 1U);
  EXPECT_NE(Sent<v1::CommandResult>()[0].error().find("not a number"), std::string::npos);
}

TEST_F(NodeAgentTest, ACommandWhoseTimeHasPassedIsAnsweredNotDone) {
  Welcome();
  v1::Command command;
  command.set_id(13);
  command.set_deadline_ms(50);
  *command.mutable_plan() = State(8);
  agent->Handle({command, connection});
  clock.Advance(51ms);
  agent->Tick();
  ASSERT_EQ(Sent<v1::CommandResult>().size(), 1U);
  EXPECT_NE(Sent<v1::CommandResult>()[0].error().find("had passed"), std::string::npos);
}

TEST_F(NodeAgentTest, ARefreshScansAndReportsInFull) {
  Welcome();
  Give(State(7));
  AcknowledgeReports();
  sent.clear();
  acknowledged = 0;
  v1::Command command;
  command.set_id(14);
  command.mutable_refresh();
  Give(command);
  ASSERT_EQ(Sent<v1::CommandResult>().size(), 1U);
  EXPECT_EQ(Sent<v1::CommandResult>()[0].error(), "");
  ASSERT_FALSE(Sent<v1::Report>().empty());
  EXPECT_TRUE(Sent<v1::Report>()[0].full());
}

TEST_F(NodeAgentTest, ACommandOfALaterWireIsAnswered) {
  Welcome();
  v1::Command command;
  command.set_id(15);
  Give(command);
  ASSERT_EQ(Sent<v1::CommandResult>().size(), 1U);
  EXPECT_NE(Sent<v1::CommandResult>()[0].error().find("does not know the command"), std::string::npos);
}

TEST_F(NodeAgentTest, StatusJsonHasTheContractsShape) {
  Welcome();
  Give(State(7));
  Pass(1s);
  const auto status = Status();
  EXPECT_EQ(status["generation"], 7);
  EXPECT_EQ(status["complete"], true);
  EXPECT_EQ(status["summary"]["compliant"], 1);
  EXPECT_EQ(status["nodes"][0]["name"], "gpu-001");
  EXPECT_EQ(status["nodes"][0]["verdict"], "Compliant");
  EXPECT_EQ(status["agent"]["session"], "connected");
  EXPECT_EQ(status["agent"]["pid"], getpid());
}

TEST_F(NodeAgentTest, AChangeOfTheSessionIsWrittenDownWithinAQuarterOfASecond) {
  Settle();
  Pass(1s);
  session_text = "connecting: 10.0.0.7:7443: Connection refused";
  agent->Tick();  // the session rings
  Pass(250ms);
  EXPECT_EQ(Status()["agent"]["session"], session_text);
}

TEST_F(NodeAgentTest, AChangeOfTheSessionIsWrittenDownAlsoInTheMiddleOfALongPass) {
  Welcome();
  session_text = "connecting: the controller ended the stream";
  std::vector<std::string> seen;
  at_work = [&] {
    clock.Advance(100ms);  // a slow machine
    if (ReadWhole(directory.path() + "/status.json").ok()) seen.push_back(Status()["agent"]["session"]);
    if (seen.size() == 5) session_text = "connected";
  };
  Give(State(7));
  ASSERT_GT(seen.size(), 12U);
  EXPECT_EQ(seen[4], "connecting: the controller ended the stream");
  // Rung at the fifth operation; written at most 250 ms after the write before, so by the ninth.
  EXPECT_EQ(seen[8], "connected");
}

TEST_F(NodeAgentTest, StatusJsonIsNeverOlderThanAMinuteOrSo) {
  Welcome();
  Give(State(7));
  AcknowledgeReports();
  Pass(10min);
  const auto written = Status()["agent"]["written_at"].get<std::string>();
  EXPECT_GE(written, "2026-11-30T00:08:30");
}

TEST_F(NodeAgentTest, StopRemovesWhatWasMadeAtStartAndKeepsWhatIsEnforced) {
  Welcome();
  Give(State(7));
  EXPECT_TRUE(machine.Exists("/sys/kernel/config/rdma_cm/mlx5_0"));
  EXPECT_TRUE(agent->Stop().ok());
  EXPECT_FALSE(machine.Exists("/sys/kernel/config/rdma_cm/mlx5_0"));
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "4200");
}

TEST_F(NodeAgentTest, ARestartAtEveryPointOfAnApplyEndsCompliant) {
  // The story: welcome, state, drift, state. The agent is killed after each of its steps in turn.
  for (int kill_after = 0; kill_after < 12; ++kill_after) {
    AgentNode node;
    ASSERT_TRUE(node.Boot());
    int step = 0;
    const auto live = [&](auto action) {
      action();
      if (step++ == kill_after) {
        ASSERT_TRUE(node.Boot());
        node.Welcome(node.stored);
      }
    };
    live([&] { node.Welcome(); });
    live([&] { node.agent->Handle({State(7), node.connection}); });
    live([&] { node.agent->Tick(); });
    live([&] { node.agent->Tick(); });
    live([&] { node.Settle(); });
    live([&] { node.machine.Put("/proc/sys/a", "0"); });
    live([&] { node.agent->Notice({{"/proc/sys/a", "", 0, node.clock.Now()}}); });
    live([&] { node.agent->Tick(); });
    live([&] { node.agent->Handle({State(8, "9000"), node.connection}); });
    live([&] { node.agent->Tick(); });
    live([&] { node.Settle(); });
    if (node.agent->Hello().generation() != 8) node.Give(State(8, "9000"));  // as the controller would
    node.Pass(2min);
    EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "9000") << kill_after;
    EXPECT_EQ(node.Value("/proc/sys/a"), "1") << kill_after;
  }
}

}  // namespace
}  // namespace railwright
