// Every verb against a controller in this process: what comes out, and the exit code.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/canned.h"
#include "tests/cli/fake_admin.h"
#include "tests/cli/run_railctl.h"

namespace railwright::cli {
namespace {

using Json = nlohmann::json;

class VerbsTest : public testing::Test {
 protected:
  VerbsTest() {
    script().status = GoodFleet(4);
    script().version.set_version("0.1.0");
    script().version.set_wire(1);
    script().version.set_wire_min(1);
    script().version.set_generation(42);
    v1::PlanEvent result;
    *result.mutable_result() = EmptyPlan();
    script().plan.push_back(result);
    script().why = MtuWhy();
    for (const std::uint64_t number : {42, 41}) {
      v1::GenerationInfo& one = *script().generations.add_generations();
      one.set_generation(number);
      one.set_author("root@head");
    }
    script().desired.set_generation(42);
    std::ofstream(file_) << "kind: Cluster\nname: pod-a\nnodes:\n  - {name: gpu-001, role: gpu}\n";
  }
  ~VerbsTest() override { std::filesystem::remove(file_); }

  Script& script() { return admin_.script(); }
  Ran Run(std::vector<std::string> words, Given given = {}) {
    if (given.controller.empty()) given.controller = admin_.address();
    return RunRailctl(std::move(words), given);
  }

