#include "agent/offline/command_line.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>

#include "agent/loop/pauses.h"
#include "agent/loop/run_options.h"
#include "agent/loop/state_dir.h"
#include "core/files/whole_file.h"
#include "tests/agent/temporary_directory.h"

namespace railwright::offline {
namespace {

using namespace std::chrono_literals;

struct Said {
  ExitCode code;
  std::string out, err;
};

Said Say(const std::vector<std::string>& words) {
  std::ostringstream out, err;
  const ExitCode code = Main(words, Console{out, err, {}});
  return {code, out.str(), err.str()};
}

TEST(CommandLine, AMistypedCommandIsAUsageErrorWithTheNearest) {
  const Said said = Say({"chekc"});
  EXPECT_EQ(said.code, ExitCode::kUsage);
  EXPECT_NE(said.err.find("unknown command \"chekc\"; did you mean \"check\"?"), std::string::npos)
      << said.err;
  EXPECT_EQ(said.out, "");
}

TEST(CommandLine, AMistypedOptionIsAUsageErrorWithTheNearest) {
  const Said said = Say({"check", "--snapshto", "x", "-f", "y"});
  EXPECT_EQ(said.code, ExitCode::kUsage);
  EXPECT_NE(said.err.find("did you mean \"--snapshot\"?"), std::string::npos) << said.err;
}

TEST(CommandLine, EveryUsageErrorIs64) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"check"},
                                                {"check", "-f"},
                                                {"check", "-f", "x", "-o", "xml"},
                                                {"record"},
                                                {"catalog", "extra"},
                                                {"status", "--state-dir"},
                                                {"--no-such"},
                                                {"record", "a", "b"},
                                                {"check", "-f", "x", "--port", "nonsense"},
                                                {"pause", "link.mtuu"}}) {
    const Said said = Say(words);
    EXPECT_EQ(said.code, ExitCode::kUsage) << (words.empty() ? "" : words[0]) << ": " << said.err;
    EXPECT_NE(said.err, "");
  }
}

TEST(CommandLine, HelpAndVersionAreDone) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"help"}, {"--help"}, {"check", "--help"}, {"--version"}, {"--help-all"}}) {
    const Said said = Say(words);
    EXPECT_EQ(said.code, ExitCode::kDone) << words[0];
    EXPECT_NE(said.out, "") << words[0];
    EXPECT_EQ(said.err, "") << words[0];
  }
}

TEST(Catalog, HasTheContractsShapeInJsonAndNamesEverySettingInEachFormat) {
  const Said json = Say({"catalog", "-o", "json"});
  ASSERT_EQ(json.code, ExitCode::kDone);
  const auto catalog = nlohmann::json::parse(json.out);
  ASSERT_FALSE(catalog["settings"].empty());
  const Said table = Say({"catalog"}), yaml = Say({"catalog", "-o", "yaml"});
  for (const auto& setting : catalog["settings"]) {
    for (const char* member : {"key", "help", "why", "targets", "syntax", "default", "disruption", "noticed"})
      EXPECT_TRUE(setting.contains(member)) << member;
    EXPECT_NE(table.out.find(setting["key"].get<std::string>()), std::string::npos);
    EXPECT_NE(yaml.out.find(setting["key"].get<std::string>()), std::string::npos);
  }
  EXPECT_TRUE(catalog["checks"].is_array());
}

class PauseCommand : public testing::Test {
 protected:
  std::vector<std::string> With(std::vector<std::string> words) const {
    words.insert(words.end(), {"--state-dir", directory_.path()});
    return words;
  }
  std::vector<Pause> Now() const {
    const auto text = ReadWhole(directory_.path() + "/paused.json");
    return text.ok() ? *ParsePauses(*text) : std::vector<Pause>{};
  }
  TemporaryDirectory directory_;
};

TEST_F(PauseCommand, StopsEverythingAndResumes) {
  const Said said = Say(With({"pause", "--reason", "cable test"}));
  EXPECT_EQ(said.code, ExitCode::kDone);
  ASSERT_EQ(Now().size(), 1U);
  EXPECT_EQ(Now()[0].key, "");
  EXPECT_EQ(Now()[0].reason, "cable test");
  EXPECT_NE(Now()[0].by, "");
  EXPECT_NE(said.err.find("no agent runs"), std::string::npos);
  EXPECT_EQ(Say(With({"pause", "--resume"})).code, ExitCode::kDone);
  EXPECT_FALSE(ReadWhole(directory_.path() + "/paused.json").ok());
}

