#include "agent/loop/change_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/files/whole_file.h"
#include "tests/agent/temporary_directory.h"

namespace railwright {
namespace {

ChangeRecord Change(const std::string& key) {
  ChangeRecord change;
  change.kind = ChangeKind::kCorrective;
  change.key = key;
  change.target = "rail0";
  change.from = "1500";
  change.to = "4200";
  change.by = "nft[4711]";
  change.noticed = "event";
  change.ok = true;
  change.message = "line\nof \"text\"";
  change.generation.value = 7;
  change.at = std::chrono::system_clock::time_point(std::chrono::microseconds(1'796'040'000'123'456));
  change.took = std::chrono::microseconds(912);
  change.with_link = true;
  return change;
}

std::vector<std::uint64_t> Numbers(const ChangeLog& log) {
  std::vector<std::uint64_t> numbers;
  for (const ChangeRecord& change : log.pending()) numbers.push_back(change.sequence);
  return numbers;
}
using N = std::vector<std::uint64_t>;

class ChangeLogTest : public testing::Test {
 protected:
  TemporaryDirectory temporary_;
  const std::string path_ = temporary_.path() + "/changes.jsonl";
};

TEST_F(ChangeLogTest, EverythingIsThereAfterARestart) {
  {
    ChangeLog log(path_);
    ASSERT_TRUE(log.Open().ok());
    ASSERT_TRUE(log.Append({Change("a"), Change("b")}).ok());
  }
  ChangeLog log(path_);
  ASSERT_TRUE(log.Open().ok());
  EXPECT_EQ(Numbers(log), (N{1, 2}));
  ChangeRecord expected = Change("b");
  expected.sequence = 2;
  const ChangeRecord& seen = log.pending()[1];
  EXPECT_EQ(seen.key, "b");
  EXPECT_EQ(seen.kind, expected.kind);
  EXPECT_EQ(seen.from, expected.from);
  EXPECT_EQ(seen.to, expected.to);
  EXPECT_EQ(seen.by, expected.by);
  EXPECT_EQ(seen.noticed, expected.noticed);
  EXPECT_EQ(seen.message, expected.message);
  EXPECT_EQ(seen.generation, expected.generation);
  EXPECT_EQ(seen.at, expected.at);
  EXPECT_EQ(seen.took, expected.took);
  EXPECT_EQ(seen.with_link, expected.with_link);
  EXPECT_TRUE(seen.ok);
}

TEST_F(ChangeLogTest, NumbersNeverRepeatAlsoWhenAllWasStored) {
  {
    ChangeLog log(path_);
    ASSERT_TRUE(log.Open().ok());
    ASSERT_TRUE(log.Append({Change("a"), Change("b")}).ok());
    log.Acknowledge(2);
    EXPECT_TRUE(log.pending().empty());
  }
  for (int restart = 0; restart < 3; ++restart) {
    ChangeLog log(path_);
    ASSERT_TRUE(log.Open().ok());
    log.Acknowledge(2);
    EXPECT_EQ(log.next(), 3U);
  }
}

TEST_F(ChangeLogTest, ATornLastLineIsDroppedAndItsNumberMayComeAgain) {
  {
    ChangeLog log(path_);
    ASSERT_TRUE(log.Open().ok());
    ASSERT_TRUE(log.Append({Change("a"), Change("b")}).ok());
  }
  const std::string whole = *ReadWhole(path_);
  const auto second = whole.find('\n', whole.find('\n') + 1) + 1;
  for (std::size_t cut = second; cut < whole.size(); cut += 7) {
    ASSERT_TRUE(WriteWholeFile(path_, whole.substr(0, cut), {.sync = Sync::kNone}).ok());
    ChangeLog log(path_);
    ASSERT_TRUE(log.Open().ok());
    EXPECT_EQ(Numbers(log), N{1}) << cut;
    ASSERT_TRUE(log.Append({Change("c")}).ok());
    EXPECT_EQ(log.pending().back().key, "c");
  }
}

TEST_F(ChangeLogTest, DamagedLinesAreLeftOutAndCounted) {
  {
    ChangeLog log(path_);
    ASSERT_TRUE(log.Open().ok());
    ASSERT_TRUE(log.Append({Change("a"), Change("b"), Change("c")}).ok());
  }
  std::string text = *ReadWhole(path_);
  text.replace(text.find("\"b\""), 3, "\xff\xff\xff");
  ASSERT_TRUE(
      WriteWholeFile(path_, text + "not json\n[1]\n{\"kind\":\"drift\"}\n", {.sync = Sync::kNone}).ok());
  ChangeLog log(path_);
  ASSERT_TRUE(log.Open().ok());
  EXPECT_EQ(Numbers(log), (N{1, 3}));
  EXPECT_EQ(log.damaged(), 4U);
  EXPECT_EQ(log.next(), 4U);
}

TEST_F(ChangeLogTest, ALostFileGoesOnAboveWhatTheControllerHas) {
  ChangeLog log(path_);
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({Change("a"), Change("b")}).ok());
  ASSERT_TRUE(log.Adopt(1000).ok());
  EXPECT_EQ(Numbers(log), (N{1001, 1002}));
  ChangeLog again(path_);
  ASSERT_TRUE(again.Open().ok());
  EXPECT_EQ(Numbers(again), (N{1001, 1002}));
  EXPECT_EQ(again.next(), 1003U);
}

TEST_F(ChangeLogTest, AWelcomeThatKnowsLessThanWasGivenDropsWhatIsStored) {
  ChangeLog log(path_);
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({Change("a"), Change("b"), Change("c")}).ok());
  ASSERT_TRUE(log.Adopt(2).ok());
  EXPECT_EQ(Numbers(log), N{3});
}

TEST_F(ChangeLogTest, WhatCouldNotBeWrittenIsNotShownUntilItIs) {
  ChangeLog log(path_);
  ASSERT_TRUE(log.Open().ok());
  ASSERT_TRUE(log.Append({Change("a")}).ok());
  const std::string elsewhere = temporary_.path() + "-away";
  std::filesystem::rename(temporary_.path(), elsewhere);
  EXPECT_FALSE(log.Append({Change("b")}).ok());
  EXPECT_EQ(Numbers(log), N{1});
  std::filesystem::rename(elsewhere, temporary_.path());
  ASSERT_TRUE(log.Append({Change("c")}).ok());
  EXPECT_EQ(Numbers(log), (N{1, 2, 3}));
  ChangeLog again(path_);
  ASSERT_TRUE(again.Open().ok());
  EXPECT_EQ(Numbers(again), (N{1, 2, 3}));
}

TEST_F(ChangeLogTest, TheFileStaysShortWhenAllIsStored) {
  ChangeLog log(path_);
  ASSERT_TRUE(log.Open().ok());
  std::vector<ChangeRecord> many(2000, Change("a"));
  ASSERT_TRUE(log.Append(many).ok());
  log.Acknowledge(2000);
  EXPECT_LT(std::filesystem::file_size(path_), 100U);
  ChangeLog again(path_);
  ASSERT_TRUE(again.Open().ok());
  EXPECT_EQ(again.next(), 2001U);
}

TEST_F(ChangeLogTest, TheOldestGoWhenNobodyStoresThem) {
  ChangeLog log(path_);
  ASSERT_TRUE(log.Open().ok());
  const std::vector<ChangeRecord> many(ChangeLog::kMost, Change("a"));
  ASSERT_TRUE(log.Append(many).ok());
  ASSERT_TRUE(log.Append({Change("b"), Change("c")}).ok());
  EXPECT_EQ(log.pending().size(), ChangeLog::kMost);
  EXPECT_EQ(log.pending().front().sequence, 3U);
  EXPECT_EQ(log.dropped(), 2U);
}

}  // namespace
}  // namespace railwright
