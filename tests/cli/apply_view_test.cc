#include "controller/cli/apply_view.h"

#include <gtest/gtest.h>

#include "core/text/yaml.h"
#include "tests/cli/canned.h"
#include "tests/cli/golden.h"

namespace railwright::cli {
namespace {

const Terminal kPlain;

v1::NodeOutcome Done(const std::string& node, v1::Verdict verdict = v1::VERDICT_COMPLIANT,
                     std::uint32_t changed = 3) {
  v1::NodeOutcome outcome;
  outcome.set_node(node);
  outcome.set_verdict(verdict);
  outcome.set_changed(changed);
  return outcome;
}

v1::ApplyEvent Event(std::uint32_t nodes, std::vector<v1::NodeOutcome> done, bool finished = true) {
  v1::ApplyEvent event;
  event.set_generation(42);
  event.set_nodes(nodes);
  event.set_finished(finished);
  for (v1::NodeOutcome& one : done) *event.add_done() = std::move(one);
  return event;
}

ApplyProgress After(const v1::ApplyEvent& event) {
  ApplyProgress progress(true);
  progress.Add(event);
  return progress;
}

TEST(ApplyProgressTest, TheWaitNamesItsNodes) {
  ApplyProgress progress(true);
  EXPECT_EQ(progress.Live(), "waiting for the controller to store the generation");
  v1::ApplyEvent event = Event(4, {Done("gpu-001")}, false);
  for (const char* node : {"gpu-003", "gpu-002"}) event.add_waiting(node);
  event.add_unreachable("gpu-004");
  progress.Add(event);
  EXPECT_EQ(progress.Live(),
            "generation 42: 1 of 4 nodes settled; waiting for gpu-[002-003]; unreachable: gpu-004");
  v1::ApplyEvent later = Event(4, {Done("gpu-002")}, false);
  later.add_waiting("gpu-003");
  later.add_unreachable("gpu-004");
  progress.Add(later);
  EXPECT_EQ(progress.Live(),
            "generation 42: 2 of 4 nodes settled; waiting for gpu-003; unreachable: gpu-004");
}

TEST(ApplyProgressTest, EveryEndHasItsCode) {
  EXPECT_EQ(After(Event(1, {Done("a")})).exit(), ExitCode::kDone);
  EXPECT_EQ(After(Event(1, {Done("a", v1::VERDICT_DRIFTED)})).exit(), ExitCode::kDifferences);
  EXPECT_EQ(After(Event(1, {Done("a", v1::VERDICT_PENDING)})).exit(), ExitCode::kDifferences);
  EXPECT_EQ(After(Event(1, {Done("a", v1::VERDICT_UNKNOWN)})).exit(), ExitCode::kIncomplete);
  EXPECT_EQ(After(Event(1, {Done("a", v1::VERDICT_UNSPECIFIED)})).exit(), ExitCode::kIncomplete);
  v1::NodeOutcome refused = Done("a", v1::VERDICT_UNKNOWN);
  refused.set_nack("unknown setting");
  EXPECT_EQ(After(Event(1, {refused})).exit(), ExitCode::kFailed);
  v1::NodeOutcome failed = Done("a", v1::VERDICT_DRIFTED);
  *failed.add_failed() = MtuFinding(v1::VERDICT_DRIFTED);
  failed.mutable_failed(0)->set_reason("ObserveMode");  // not as declared, and nothing was tried
  EXPECT_EQ(After(Event(1, {failed})).exit(), ExitCode::kDifferences);
  for (const char* reason : {"ApplyFailed", "Undone", "InvalidValue"}) {
    failed.mutable_failed(0)->set_reason(reason);
    EXPECT_EQ(After(Event(1, {failed})).exit(), ExitCode::kFailed) << reason;
  }
  v1::ApplyEvent overtaken = Event(2, {Done("a")});
  overtaken.add_waiting("b");
  overtaken.set_superseded_by(43);
  EXPECT_EQ(After(overtaken).exit(), ExitCode::kIncomplete);
  EXPECT_NE(After(overtaken).Table(kPlain).find("and generation 43 took over"), std::string::npos);
  v1::ApplyEvent away = Event(2, {Done("a")});
  away.add_unreachable("b");
  EXPECT_EQ(After(away).exit(), ExitCode::kIncomplete);
  v1::ApplyEvent late = Event(2, {Done("a")});
  late.add_waiting("b");
  late.set_timed_out(true);
  EXPECT_EQ(After(late).exit(), ExitCode::kTimedOut);
  v1::ApplyEvent both = late;
  both.add_unreachable("c");
  EXPECT_EQ(After(both).exit(), ExitCode::kIncomplete);  // 3 comes before 7
}

TEST(ApplyProgressTest, TheWaitSaysWhichWaveItIs) {
  ApplyProgress progress(true);
  v1::ApplyEvent event = Event(4, {Done("gpu-001")}, false);
  event.set_rollout("wave 1 of 3");
  event.add_waiting("gpu-002");
  progress.Add(event);
  EXPECT_EQ(progress.Live(), "generation 42, wave 1 of 3: 1 of 4 nodes settled; waiting for gpu-002");
  EXPECT_EQ(progress.ToJson()["rollout"], "wave 1 of 3");
  EXPECT_EQ(progress.ToJson()["stopped"], "");
}

TEST(ApplyProgressTest, ARolloutThatDoesNotGoOnIsSixAndSaysWhereToLook) {
  v1::ApplyEvent event = Event(5, {Done("gpu-001")});
  for (const char* node : {"gpu-002", "gpu-003"}) event.add_waiting(node);
  event.add_unreachable("gpu-004");
  event.set_rollout("wave 1 of 3");
  event.set_stopped("halted: 1 of 5 nodes failed (gpu-001)");
  const ApplyProgress progress = After(event);
  EXPECT_EQ(progress.exit(), ExitCode::kStopped);
  ExpectGolden("apply_stopped.txt", progress.Table(kPlain));
  EXPECT_EQ(progress.ToJson()["stopped"], "halted: 1 of 5 nodes failed (gpu-001)");
  EXPECT_EQ(progress.ToJson()["complete"], false);

  v1::ApplyEvent failed = event;  // 6 comes before 1, 2, 3 and 7
  failed.mutable_done(0)->set_nack("unknown setting");
  failed.set_timed_out(true);
  EXPECT_EQ(After(failed).exit(), ExitCode::kStopped);
}

TEST(ApplyProgressTest, NodesThatAllSettledAreNotDoneWhileTheirRolloutIsStopped) {
  v1::ApplyEvent event = Event(1, {Done("gpu-001")});
  event.set_stopped("paused by alice: bench test");
  EXPECT_EQ(After(event).exit(), ExitCode::kStopped);
  EXPECT_EQ(After(event).ToJson()["complete"], false);
}

TEST(ApplyProgressTest, WithoutWaitingTheOutcomeIsNotJudged) {
  ApplyProgress progress(false);
  v1::ApplyEvent event = Event(2, {});
  event.add_waiting("a");
  event.add_unreachable("b");
  progress.Add(event);
  EXPECT_EQ(progress.exit(), ExitCode::kDone);
  EXPECT_EQ(progress.Table(kPlain),
            "generation 42 is stored and on its way · follow: railctl watch · undo: railctl rollback\n");
  EXPECT_EQ(progress.ToJson()["complete"], false);
}

TEST(ApplyProgressTest, ResultOfASmallFleet) {
  v1::NodeOutcome failed = Done("gpu-002", v1::VERDICT_DRIFTED, 0);
  v1::Finding finding = MtuFinding(v1::VERDICT_DRIFTED);
  finding.set_reason("ApplyFailed");
  finding.set_message("rail0: mtu greater than device maximum");
  *failed.add_failed() = finding;
  v1::NodeOutcome refused = Done("gpu-003", v1::VERDICT_UNKNOWN, 0);
  refused.set_nack("unknown setting \"qos.pfc\"");
  v1::ApplyEvent event = Event(5, {Done("gpu-001"), failed, refused});
  event.add_waiting("gpu-004");
  event.add_unreachable("gpu-005");
  event.set_timed_out(true);
  const ApplyProgress progress = After(event);
  ExpectGolden("apply.txt", progress.Table(kPlain));
  ExpectGolden("apply.json", ToJsonText(progress.ToJson()));
  EXPECT_EQ(progress.exit(), ExitCode::kFailed);
}

TEST(ApplyProgressTest, ALargeFleetIsFoldedByOutcome) {
  std::vector<v1::NodeOutcome> done;
  for (int i = 100; i < 1124; ++i) done.push_back(Done("gpu-" + std::to_string(i)));
  done[7].set_verdict(v1::VERDICT_DRIFTED);
  const std::string text = After(Event(1024, done)).Table(kPlain);
  EXPECT_NE(text.find("1023 nodes gpu-["), std::string::npos) << text;
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 6);
}

TEST(ApplyProgressTest, UnchangedDocumentsNeedNoUndo) {
  v1::ApplyEvent event = Event(1, {Done("a", v1::VERDICT_COMPLIANT, 0)});
  event.set_unchanged(true);
  const std::string text = After(event).Table(kPlain);
  EXPECT_NE(text.find("was in force already, nothing was stored"), std::string::npos);
  EXPECT_EQ(text.find("undo"), std::string::npos);
}

}  // namespace
}  // namespace railwright::cli