TEST_F(PauseCommand, StopsOneKeyOrAFamilyAndEndsOnlyThat) {
  EXPECT_EQ(Say(With({"pause", "link.mtu"})).code, ExitCode::kDone);
  EXPECT_EQ(Say(With({"pause", "sysctl.<name>"})).code, ExitCode::kDone);
  EXPECT_EQ(Say(With({"pause", "sysctl.net/ipv4/conf/all/arp_ignore"})).code, ExitCode::kDone);
  EXPECT_EQ(Say(With({"pause", "link.mtu"})).code, ExitCode::kDone);
  ASSERT_EQ(Now().size(), 3U);
  EXPECT_EQ(Now()[1].key, "sysctl.net.ipv4.conf.all.arp_ignore") << "the one spelling";
  const Said said = Say(With({"pause", "--resume", "link.mtu"}));
  EXPECT_EQ(said.code, ExitCode::kDone);
  EXPECT_EQ(Now().size(), 2U);
  EXPECT_NE(said.out.find("still paused: sysctl.<name>"), std::string::npos) << said.out;
}

TEST_F(PauseCommand, ResumingWhatWasNotPausedSaysSo) {
  const Said said = Say(With({"pause", "--resume", "link.mtu"}));
  EXPECT_EQ(said.code, ExitCode::kDone);
  EXPECT_NE(said.out.find("link.mtu was not paused"), std::string::npos);
}

TEST_F(PauseCommand, ADamagedFileIsReplacedNotTrusted) {
  ASSERT_TRUE(WriteWholeFile(directory_.path() + "/paused.json", "{", {.sync = Sync::kNone}).ok());
  EXPECT_EQ(Say(With({"pause", "link.mtu"})).code, ExitCode::kDone);
  EXPECT_EQ(Now().size(), 1U);
}

TEST_F(PauseCommand, AStateDirectoryThatIsNotThereIsAnError) {
  const Said said = Say({"pause", "--state-dir", "/no/such/dir"});
  EXPECT_EQ(said.code, ExitCode::kFailed);
  EXPECT_NE(said.err.find("/no/such/dir"), std::string::npos);
}

TEST(StatusCommand, WithoutAStatusIsIncomplete) {
  TemporaryDirectory directory;
  const Said said = Say({"status", "--state-dir", directory.path()});
  EXPECT_EQ(said.code, ExitCode::kIncomplete);
  EXPECT_NE(said.err.find("railwright-agent run"), std::string::npos);
}

TEST(StatusCommand, ADamagedStatusIsSaid) {
  TemporaryDirectory directory;
  for (const char* text : {"{", "[]", "{\"agent\":{}}", "{\"nodes\":[],\"agent\":{}}"}) {
    ASSERT_TRUE(WriteWholeFile(directory.path() + "/status.json", text, {.sync = Sync::kNone}).ok());
    EXPECT_EQ(Say({"status", "--state-dir", directory.path()}).code, ExitCode::kFailed) << text;
  }
}

std::string StatusText(const char* verdict, bool complete, std::chrono::seconds age = 0s) {
  const auto written_at = std::chrono::system_clock::now().time_since_epoch() - age;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(written_at).count();
  return std::string(R"({"generation":7,"complete":)") + (complete ? "true" : "false") +
         R"(,"settled":true,"nodes":[{"name":"gpu-001","generation":7,"verdict":")" + verdict +
         R"(","last_seen":null,"findings":[{"code":"RW-1101","key":"link.mtu","target":"rail0","desired":"4200",
          "observed":"1500","verdict":")" +
         verdict + R"(","reason":"","message":"\u001b[31mred","fix":""}]}],
          "agent":{"pid":1,"controller":"unix:/x","session":"connected","missing_hints":[],"written_at_ms":)" +
         std::to_string(ms) + R"(},
          "pauses":[{"node":"","key":"","by":"root","reason":"x"}],"changes":[],"counters":{"scans":3}})";
}

