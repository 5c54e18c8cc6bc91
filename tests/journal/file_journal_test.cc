#include "agent/journal/file_journal.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace railwright {
namespace {

namespace fs = std::filesystem;

class FileJournalTest : public testing::Test {
 protected:
  FileJournalTest() {
    folder_ = fs::temp_directory_path() / ("rw-journal-" + std::to_string(::getpid()) + "-" +
                                           testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~FileJournalTest() override { fs::remove_all(folder_); }

  std::string Path() const { return (folder_ / "journal").string(); }
  std::string Text() const {
    std::ifstream in(Path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void Write(const std::string& text) const {
    std::ofstream(Path(), std::ios::binary | std::ios::trunc) << text;
  }
  static std::size_t Lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  fs::path folder_;
};

// The sum of a line, as the README says.
std::string Fnv1a64(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash));
  return hex;
}

std::unique_ptr<Journal> MustOpen(const std::string& path) {
  auto journal = OpenFileJournal(path);
  EXPECT_TRUE(journal.ok()) << journal.status().ToString();
  return journal.ok() ? std::move(*journal) : nullptr;
}

TEST_F(FileJournalTest, KeepsOriginalsOpenStepsAndPreparedPathsOverAReopen) {
  {
    auto journal = MustOpen(Path());
    ASSERT_TRUE(journal->RecordOriginal({"link.mtu", "rail0", Original::Kind::kValue, "1500"}).ok());
    ASSERT_TRUE(journal->RecordOriginal({"nccl.DEBUG", "", Original::Kind::kAbsent, ""}).ok());
    ASSERT_TRUE(journal->RecordOriginal({"sysctl.x", "", Original::Kind::kUnknown, ""}).ok());
    ASSERT_TRUE(journal->Begin({"link.mtu", "rail0", "1500", "4200"}).ok());
    ASSERT_TRUE(journal->Begin({"link.mtu", "rail1", "1500", "4200"}).ok());
    ASSERT_TRUE(journal->End("link.mtu", "rail0").ok());
    ASSERT_TRUE(journal->RecordPrepared({"/sys/kernel/config/rdma_cm/mlx5_0"}).ok());
  }
  for (int opening = 0; opening < 2; ++opening) {  // the second one reads what the first compacted
    auto journal = MustOpen(Path());
    EXPECT_EQ(journal->Originals().size(), 3u);
    EXPECT_EQ(*journal->OriginalOf("link.mtu", "rail0"),
              (Original{"link.mtu", "rail0", Original::Kind::kValue, "1500"}));
    EXPECT_EQ(journal->OriginalOf("nccl.DEBUG", "")->kind, Original::Kind::kAbsent);
    EXPECT_EQ(journal->OriginalOf("sysctl.x", "")->kind, Original::Kind::kUnknown);
    EXPECT_FALSE(journal->OriginalOf("link.mtu", "rail1"));
    ASSERT_EQ(journal->OpenSteps().size(), 1u);
    EXPECT_EQ(journal->OpenSteps()[0].target, "rail1");
    EXPECT_EQ(journal->OpenSteps()[0].from, "1500");
    EXPECT_EQ(journal->OpenSteps()[0].to, "4200");
    EXPECT_EQ(journal->Prepared(), std::vector<std::string>{"/sys/kernel/config/rdma_cm/mlx5_0"});
  }
}

TEST_F(FileJournalTest, TheFirstOriginalIsKeptAndALaterOneIgnored) {
  auto journal = MustOpen(Path());
  ASSERT_TRUE(journal->RecordOriginal({"a", "", Original::Kind::kValue, "1"}).ok());
  ASSERT_TRUE(journal->RecordOriginal({"a", "", Original::Kind::kValue, "2"}).ok());
  EXPECT_EQ(journal->OriginalOf("a", "")->value, "1");
  journal = MustOpen(Path());
  EXPECT_EQ(journal->OriginalOf("a", "")->value, "1");
}

TEST_F(FileJournalTest, OfALaterOriginalOnlyWhatItMayDisturbIsTaken) {
  const auto original = [](const char* value, Disruption most) {
    return Original{"qos.pfc", "rail0", Original::Kind::kValue, value, most};
  };
  {
    auto journal = MustOpen(Path());
    ASSERT_TRUE(journal->RecordOriginal(original("none", Disruption::kTrafficBlip)).ok());
    EXPECT_EQ(Text().find("max_disruption"), std::string::npos) << "a line as older versions wrote it";
    ASSERT_TRUE(journal->RecordOriginal(original("3", Disruption::kLinkFlap)).ok());
    EXPECT_EQ(journal->OriginalOf("qos.pfc", "rail0"), original("none", Disruption::kLinkFlap));
  }
  for (int opening = 0; opening < 2; ++opening) {  // the second one reads what the first compacted
    auto journal = MustOpen(Path());
    EXPECT_EQ(journal->OriginalOf("qos.pfc", "rail0"), original("none", Disruption::kLinkFlap));
    EXPECT_EQ(Lines(Text()), 1u);
  }
  {
    auto journal = MustOpen(Path());
    ASSERT_TRUE(journal->RecordOriginal(original("3", Disruption::kTrafficBlip)).ok());
  }
  EXPECT_EQ(MustOpen(Path())->OriginalOf("qos.pfc", "rail0"), original("none", Disruption::kTrafficBlip));
}

TEST_F(FileJournalTest, AnOriginalOfAnUnknownDisruptionIsDataLoss) {
  const std::string head = R"({"key":"k","kind":"value","max_disruption":"Earthquake","op":"original",)";
  const std::string tail = R"("target":"","value":"1"})";
  Write(head + R"("sum":")" + Fnv1a64(head + tail) + R"(",)" + tail + "\n");
  const auto journal = OpenFileJournal(Path());
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(journal.status().code(), Code::kDataLoss);
  EXPECT_NE(journal.status().message().find("Earthquake"), std::string::npos) << journal.status().message();
}

TEST_F(FileJournalTest, AForgottenOriginalMayBeRecordedAnew) {
  auto journal = MustOpen(Path());
  ASSERT_TRUE(journal->RecordOriginal({"a", "", Original::Kind::kValue, "1"}).ok());
  ASSERT_TRUE(journal->Forget("a", "").ok());
  EXPECT_FALSE(journal->OriginalOf("a", ""));
  ASSERT_TRUE(journal->RecordOriginal({"a", "", Original::Kind::kValue, "2"}).ok());
  EXPECT_EQ(MustOpen(Path())->OriginalOf("a", "")->value, "2");
}

TEST_F(FileJournalTest, KeepsWhatWaitsForABootOverAReopenUntilItIsForgotten) {
  const auto at = std::chrono::system_clock::time_point(std::chrono::microseconds(1'795'996'800'000'001));
  const AwaitedBoot first{"nic.nvconfig.X", "rail0", "1", "boot-a", "28.39.1002", at};
  const AwaitedBoot other{"gpu.ecc", "", "on", "boot-a", "", at};
  {
    auto journal = MustOpen(Path());
    ASSERT_TRUE(journal->RecordAwaited({"nic.nvconfig.X", "rail0", "7", "boot-0", "", {}}).ok());
    ASSERT_TRUE(journal->RecordAwaited(first).ok());  // in its place
    ASSERT_TRUE(journal->RecordAwaited(first).ok());  // nothing new
    ASSERT_TRUE(journal->RecordAwaited(other).ok());
  }
  EXPECT_EQ(Lines(Text()), 3u);
  for (int opening = 0; opening < 2; ++opening) {  // the second one reads what the first compacted
    auto journal = MustOpen(Path());
    EXPECT_EQ(journal->Awaited().size(), 2u);
    EXPECT_EQ(journal->AwaitedOf("nic.nvconfig.X", "rail0"), first);
    EXPECT_EQ(journal->AwaitedOf("gpu.ecc", ""), other);
    EXPECT_EQ(Lines(Text()), 2u);
  }
  {
    auto journal = MustOpen(Path());
    ASSERT_TRUE(journal->ForgetAwaited("nic.nvconfig.X", "rail0").ok());
    ASSERT_TRUE(journal->ForgetAwaited("nic.nvconfig.X", "rail1").ok()) << "never known";
    EXPECT_FALSE(journal->AwaitedOf("nic.nvconfig.X", "rail0"));
  }
  EXPECT_EQ(MustOpen(Path())->Awaited(), std::vector<AwaitedBoot>{other});
}

OpenTry ATry() {
  OpenTry open;
  open.boot_id = "boot-a";
  open.begun = std::chrono::milliseconds(5'000);
  open.deadline = std::chrono::milliseconds(125'000);
  open.generation = {7};
  open.controller = true;
  open.steps = {{"link.mtu", "rail0", Original::Kind::kValue, "1500", "4200", {"rail0"}},
                {"file.x", "", Original::Kind::kAbsent, "", "\xff\n", {}}};
  open.evidence = {{"rail0",
                    true,
                    400'000,
                    {"fe80::1"},
                    {"10.10.0.2"},
                    "10.10.0.1/24",
                    "default via 10.10.0.254 dev rail0"},
                   {"rail1", false, 0, {}, {}, "", ""}};
  open.ports = {{"rail0", PortRole::kFabric, "0000:18:00.0", "", {"10.10.0.1/24"}, {"10.10.0.254"}},
                {"mgmt", PortRole::kManagement, "", "eno1", {}, {}}};
  return open;
}

TEST_F(FileJournalTest, KeepsAnOpenTryOverAReopenUntilItHasEnded) {
  OpenTry open = ATry();
  {
    auto journal = MustOpen(Path());
    EXPECT_FALSE(journal->Try());
    ASSERT_TRUE(journal->RecordTry(open).ok());
    open.deadline += std::chrono::milliseconds(1);
    ASSERT_TRUE(journal->RecordTry(open).ok());  // in its place
    ASSERT_TRUE(journal->RecordTry(open).ok());  // nothing new
  }
  EXPECT_EQ(Lines(Text()), 2u);
  for (int opening = 0; opening < 2; ++opening) {  // the second one reads what the first compacted
    auto journal = MustOpen(Path());
    ASSERT_TRUE(journal->Try());
    EXPECT_EQ(*journal->Try(), open);
    EXPECT_EQ(Lines(Text()), 1u);
  }
  ASSERT_TRUE(MustOpen(Path())->EndTry().ok());
  EXPECT_FALSE(MustOpen(Path())->Try());
  ASSERT_TRUE(MustOpen(Path())->EndTry().ok()) << "none is open";
}

TEST_F(FileJournalTest, KeepsWhatWasTriedInVainUntilItIsForgotten) {
  const FailedTry failed{"link.mtu", "rail0", {7}, "TryFailed", "the controller did not answer"};
  FailedTry other = failed;
  other.target = "rail1";
  {
    auto journal = MustOpen(Path());
    ASSERT_TRUE(journal->RecordFailedTry(failed).ok());
    ASSERT_TRUE(journal->RecordFailedTry(other).ok());
  }
  {
    auto journal = MustOpen(Path());
    EXPECT_EQ(journal->FailedTries(), (std::vector<FailedTry>{failed, other}));
    ASSERT_TRUE(journal->ForgetFailedTry("link.mtu", "rail0").ok());
  }
  EXPECT_EQ(MustOpen(Path())->FailedTries(), std::vector<FailedTry>{other});
}

TEST_F(FileJournalTest, ATryOfWhichAnythingIsDamagedIsDataLoss) {
  { ASSERT_TRUE(MustOpen(Path())->RecordTry(ATry()).ok()); }
  const std::string whole = Text();
  // Each time another member is made unreadable, under a sum that is right.
  for (const auto& [good, bad] : std::vector<std::pair<std::string, std::string>>{
           {R"("deadline_ms":"125000")", R"("deadline_ms":"-1")"},
           {R"("deadline_ms":"125000")", R"("deadline_ms":"18446744073709551615")"},
           {R"("controller":true)", R"("controller":1)"},
           {R"("kind":"absent")", R"("kind":"gone")"},
           {R"("role":"fabric")", R"("role":"queen")"},
           {R"("speed":"400000")", R"("speed":"fast")"},
           {R"("peers":["10.10.0.2"])", R"("peers":[7])"},
           {R"("steps":[)", R"("steps":[1,)"}}) {
    // "sum" stands last: no member of a try sorts after it.
    std::string line = whole.substr(0, whole.find(R"(,"sum":)")) + "}";
    const auto at = line.find(good);
    ASSERT_NE(at, std::string::npos) << good << line;
    line.replace(at, good.size(), bad);
    Write(line.substr(0, line.size() - 1) + R"(,"sum":")" + Fnv1a64(line) + "\"}\n");
    const auto journal = OpenFileJournal(Path());
    ASSERT_FALSE(journal.ok()) << bad;
    EXPECT_EQ(journal.status().code(), Code::kDataLoss) << bad;
    EXPECT_EQ(journal.status().message().find("checksum"), std::string::npos) << journal.status().message();
  }
}

TEST_F(FileJournalTest, AnAwaitedBootWithADamagedTimeIsDataLoss) {
  // Lines as this version writes them but for the time; their sums are right.
  for (const std::string since : {"", "12x", "9223372036854775807"}) {
    const std::string head =
        R"({"boot":"b","firmware":"","key":"k","op":"awaited","since":")" + since + R"(",)";
    const std::string tail = R"("target":"","value":"1"})";
    Write(head + R"("sum":")" + Fnv1a64(head + tail) + R"(",)" + tail + "\n");
    const auto journal = OpenFileJournal(Path());
    ASSERT_FALSE(journal.ok()) << since;
    EXPECT_EQ(journal.status().code(), Code::kDataLoss);
    EXPECT_NE(journal.status().message().find("\"since\""), std::string::npos) << journal.status().message();
  }
}

TEST_F(FileJournalTest, EveryByteOfAValueSurvives) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  every += "\xff\xfe\n\"\\\r\n\xc3\xa9";
  {
    auto journal = MustOpen(Path());
    ASSERT_TRUE(journal->RecordOriginal({"file./etc/x", every, Original::Kind::kValue, every}).ok());
    ASSERT_TRUE(journal->Begin({"file./etc/x", every, every, ""}).ok());
    ASSERT_TRUE(journal->RecordPrepared({every}).ok());
  }
  EXPECT_EQ(Lines(Text()), 3u);
  auto journal = MustOpen(Path());
  ASSERT_TRUE(journal->OriginalOf("file./etc/x", every));
  EXPECT_EQ(journal->OriginalOf("file./etc/x", every)->value, every);
  EXPECT_EQ(journal->OpenSteps().at(0).from, every);
  EXPECT_EQ(journal->Prepared().at(0), every);
}

TEST_F(FileJournalTest, ALineTornAtAnyByteIsDroppedAndTheLinesBeforeItStand) {
  {
    auto journal = MustOpen(Path());
    ASSERT_TRUE(journal->RecordOriginal({"a", "rail0", Original::Kind::kValue, "1"}).ok());
    ASSERT_TRUE(journal->Begin({"a", "rail0", "1", "2"}).ok());
    ASSERT_TRUE(journal->RecordOriginal({"b", "", Original::Kind::kValue, std::string("x\0y", 3)}).ok());
  }
  const std::string whole = Text();
  const std::size_t first = whole.find('\n') + 1;
  const std::size_t second = whole.find('\n', first) + 1;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    Write(whole.substr(0, size));
    auto journal = MustOpen(Path());
    ASSERT_NE(journal, nullptr) << "torn at byte " << size;
    EXPECT_EQ(journal->OriginalOf("a", "rail0").has_value(), size >= first) << "torn at byte " << size;
    EXPECT_EQ(journal->OpenSteps().size(), size >= second ? 1u : 0u) << "torn at byte " << size;
    EXPECT_EQ(journal->OriginalOf("b", "").has_value(), size == whole.size()) << "torn at byte " << size;
    // What is appended behind a torn line must be readable too.
    ASSERT_TRUE(journal->RecordOriginal({"c", "", Original::Kind::kValue, "3"}).ok());
    EXPECT_EQ(MustOpen(Path())->OriginalOf("c", "")->value, "3") << "torn at byte " << size;
  }
}

TEST_F(FileJournalTest, ALastLineWithUnwrittenBlocksIsTorn) {
  {
    auto journal = MustOpen(Path());
    ASSERT_TRUE(journal->RecordOriginal({"a", "", Original::Kind::kValue, "1"}).ok());
    ASSERT_TRUE(journal->RecordOriginal({"b", "", Original::Kind::kValue, "2"}).ok());
  }
  std::string text = Text();
  const std::size_t first = text.find('\n') + 1;
  for (std::size_t i = first + 5; i < first + 15; ++i) text[i] = '\0';
  Write(text);
  auto journal = MustOpen(Path());
  ASSERT_NE(journal, nullptr);
  EXPECT_TRUE(journal->OriginalOf("a", ""));
  EXPECT_FALSE(journal->OriginalOf("b", ""));
}

TEST_F(FileJournalTest, EndsWithUnwrittenBlocksAmongThemAreTornAndAnythingElseBehindThemIsDamage) {
  {
    auto journal = MustOpen(Path());
    for (const char* key : {"a", "b", "c"}) {
      ASSERT_TRUE(journal->RecordOriginal({key, "", Original::Kind::kValue, "1"}).ok());
      ASSERT_TRUE(journal->Begin({key, "", "1", "2"}).ok());
    }
    for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(journal->End(key, "").ok());
  }
  std::string text = Text();
  const std::size_t ends = text.find("\"op\":\"end\"");
  for (std::size_t i = ends; i < ends + 10; ++i) text[i] = '\0';
  const auto looks_again = [&] {
    Write(text);
    auto journal = MustOpen(Path());
    ASSERT_NE(journal, nullptr);
    EXPECT_EQ(journal->OpenSteps().size(), 3u);
    EXPECT_EQ(journal->Originals().size(), 3u);
    ASSERT_TRUE(journal->RecordOriginal({"d", "", Original::Kind::kValue, "1"}).ok());
  };
  looks_again();
  // The last record may be one whose sync had not been answered.
  const std::string original = Text().substr(Text().find("{\"key\":\"d\""));
  text += original;
  looks_again();
  // One behind it was written when it was synced: then the zeros were, too, and are damage.
  text += original;
  Write(text);
  EXPECT_EQ(OpenFileJournal(Path()).status().code(), Code::kDataLoss);
}

TEST_F(FileJournalTest, AnyFlippedByteBeforeTheLastNewlineIsDataLossThatNamesTheLine) {
  {
    auto journal = MustOpen(Path());
    ASSERT_TRUE(journal->RecordOriginal({"a", "rail0", Original::Kind::kValue, "1500"}).ok());
    ASSERT_TRUE(journal->RecordOriginal({"b", "rail0", Original::Kind::kValue, "1500"}).ok());
    ASSERT_TRUE(journal->RecordOriginal({"c", "rail0", Original::Kind::kValue, "1500"}).ok());
  }
  const std::string whole = Text();
  const std::size_t first = whole.find('\n') + 1;
  const std::size_t second = whole.find('\n', first) + 1;
  for (std::size_t at = first; at < second - 1; ++at) {
    std::string damaged = whole;
    damaged[at] = damaged[at] == '5' ? '6' : '5';
    Write(damaged);
    const auto journal = OpenFileJournal(Path());
    ASSERT_FALSE(journal.ok()) << "byte " << at;
    EXPECT_EQ(journal.status().code(), Code::kDataLoss) << "byte " << at;
    EXPECT_NE(journal.status().message().find(Path() + ":2:"), std::string::npos)
        << journal.status().message();
    EXPECT_EQ(Text(), damaged) << "a damaged journal must be left as it is";
  }
}

TEST_F(FileJournalTest, OpeningCompactsToWhatIsAlive) {
  {
    auto journal = MustOpen(Path());
    ASSERT_TRUE(journal->RecordOriginal({"a", "", Original::Kind::kValue, "1"}).ok());
    for (int round = 0; round < 50; ++round) {
      ASSERT_TRUE(journal->Begin({"a", "", "1", "2"}).ok());
      ASSERT_TRUE(journal->End("a", "").ok());
    }
  }
  EXPECT_EQ(Lines(Text()), 101u);
  EXPECT_TRUE(MustOpen(Path())->OriginalOf("a", ""));
  EXPECT_EQ(Lines(Text()), 1u);
  EXPECT_FALSE(fs::exists(Path() + ".new"));
}

TEST_F(FileJournalTest, AFightOverAKnobDoesNotGrowTheFileForEver) {
  auto journal = MustOpen(Path());
  ASSERT_TRUE(journal->RecordOriginal({"a", "", Original::Kind::kValue, "1"}).ok());
  const std::string large(100'000, 'x');
  for (int round = 0; round < 40; ++round) {
    ASSERT_TRUE(journal->Begin({"a", "", large, "2"}).ok());
    ASSERT_TRUE(journal->End("a", "").ok());
  }
  EXPECT_LT(fs::file_size(Path()), 2'000'000u);
  EXPECT_EQ(MustOpen(Path())->OriginalOf("a", "")->value, "1");
}

TEST_F(FileJournalTest, IsReadableByRootAlone) {
  auto journal = MustOpen(Path());
  struct stat info {};
  ASSERT_EQ(::stat(Path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
}

TEST_F(FileJournalTest, AFolderThatIsNotThereIsNotFoundAndNamed) {
  const auto journal = OpenFileJournal((folder_ / "none" / "journal").string());
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(journal.status().code(), Code::kNotFound);
  EXPECT_NE(journal.status().message().find("/none/journal"), std::string::npos);
}

TEST_F(FileJournalTest, ADirectoryInItsPlaceIsRefused) {
  fs::create_directory(Path());
  EXPECT_FALSE(OpenFileJournal(Path()).ok());
}

TEST_F(FileJournalTest, ALeftoverOfABrokenRewriteIsReplaced) {
  std::ofstream(Path() + ".new") << "half a li";
  auto journal = MustOpen(Path());
  ASSERT_TRUE(journal->RecordOriginal({"a", "", Original::Kind::kValue, "1"}).ok());
  EXPECT_EQ(MustOpen(Path())->OriginalOf("a", "")->value, "1");
}

}  // namespace
}  // namespace railwright