  FakeAdmin admin_;
  std::string file_ = admin_.address().substr(5) + ".yaml";
};

// Everything that asks the controller and changes nothing.
const std::vector<std::vector<std::string>> kReading{{"status"},
                                                     {"drift"},
                                                     {"get", "nodes"},
                                                     {"get", "settings"},
                                                     {"get", "findings"},
                                                     {"get", "changes"},
                                                     {"get", "generations"},
                                                     {"get", "desired", "gpu-001"},
                                                     {"get", "audit"},
                                                     {"get", "rollouts"},
                                                     {"rollout", "status"},
                                                     {"why", "gpu-001", "link.mtu"},
                                                     {"version"},
                                                     {"pause"}};

TEST_F(VerbsTest, EveryReadingVerbIsZeroAndSilentOnStderrWhenAllIsWell) {
  for (const auto& words : kReading) {
    const Ran ran = Run(words);
    EXPECT_EQ(ran.code, 0) << words.front() << ran.err;
    EXPECT_NE(ran.out, "") << words.front();
    EXPECT_EQ(ran.err, "") << words.front();
  }
}

TEST_F(VerbsTest, EveryReadingVerbSpeaksJsonAndYamlWithTheSameExitCode) {
  for (auto words : kReading) {
    words.insert(words.end(), {"-o", "json"});
    const Ran json = Run(words);
    EXPECT_EQ(json.code, 0) << words.front();
    EXPECT_FALSE(Json::parse(json.out, nullptr, false).is_discarded()) << json.out;
    words.back() = "yaml";
    const Ran yaml = Run(words);
    EXPECT_EQ(yaml.code, 0) << words.front();
    EXPECT_NE(yaml.out.find(':'), std::string::npos) << words.front();
  }
}

TEST_F(VerbsTest, AControllerThatIsNotThereIsEight) {
  auto all = kReading;
  all.insert(all.end(), {{"plan", "-f", file_},
                         {"apply", "-f", file_, "--yes"},
                         {"rollback", "--yes"},
                         {"watch"},
                         {"watch", "gpu-001"},
                         {"rollout", "status", "--watch"},
                         {"rollout", "approve", "--yes"},
                         {"rollout", "pause"},
                         {"rollout", "resume"},
                         {"rollout", "abort"},
                         {"rollout", "abort", "--rollback", "--yes"},
                         {"rollout", "reset-breaker", "--yes"},
                         {"pause", "link.mtu"},
                         {"pause", "gpu-001"},
                         {"node", "forget", "x", "--yes"}});
  const std::string nowhere = admin_.address() + ".none";
  for (const auto& words : all) {
    const Ran ran = Run(words, {.controller = nowhere, .input = ""});
    EXPECT_EQ(ran.code, 8) << words.front() << ran.err;
    EXPECT_NE(ran.err.find(nowhere), std::string::npos) << words.front() << ran.err;
    EXPECT_NE(ran.err.find("next: "), std::string::npos) << words.front() << ran.err;
  }
}

TEST_F(VerbsTest, AControllerThatStoppedLeavesASocketThatNobodyHears) {
  const std::string address = admin_.address();
  admin_.Stop();
  const Ran ran = Run({"status"});
  EXPECT_EQ(ran.code, 8);
  EXPECT_NE(ran.err.find(address), std::string::npos);
}

TEST_F(VerbsTest, OfflineVerbsNeedNoController) {
  const Given nowhere{.controller = "unix:/nonexistent/admin.sock", .input = ""};
  EXPECT_EQ(Run({"explain", "link.mtu"}, nowhere).code, 0);
  EXPECT_EQ(Run({"explain"}, nowhere).code, 0);
  EXPECT_EQ(Run({"version", "--client"}, nowhere).code, 0);
  EXPECT_EQ(Run({"completion", "bash"}, nowhere).code, 0);
  EXPECT_EQ(Run({"help"}, nowhere).code, 0);
  const Ran version = Run({"version"}, nowhere);
  EXPECT_EQ(version.code, 8);
  EXPECT_NE(version.out.find("railctl"), std::string::npos);
}

TEST_F(VerbsTest, WhatIsNotPermittedIsFour) {
  for (const Code code : {Code::kPermissionDenied, Code::kUnknown}) {
    script().failure = Status(code, "only operators may");
    for (const auto& words : kReading) {
      const Ran ran = Run(words);
      EXPECT_EQ(ran.code, 4) << words.front();
      EXPECT_NE(ran.err.find("only operators may"), std::string::npos);
    }
  }
}

TEST_F(VerbsTest, AFullDiskIsAFailureAndAControllerThatStopsIsUnreachable) {
  script().failure = Status(Code::kResourceExhausted, "the controller is read-only");
  const Ran full = Run({"rollback", "--yes"});
  EXPECT_EQ(full.code, 1) << full.err;
  EXPECT_NE(full.err.find("the controller is read-only"), std::string::npos);
  script().failure = Status(Code::kUnavailable, "the controller is stopping");
  const Ran stopping = Run({"status"});
  EXPECT_EQ(stopping.code, 8);
  EXPECT_NE(stopping.err.find("does not serve now: the controller is stopping"), std::string::npos);
}

TEST_F(VerbsTest, AnOlderControllerIsNamedAsSuch) {
  script().failure = Status(Code::kUnimplemented, "");
  const Ran ran = Run({"get", "audit"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("older than this railctl"), std::string::npos);
}

TEST_F(VerbsTest, AHungControllerIsUnreachableAfterTheTimeout) {
  script().stall = true;
  const Ran reading = Run({"status", "--timeout", "100ms"});
  EXPECT_EQ(reading.code, 8);
  EXPECT_NE(reading.err.find("did not answer within 100 ms"), std::string::npos) << reading.err;
  const Ran ordering = Run({"pause", "--all", "--timeout", "100ms"});
  EXPECT_EQ(ordering.code, 7);
  EXPECT_NE(ordering.err.find("it may still carry this out"), std::string::npos) << ordering.err;
}

TEST_F(VerbsTest, CtrlCEndsAnyWaitWith130) {
  script().stall = script().hold = true;
  const std::atomic<bool> interrupted{true};
  for (const auto& words : kReading) {
    const Ran ran = Run(
        words, {.controller = admin_.address(), .input = "", .terminal = false, .interrupted = &interrupted});
    EXPECT_EQ(ran.code, 130) << words.front() << ran.err;
  }
  EXPECT_EQ(Run({"plan", "-f", file_},
                {.controller = "", .input = "", .terminal = false, .interrupted = &interrupted})
                .code,
            130);
}

TEST_F(VerbsTest, SilentNodesAreThreeAndDriftIsTwo) {
  script().status.mutable_nodes(0)->set_stale(true);
  EXPECT_EQ(Run({"status"}).code, 3);
  EXPECT_EQ(Run({"status", "-o", "json"}).code, 3);
  EXPECT_EQ(Run({"drift"}).code, 3);
  v1::NodeStatus& drifted = *script().status.mutable_nodes(1);
  drifted.set_verdict(v1::VERDICT_DRIFTED);
  *drifted.mutable_findings(0) = MtuFinding(v1::VERDICT_DRIFTED);
  EXPECT_EQ(Run({"status"}).code, 2);
  EXPECT_EQ(Run({"drift", "-o", "yaml"}).code, 2);
  EXPECT_EQ(Run({"status", "gpu-003"}).code, 0);
  EXPECT_EQ(Run({"status", "gpu-[003-004]"}).code, 0);
}

TEST_F(VerbsTest, AWrongNodeNameIsAnsweredWithTheNearest) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"status", "gpu-01"},
                                                {"drift", "gpu-01"},
                                                {"get", "nodes", "gpu-01"},
                                                {"get", "settings", "gpu-01"}}) {
    const Ran ran = Run(words);
    EXPECT_EQ(ran.code, 64) << words.front();
    EXPECT_NE(ran.err.find("node \"gpu-01\" is not known; did you mean \"gpu-001\"?"), std::string::npos)
        << ran.err;
  }
  EXPECT_EQ(Run({"status", "gpu-[004-001]"}).code, 64);
}

