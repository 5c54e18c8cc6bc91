// The offline commands as programs: what they load, what they exit with, what they leave behind.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "agent/identity/identity_files.h"
#include "core/files/whole_file.h"
#include "tests/agent/temporary_directory.h"
#include "tests/e2e/programs.h"
#include "tests/support/test_signer.h"

namespace railwright {
namespace {

std::string Maps(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(OfflineAgent, OnlyTheHalfThatTalksToTheNetworkLoadsGrpc) {
  // The loader's own list: everything that is linked, however deep.
  const auto linked = [](const std::string& program) {
    const Ran ran = RunProgram({"/lib64/ld-linux-x86-64.so.2", "--list", Binary(program)});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  };
  const std::vector<const char*> any{"grpc", "libcurl", "libssl"}, joining{"grpc", "libcurl"};
  for (const auto& [program, banned] :
       {std::pair("railwright-agent-run", any), {"railwright-agent", joining}}) {
    const std::string libraries = linked(program);
    for (const char* of_the_network : banned)
      EXPECT_EQ(libraries.find(of_the_network), std::string::npos) << program << "\n" << libraries;
    EXPECT_NE(libraries.find("libprotobuf"), std::string::npos);
  }
  EXPECT_NE(linked("railwright-agent-front").find("libgrpc"), std::string::npos)
      << "or this test could not fail";
}

TEST(OfflineAgent, MapsNoGrpcWhileItWorks) {
  TemporaryDirectory directory;
  const std::string fifo = directory.path() + "/site.yaml";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  Child check({Binary("railwright-agent"), "check", "-f", fifo}, directory.path() + "/log");
  std::ofstream writer(fifo);  // returns once the agent has opened its end: it is in the middle of its work
  const std::string maps = Maps(check.pid());
  EXPECT_NE(maps.find("libprotobuf"), std::string::npos);
  EXPECT_EQ(maps.find("grpc"), std::string::npos);
  writer << "kind: Profile\n";
  writer.close();
  EXPECT_EQ(check.Wait(), 1);
}

TEST(OfflineAgent, UsageErrorsExitWith64AndNameTheNearest) {
  const Ran ran = RunProgram({Binary("railwright-agent"), "stauts"});
  EXPECT_EQ(ran.code, 64);
  EXPECT_NE(ran.err.find("did you mean \"status\"?"), std::string::npos) << ran.err;
  for (const char* gone : {"--controller", "--without-identity-or-encryption", "--insecure"})
    EXPECT_EQ(RunProgram({Binary("railwright-agent"), "run", gone, "192.0.2.7:7443"}).code, 64) << gone;
}

TEST(OfflineAgent, AStateDirectoryThatCannotBeUsedIsAClearErrorOfRun) {
  TemporaryDirectory directory;
  const auto run = [&](const std::string& state_dir) {
    return RunProgram({Binary("railwright-agent"), "run", "--state-dir", state_dir});
  };
  const Ran nowhere = run("/no/such/place");
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_NE(nowhere.err.find("/no/such/place"), std::string::npos) << nowhere.err;
  const Ran proc = run("/proc/self");
  EXPECT_NE(proc.code, 0);
  EXPECT_NE(proc.err.find("/proc/self"), std::string::npos);
  ASSERT_TRUE(WriteWholeFile(directory.path() + "/file", "", {.sync = Sync::kNone}).ok());
  EXPECT_EQ(run(directory.path() + "/file").code, 1);
}

TEST(OfflineAgent, ADamagedJournalStopsItBeforeItWrites) {
  TemporaryDirectory directory;
  ASSERT_TRUE(
      WriteWholeFile(directory.path() + "/journal", "{\"op\":\"original\"}\n{}\n", {.sync = Sync::kNone})
          .ok());
  ASSERT_TRUE(SaveNodeTrust(directory.path(), TestSigner().Trust()).ok());
  const Ran ran = RunProgram({Binary("railwright-agent"), "run", "--state-dir", directory.path()});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("/journal:1"), std::string::npos) << ran.err;
}

constexpr const char* kProfile =
    "kind: Profile\nname: this\nmode: enforce\nsettings:\n  sysctl.net.ipv4.conf.all.arp_ignore: 1\n  "
    "link.mtu: "
    "{fabric: 1500}\n";

TEST(OfflineAgent, ARecordedMachineAnswersAsTheMachineDid) {
  TemporaryDirectory directory;
  const std::string profile = directory.path() + "/p.yaml", snapshot = directory.path() + "/snapshot";
  std::ofstream(profile) << kProfile;
  const Ran recorded = RunProgram(
      {Binary("railwright-agent"), "record", snapshot, "--raw", "-f", profile, "--port", "rail0=fabric:lo"});
  ASSERT_EQ(recorded.code, 0) << recorded.err;
  const auto check = [&](std::vector<std::string> more) {
    std::vector<std::string> words{Binary("railwright-agent"), "check",  "-f",   profile, "--port",
                                   "rail0=fabric:lo",          "--node", "here", "-o",    "json"};
    words.insert(words.end(), more.begin(), more.end());
    return RunProgram(words);
  };
  const Ran live = check({}), replayed = check({"--snapshot", snapshot});
  EXPECT_EQ(live.code, replayed.code);
  auto a = nlohmann::json::parse(live.out), b = nlohmann::json::parse(replayed.out);
  a["nodes"][0].erase("last_seen");
  b["nodes"][0].erase("last_seen");
  EXPECT_EQ(a, b);
  EXPECT_EQ(a["summary"]["nodes"], 1);
  EXPECT_EQ(a["nodes"][0]["name"], "here");
}

TEST(OfflineAgent, ARecordingIsRedactedUnlessItIsToldNotToBe) {
  TemporaryDirectory directory;
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  const std::string snapshot = directory.path() + "/snapshot";
  ASSERT_EQ(RunProgram({Binary("railwright-agent"), "record", snapshot}).code, 0);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(snapshot)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const std::string text = ReadWhole(entry.path().string()).value_or("");
    for (const auto& netdev : std::filesystem::directory_iterator("/sys/class/net")) {
      std::string mac = ReadWhole(netdev.path().string() + "/address").value_or("");
      while (mac.ends_with('\n')) mac.pop_back();
      if (mac.size() == 17 && mac != "00:00:00:00:00:00") {
        EXPECT_EQ(text.find(mac), std::string::npos) << entry.path();
      }
    }
    if (std::string_view(host.data()).size() > 5) {
      EXPECT_EQ(text.find(host.data()), std::string::npos) << entry.path();
    }
  }
  EXPECT_GT(files, 10U);
}

TEST(OfflineAgent, RecordsOnlyIntoAnEmptyFolder) {
  TemporaryDirectory directory;
  std::ofstream(directory.path() + "/mine.txt") << "keep";
  const Ran ran = RunProgram({Binary("railwright-agent"), "record", directory.path()});
  EXPECT_EQ(ran.code, 64);
  EXPECT_EQ(ReadWhole(directory.path() + "/mine.txt").value_or(""), "keep");
}

TEST(OfflineAgent, CheckNamesEveryProblemWithItsPlace) {
  TemporaryDirectory directory;
  const std::string path = directory.path() + "/bad.yaml";
  std::ofstream(path) << "kind: Profile\nname: x\nmode: enforce\nsettings:\n  link.mtuu: {fabric: 1500}\n";
  const Ran ran = RunProgram({Binary("railwright-agent"), "check", "-f", path, "--port", "rail0=fabric:lo"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find(path + ":5:3: "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("link.mtu"), std::string::npos);
  EXPECT_EQ(ran.out, "");
}

}  // namespace
}  // namespace railwright
