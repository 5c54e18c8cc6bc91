// `railwright-agent join` and `doctor` against a real port.
#include "agent/offline/join.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "agent/identity/identity_files.h"
#include "agent/offline/command_line.h"
#include "core/files/whole_file.h"
#include "tests/enrol/enrolment_fixture.h"

namespace railwright::offline {
namespace {

namespace fs = std::filesystem;
using identity::Must, identity::NewKey;

struct Said {
  ExitCode code;
  std::string out, err;
};

class JoinCommand : public EnrolmentFixture {
 protected:
  JoinCommand() { Open(); }
  std::string StateDir() const { return node_.path() + "/state"; }
  Said Say(std::vector<std::string> words) const {
    words.insert(words.end(), {"--state-dir", StateDir()});
    std::ostringstream out, err;
    const ExitCode code = Main(words, Console{out, err, {}});
    return {code, out.str(), err.str()};
  }
  static std::vector<std::string> Words(const identity::JoinLine& line) {
    return {"join", line.controller.Text(), "--token", std::string(line.token.Text().Reveal()),
            "--ca", line.ca.Text()};
  }
  Said SayLine(const identity::JoinLine& line, std::vector<std::string> more = {}) const {
    auto words = Words(line);
    words.insert(words.end(), more.begin(), more.end());
    return Say(words);
  }
  Said FromInput(const std::string& text) const {
    std::istringstream in(text);
    std::ostringstream out, err;
    JoinOptions options;
    options.line = "-";
    options.input = &in;
    options.name = "gpu-001";
    options.state_dir = StateDir();
    const ExitCode code = JoinCluster(options, Console{out, err, {}});
    return {code, out.str(), err.str()};
  }
  TemporaryDirectory node_;
};

TEST_F(JoinCommand, ANodeJoinsAndDoctorFindsAllButTheController) {
  const auto keep_open = Token();
  const Said said = SayLine(Line(), {"--name", "gpu-001"});
  EXPECT_EQ(said.code, ExitCode::kDone) << said.err;
  EXPECT_NE(said.out.find("joined pod-a as gpu-001"), std::string::npos) << said.out;
  const auto front = Must(LoadFrontIdentity(StateDir()));
  EXPECT_EQ(Must(Judge(front.chain)).name, "gpu-001");
  EXPECT_EQ(front.enrolment, std::vector{Here()});
  const auto trust = Must(LoadNodeTrust(StateDir()));
  EXPECT_EQ(trust.signers.keys, identity_.signers().keys);
  EXPECT_EQ(trust.uuid, front.uuid);
  EXPECT_FALSE(fs::exists(StateDir() + "/join")) << "the key is in one place";
  const Said doctor = Say({"doctor", "-o", "json"});
  const auto seen = nlohmann::json::parse(doctor.out);
  for (const auto& check : seen["checks"]) {
    // Nothing serves agents in this test.
    const bool controller = check["check"].get<std::string>().starts_with("controller");
    EXPECT_EQ(check["verdict"], controller ? "Drifted" : "Compliant") << check.dump();
  }
  EXPECT_EQ(doctor.code, ExitCode::kUnreachable) << doctor.out;
}

TEST_F(JoinCommand, ALineOnStandardInputIsTakenToo) {
  const auto line = Line();
  const Said said = FromInput(std::string(line.Text().Reveal()) + "\n");
  EXPECT_EQ(said.code, ExitCode::kDone) << said.err;
  Must(LoadFrontIdentity(StateDir()));
}

TEST_F(JoinCommand, WhatIsNoLineIsAUsageErrorThatQuotesNothing) {
  const auto line = Line();
  const std::string token(line.token.Text().Reveal());
  EXPECT_EQ(FromInput("railwright-agent join " + token + " --token x --ca y").code, ExitCode::kUsage);
  EXPECT_EQ(FromInput("").code, ExitCode::kUsage);
  for (const auto& words : {std::vector<std::string>{"join"},
                            {"join", token, "--token", line.controller.Text(), "--ca", line.ca.Text()},
                            {"join", line.controller.Text(), "--token", token},
                            {"join", "--line", "-", "--token", token},
                            {"join", "--line", "file"}}) {
    const Said said = Say(words);
    EXPECT_EQ(said.code, ExitCode::kUsage) << said.err;
    EXPECT_EQ(said.err.find(token.substr(14)), std::string::npos) << said.err;
  }
  EXPECT_FALSE(fs::exists(StateDir()));
}

TEST_F(JoinCommand, ASecondJoinIsRefusedUnlessAgain) {
  ASSERT_EQ(SayLine(Line(), {"--name", "gpu-001"}).code, ExitCode::kDone);
  const auto before = Must(LoadFrontIdentity(StateDir()));
  const auto line = Line();
  const Said refused = SayLine(line, {"--name", "gpu-001"});
  EXPECT_EQ(refused.code, ExitCode::kFailed);
  EXPECT_NE(refused.err.find("--again"), std::string::npos) << refused.err;
  EXPECT_EQ(Must(registry_.Tokens()).size(), 1u) << "the token was not spent on it";
  const Said taken = SayLine(line, {"--name", "gpu-001", "--again"});
  EXPECT_EQ(taken.code, ExitCode::kNotPermitted);
  EXPECT_NE(taken.err.find("railctl node evict gpu-001"), std::string::npos) << taken.err;
  EXPECT_EQ(Must(LoadFrontIdentity(StateDir())).uuid, before.uuid)
      << "what was there stays until the new is whole";
  ASSERT_TRUE(registry_.SetStanding(MemberKind::kNode, "gpu-001", Standing::kEvicted, "", alice_).ok());
  EXPECT_EQ(SayLine(line, {"--name", "gpu-001", "--again"}).code, ExitCode::kDone);
  const auto after = Must(LoadFrontIdentity(StateDir()));
  EXPECT_NE(after.uuid, before.uuid);
  EXPECT_NE(after.key.public_key(), before.key.public_key());
}

TEST_F(JoinCommand, KilledBeforeItAskedItAsksWithTheSameKey) {
  auto line = Line();
  auto nobody = line.controller;
  nobody.port = 1;
  const Said unreached = Say({"join", nobody.Text(), "--token", std::string(line.token.Text().Reveal()),
                              "--ca", line.ca.Text(), "--name", "gpu-001"});
  EXPECT_EQ(unreached.code, ExitCode::kUnreachable) << unreached.err;
  EXPECT_NE(unreached.err.find("Connection refused"), std::string::npos) << unreached.err;
  const auto pending =
      Must(identity::PrivateKey::FromPem(Must(ReadPrivateFile(StateDir() + "/join/key.pem", 4096))));
  EXPECT_EQ(SayLine(line, {"--name", "gpu-001"}).code, ExitCode::kDone);
  EXPECT_EQ(Must(LoadFrontIdentity(StateDir())).key.public_key(), pending.public_key());
}

TEST_F(JoinCommand, KilledAfterTheTokenWasSpentTheSameLineGoesOn) {
  const auto line = Line();
  const auto keep_open = Token();
  const auto key = NewKey();
  fs::create_directories(StateDir() + "/join");
  ASSERT_TRUE(WriteWholeFile(StateDir() + "/join/key.pem", Must(key.ToPem()).Reveal()).ok());
  Must(registry_.Join(line.token, key.public_key(), "gpu-001", "127.0.0.1"));
  const Said said = SayLine(line, {"--name", "gpu-001"});
  EXPECT_EQ(said.code, ExitCode::kDone) << said.err;
  const auto front = Must(LoadFrontIdentity(StateDir()));
  EXPECT_EQ(front.renewals, 2u);
  EXPECT_EQ(Must(Judge(front.chain)).name, "gpu-001");
}

TEST_F(JoinCommand, AWriteThatFailsLeavesANodeThatTheSameLineJoins) {
  const auto line = Line();
  const auto keep_open = Token();
  fs::create_directories(StateDir() + "/front/chain.pem/in-the-way");
  const Said broken = SayLine(line, {"--name", "gpu-001", "--again"});
  EXPECT_EQ(broken.code, ExitCode::kFailed);
  EXPECT_NE(broken.err.find("the same line again"), std::string::npos) << broken.err;
  fs::remove_all(StateDir() + "/front");
  const Said said = SayLine(line, {"--name", "gpu-001"});
  EXPECT_EQ(said.code, ExitCode::kDone) << said.err;
  EXPECT_EQ(Must(Judge(Must(LoadFrontIdentity(StateDir())).chain)).name, "gpu-001");
}

TEST_F(JoinCommand, AWrongPinAndAUsedTokenAreNotPermitted) {
  auto line = Line();
  const auto keep_open = Token();
  const auto right = line.ca;
  line.ca = identity::NodeKey().pin();
  const Said pin = SayLine(line, {"--name", "gpu-001"});
  EXPECT_EQ(pin.code, ExitCode::kNotPermitted);
  EXPECT_NE(pin.err.find("was told nothing"), std::string::npos) << pin.err;
  line.ca = right;
  Must(registry_.Join(line.token, identity::NodeKey(), "gpu-009", "127.0.0.1"));
  const Said used = SayLine(line, {"--name", "gpu-001"});
  EXPECT_EQ(used.code, ExitCode::kNotPermitted);
  EXPECT_NE(used.err.find("unknown, used up or expired"), std::string::npos) << used.err;
}

TEST_F(JoinCommand, TheFrontsUserMayReachItsOwnFolder) {
  EXPECT_EQ(SayLine(Line(), {"--name", "gpu-001", "--front-user", "no-such-user"}).code, ExitCode::kUsage);
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const Said said = SayLine(Line(), {"--name", "gpu-001", "--front-user", "nobody"});
  ASSERT_EQ(said.code, ExitCode::kDone) << said.err;
  struct stat state {
  }, front{}, trust{};
  ASSERT_EQ(::stat(StateDir().c_str(), &state), 0);
  ASSERT_EQ(::stat((StateDir() + "/front/key.pem").c_str(), &front), 0);
  ASSERT_EQ(::stat((StateDir() + "/trust").c_str(), &trust), 0);
  EXPECT_EQ(state.st_mode & 0777, 0711u);
  EXPECT_EQ(front.st_uid, 65534u);
  EXPECT_EQ(trust.st_uid, 0u);
}

TEST_F(JoinCommand, TheProgramWipesTheTokenFromItsCommandLine) {
  const auto token = Must(identity::JoinToken::Generate()).Text();
  const std::string program = std::string(RAILWRIGHT_BINARY_DIR) + "/bin/railwright-agent";
  std::vector<std::string> words{program,
                                 "join",
                                 "127.0.0.1:1",
                                 "--token",
                                 std::string(token.Reveal()),
                                 "--ca",
                                 identity_.ca_pin().Text(),
                                 "--state-dir",
                                 StateDir()};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  // It tries for more than a second; the loader and its first lines take milliseconds.
  bool wiped = false;
  int status = 0;
  while (!wiped && ::waitpid(child, &status, WNOHANG) == 0) {
    const auto line = ReadWholeFile("/proc/" + std::to_string(child) + "/cmdline", 65536);
    wiped = line.ok() && line->find("--token") != std::string::npos &&
            line->find(token.Reveal()) == std::string::npos;
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(wiped);
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ExitCode::kUnreachable));
}

TEST_F(JoinCommand, DoctorOfANodeThatHasNotJoinedSaysHow) {
  const Said said = Say({"doctor"});
  EXPECT_EQ(said.code, ExitCode::kDifferences);
  EXPECT_NE(said.out.find("railctl token create"), std::string::npos) << said.out;
}

}  // namespace
}  // namespace railwright::offline