TEST_F(VerbsTest, WhySpellsKeysTheOneWayAndNamesSlips) {
  EXPECT_NE(Run({"why", "gpu-001", "link.mtu"}).out.find("link.mtu rail0 = 4200"), std::string::npos);
  script().why.clear_targets();
  EXPECT_EQ(Run({"why", "gpu-001", "link.mtu"}).code, 0);
  EXPECT_EQ(Run({"why", "gpu-001"}).code, 64);
  script().failure = Status(Code::kNotFound, "unknown setting \"link.mtuu\"; did you mean \"link.mtu\"?");
  const Ran slip = Run({"why", "gpu-001", "link.mtuu"});
  EXPECT_EQ(slip.code, 64);
  EXPECT_NE(slip.err.find("did you mean \"link.mtu\"?"), std::string::npos);
}

TEST_F(VerbsTest, ChangesCarryTheirChoicesToTheController) {
  const auto now_us = [] {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  constexpr std::int64_t kBack = 3'601'000'000;  // the hour, and a second in which clocks may differ
  const auto before = now_us();
  EXPECT_EQ(Run({"get", "changes", "gpu-001", "--key", "link.mtu", "--since", "1h", "--limit", "7"}).code, 0);
  const auto after = now_us();
  std::lock_guard lock(script().mutex);
  ASSERT_EQ(script().change_requests.size(), 1u);
  const v1::ChangesRequest& request = script().change_requests[0];
  EXPECT_EQ(request.nodes(0), "gpu-001");
  EXPECT_EQ(request.key(), "link.mtu");
  EXPECT_EQ(request.limit(), 7u);
  EXPECT_GE(request.since_unix_us(), before - kBack);
  EXPECT_LE(request.since_unix_us(), after - kBack);
}

TEST_F(VerbsTest, WhatArrivesLaterIsSaidHonestly) {
  const Ran ran = Run({"get", "links"});
  EXPECT_EQ(ran.code, 64);
  EXPECT_NE(ran.err.find("arrives with a later version"), std::string::npos);
}

TEST_F(VerbsTest, PlanHasItsThreeAnswers) {
  EXPECT_EQ(Run({"plan", "-f", file_}).code, 0);
  *script().plan[0].mutable_result() = MixedPlan();
  const Ran changes = Run({"plan", "-f", file_});
  EXPECT_EQ(changes.code, 2);
  EXPECT_NE(changes.out.find("next: railctl apply -f " + file_ + "\n"), std::string::npos) << changes.out;
  v1::PlanResult silent = EmptyPlan();
  silent.add_not_answered()->set_node("gpu-009");
  *script().plan[0].mutable_result() = silent;
  EXPECT_EQ(Run({"plan", "-f", file_, "-o", "json"}).code, 3);
}

TEST_F(VerbsTest, PlanSendsTheBytesAndTheChoices) {
  EXPECT_EQ(Run({"plan", "-f", "-", "--prune", "--restore", "--timeout", "3s"},
                {.controller = "", .input = "kind: Profile\nname: a\n"})
                .code,
            0);
  std::lock_guard lock(script().mutex);
  ASSERT_EQ(script().plans.size(), 1u);
  EXPECT_EQ(script().plans[0].files(0).name(), "stdin");
  EXPECT_EQ(script().plans[0].files(0).text(), "kind: Profile\nname: a\n");
  EXPECT_TRUE(script().plans[0].prune());
  EXPECT_TRUE(script().plans[0].restore());
  EXPECT_EQ(script().plans[0].timeout_ms(), 3000);
}

TEST_F(VerbsTest, BadDocumentsNeverReachTheController) {
  for (const char* verb : {"plan", "apply"}) {
    const Ran ran = Run({verb, "-f", "-", "-o", "json"},
                        {.controller = "", .input = "kind: Profile\nname: a\nprioritys: 1\n"});
    EXPECT_EQ(ran.code, std::string(verb) == "plan" ? 1 : 64) << ran.err;  // apply wants --yes first
    EXPECT_EQ(ran.out, "");
  }
  const Ran ran = Run({"apply", "-f", "-", "--yes"},
                      {.controller = "", .input = "kind: Profile\nname: a\nprioritys: 1\n"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("stdin:3:1: unknown field \"prioritys\""), std::string::npos) << ran.err;
  std::lock_guard lock(script().mutex);
  EXPECT_TRUE(script().plans.empty());
  EXPECT_TRUE(script().applies.empty());
}

TEST_F(VerbsTest, WhatTheControllerFindsWrongIsShownWithItsLine) {
  script().failure = Status(Code::kInvalidArgument, file_ + ":4:12: unknown role \"gpu\"");
  const Ran ran = Run({"plan", "-f", file_});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("  4 |   - {name: gpu-001, role: gpu}\n    |            ^\n"), std::string::npos)
      << ran.err;
}

TEST_F(VerbsTest, ALongListOfProblemsIsShownWhole) {
  v1::ProblemList list;
  for (int i = 0; i < 500; ++i) list.add_problems(file_ + ":4:12: problem number " + std::to_string(i));
  script().plan.clear();
  *script().plan.emplace_back().mutable_problems() = list;
  *script().apply.emplace_back().mutable_problems() = list;
  script().failure = Status(Code::kInvalidArgument, file_ + ":4:12: problem number 0\nand 499 more");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"plan", "-f", file_}, {"apply", "-f", file_, "--yes"}}) {
    const Ran ran = Run(words);
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.err.find("problem number 499"), std::string::npos) << words.front();
    EXPECT_EQ(ran.err.find("and 499 more"), std::string::npos) << words.front();
  }
}