TEST(StatusCommand, WhatADeadAgentSawIsNoEvidence) {
  TemporaryDirectory directory;
  ASSERT_TRUE(WriteWholeFile(directory.path() + "/status.json", StatusText("Compliant", true, 1h),
                             {.sync = Sync::kNone})
                  .ok());
  const Said json = Say({"status", "--state-dir", directory.path(), "-o", "json"});
  EXPECT_EQ(json.code, ExitCode::kIncomplete);
  const auto status = nlohmann::json::parse(json.out);
  EXPECT_EQ(status["complete"], false);
  EXPECT_EQ(status["agent"]["running"], false);
  EXPECT_GT(status["agent"]["age_ms"], 1'000'000);
  const Said table = Say({"status", "--state-dir", directory.path()});
  EXPECT_EQ(table.code, json.code) << "the same truth in every format";
  EXPECT_NE(table.out.find("not running"), std::string::npos);
}

TEST(StatusCommand, WhatAnAgentSawThatHangsIsNoEvidence) {
  TemporaryDirectory directory;
  const auto held = StateDir::Open(directory.path());
  ASSERT_TRUE(held.ok());
  ASSERT_TRUE(
      WriteWholeFile(held->status(), StatusText("Compliant", true, 100s), {.sync = Sync::kNone}).ok());
  EXPECT_EQ(Say({"status", "--state-dir", directory.path()}).code, ExitCode::kDone);
  ASSERT_TRUE(
      WriteWholeFile(held->status(), StatusText("Compliant", true, 130s), {.sync = Sync::kNone}).ok());
  const Said said = Say({"status", "--state-dir", directory.path()});
  EXPECT_EQ(said.code, ExitCode::kIncomplete);
  EXPECT_NE(said.out.find("the agent has not written its status for 13"), std::string::npos) << said.out;
}

TEST(StatusCommand, OfARunningAgentTellsItsVerdict) {
  TemporaryDirectory directory;
  const auto held = StateDir::Open(directory.path());
  ASSERT_TRUE(held.ok());
  const auto code = [&](const char* verdict, bool complete) {
    EXPECT_TRUE(WriteWholeFile(held->status(), StatusText(verdict, complete), {.sync = Sync::kNone}).ok());
    return Say({"status", "--state-dir", directory.path()}).code;
  };
  EXPECT_EQ(code("Compliant", true), ExitCode::kDone);
  EXPECT_EQ(code("Drifted", true), ExitCode::kDifferences);
  EXPECT_EQ(code("Pending", true), ExitCode::kDifferences);
  EXPECT_EQ(code("Unknown", false), ExitCode::kIncomplete);
  const Said said = Say({"status", "--state-dir", directory.path()});
  EXPECT_EQ(said.out.find('\033'), std::string::npos) << "a node's text never reaches the terminal raw";
  EXPECT_NE(said.out.find("everything by root: x"), std::string::npos);
}

TEST(RunOptionsTest, TheContractsLineIsUnderstood) {
  const auto parsed = ParseRunOptions(
      {"--name", "gpu-001", "--state-dir", "/s", "--scan-interval", "2.5", "--management-netdev", "eno1"});
  const auto* options = std::get_if<RunOptions>(&parsed);
  ASSERT_NE(options, nullptr) << std::get<RunText>(parsed).text;
  EXPECT_EQ(options->node, "gpu-001");
  EXPECT_EQ(options->scan_interval, std::chrono::milliseconds(2500));
  EXPECT_EQ(options->management_netdev, "eno1");
}

TEST(RunOptionsTest, WhatIsWrongIsAUsageError) {
  const std::vector<std::string> good{"--name", "gpu-001"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), good.begin(), good.end());
    return more;
  };
  for (const auto& words : {std::vector<std::string>{"--name", "a/b"},
                            {"--name", ""},
                            with({"--controller", "192.0.2.1:7443"}),
                            with({"--without-identity-or-encryption"}),
                            with({"--insecure"}),
                            with({"--scan-interval", "0"}),
                            with({"--scan-interval", "x"}),
                            with({"--firmware-interval", "0"}),
                            with({"--state-dri", "/s"}),
                            with({"extra"})}) {
    const auto parsed = ParseRunOptions(words);
    const auto* text = std::get_if<RunText>(&parsed);
    ASSERT_NE(text, nullptr);
    EXPECT_EQ(text->code, ExitCode::kUsage);
  }
  const auto parsed = ParseRunOptions(with({"--state-dri", "/s"}));
  EXPECT_NE(std::get<RunText>(parsed).text.find("did you mean \"--state-dir\"?"), std::string::npos);
}

}  // namespace
}  // namespace railwright::offline