TEST_F(VerbsTest, FilesThatAreNotThereAreUsage) {
  EXPECT_EQ(Run({"plan", "-f", "/nonexistent.yaml"}).code, 64);
  EXPECT_EQ(Run({"plan"}).code, 64);
  EXPECT_EQ(Run({"apply", "--yes"}).code, 64);
  EXPECT_EQ(Run({"apply", "--plan", "/nonexistent.plan", "--yes"}).code, 64);
}

TEST_F(VerbsTest, APlanWithoutAResultIsAnError) {
  script().plan.clear();
  EXPECT_EQ(Run({"plan", "-f", file_}).code, 1);
}

TEST_F(VerbsTest, PauseTellsNodesFromKeysByTheirShape) {
  script().pause.add_told("gpu-001");
  const Ran key = Run({"pause", "link.mtu", "--reason", "test"});
  EXPECT_EQ(key.code, 0) << key.err;
  EXPECT_NE(key.out.find("paused: link.mtu on every node"), std::string::npos);
  const Ran node = Run({"pause", "gpu-[001-002]"});
  EXPECT_EQ(node.code, 0) << node.err;
  EXPECT_NE(node.out.find("paused: everything on 2 nodes gpu-[001-002]"), std::string::npos) << node.out;
  EXPECT_EQ(Run({"pause", "gpu-001", "sysctl.net/ipv4/conf/all/arp_ignore", "--resume"}).code, 0);
  EXPECT_EQ(Run({"pause", "--all"}).code, 0);
  EXPECT_EQ(Run({"pause", "--node", "link.mtu"}).code, 0);
  std::lock_guard lock(script().mutex);
  ASSERT_EQ(script().pauses.size(), 6u);
  EXPECT_EQ(script().pauses[0].pause().key(), "link.mtu");
  EXPECT_EQ(script().pauses[0].pause().node(), "");
  EXPECT_EQ(script().pauses[0].pause().by(), "tester@here");
  EXPECT_EQ(script().pauses[0].pause().reason(), "test");
  EXPECT_EQ(script().pauses[1].pause().node(), "gpu-001");
  EXPECT_EQ(script().pauses[2].pause().node(), "gpu-002");
  EXPECT_TRUE(script().pauses[3].resume());
  EXPECT_EQ(script().pauses[3].pause().key(), "sysctl.net.ipv4.conf.all.arp_ignore");
  EXPECT_EQ(script().pauses[4].pause().node() + script().pauses[4].pause().key(), "");
  EXPECT_EQ(script().pauses[5].pause().node(), "link.mtu");
}

TEST_F(VerbsTest, PauseSaysWhomItDidNotReachAndRefusesSlips) {
  script().pause.add_not_reached("gpu-003");
  const Ran ran = Run({"pause", "--all"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.out.find("not reached: gpu-003"), std::string::npos);
  const Ran slip = Run({"pause", "link.mtuu"});
  EXPECT_EQ(slip.code, 64);
  EXPECT_NE(slip.err.find("neither a node nor a key; did you mean \"link.mtu\"?"), std::string::npos)
      << slip.err;
  EXPECT_EQ(Run({"pause", "--resume"}).code, 64);
  EXPECT_EQ(Run({"pause", "--all", "link.mtu"}).code, 64);
}

TEST_F(VerbsTest, APauseOfANodeThatHasGoneCanBeEndedButNotMade) {
  script().status.add_retired("gpu-008");
  auto* left = script().status.add_pauses();
  left->set_node("gpu-009");
  EXPECT_EQ(Run({"pause", "--resume", "gpu-009"}).code, 0);
  EXPECT_EQ(Run({"pause", "--resume", "gpu-008"}).code, 0);
  const Ran anew = Run({"pause", "gpu-009"});
  EXPECT_EQ(anew.code, 64);
  EXPECT_NE(anew.err.find("neither a node nor a key; did you mean"), std::string::npos) << anew.err;
  const Ran slip = Run({"pause", "--resume", "gpu-0099"});
  EXPECT_EQ(slip.code, 64);
  EXPECT_NE(slip.err.find("did you mean \"gpu-009\"?"), std::string::npos) << slip.err;
  std::lock_guard lock(script().mutex);
  ASSERT_EQ(script().pauses.size(), 2u);
  EXPECT_EQ(script().pauses[0].pause().node(), "gpu-009");
  EXPECT_TRUE(script().pauses[0].resume());
}

TEST_F(VerbsTest, ForgettingNamesThePausesThatGoWithTheNode) {
  auto* dropped = script().forget.add_pauses();
  dropped->set_node("gpu-009");
  dropped->set_key("link.mtu");
  dropped->set_by("ann");
  const Ran ran = Run({"node", "forget", "gpu-009", "--yes"});
  EXPECT_EQ(ran.out, "gpu-009 is forgotten\nits pause is dropped: link.mtu on gpu-009, by ann\n");
  const Json json = Json::parse(Run({"node", "forget", "gpu-009", "--yes", "-o", "json"}).out);
  EXPECT_EQ(json["pauses_dropped"][0]["key"], "link.mtu");
}

TEST_F(VerbsTest, ForgettingAsksFirst) {
  EXPECT_EQ(Run({"node", "forget", "gpu-009"}).code, 64);
  EXPECT_EQ(Run({"node", "forget", "gpu-009"}, {.controller = "", .input = "n\n", .terminal = true}).code,
            130);
  EXPECT_EQ(Run({"node", "forget", "gpu-009"}, {.controller = "", .input = "y\n", .terminal = true}).code, 0);
  EXPECT_EQ(Run({"node", "forget", "gpu-008", "--yes"}).code, 0);
  std::lock_guard lock(script().mutex);
  EXPECT_EQ(script().forgotten, (std::vector<std::string>{"gpu-009", "gpu-008"}));
}

Given At(const std::string& controller) {
  Given given;
  given.controller = controller;
  return given;
}

TEST_F(VerbsTest, DoctorOverTheUnixSocketCallsTheControllerAndSaysWhatItIs) {
  const Ran ran = Run({"doctor", "-o", "json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const Json json = Json::parse(ran.out);
  EXPECT_EQ(json["verdict"], "Compliant");
  EXPECT_EQ(json["checks"][0]["check"], "login");
  EXPECT_NE(json["checks"][1]["message"].get<std::string>().find("the controller answers"),
            std::string::npos);
}

TEST_F(VerbsTest, DoctorNamesAControllerThatIsNotThereAndTheNextStep) {
  const Ran ran = RunRailctl({"doctor"}, At("unix:/nonexistent/controller.sock"));
  EXPECT_EQ(ran.code, 8);
  EXPECT_NE(ran.out.find("/nonexistent/controller.sock"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("next: call: systemctl status railwright-controller"), std::string::npos) << ran.out;
}

TEST_F(VerbsTest, DoctorWithoutALoginSaysHowOneIsMade) {
  const Ran ran = RunRailctl({"doctor"}, At("ctl.example:7443"));
  EXPECT_EQ(ran.code, 4);
  EXPECT_NE(ran.out.find("railctl login"), std::string::npos) << ran.out;
}

TEST_F(VerbsTest, VersionNamesWhatEitherSideLacks) {
  script().version.add_features("telepathy");
  script().version.set_read_only("the disk is full");
  const Ran ran = Run({"version"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.out.find("this railctl lacks: telepathy"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("the controller lacks: "), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("the controller takes no changes: the disk is full"), std::string::npos);
  const Json json = Json::parse(Run({"version", "-o", "json"}).out);
  EXPECT_EQ(json["missing"]["client"][0], "telepathy");
  script().version.set_wire(9);
  script().version.set_wire_min(9);
  EXPECT_EQ(Run({"version"}).code, 1);
}

TEST_F(VerbsTest, WithoutALoginAControllerElsewhereIsNotEvenDialled) {
  for (const char* address : {"192.0.2.1:7443", "127.0.0.1:7443"}) {
    const Ran ran = Run({"status", "--controller", address});
    EXPECT_EQ(ran.code, 4);
    EXPECT_NE(ran.err.find("railctl login LINE"), std::string::npos) << ran.err;
  }
}

TEST_F(VerbsTest, AnAddressThatIsNoneIsAWrongCommandLine) {
  for (const Ran& ran : {Run({"status", "--controller", "GARBAGE"}),
                         Run({"status"}, {.controller = "GARBAGE", .input = "", .terminal = false})}) {
    EXPECT_EQ(ran.code, 64);
    EXPECT_NE(ran.err.find("address \"GARBAGE\": no port; expected unix:/path"), std::string::npos)
        << ran.err;
  }
}

}  // namespace
}  // namespace railwright::cli
