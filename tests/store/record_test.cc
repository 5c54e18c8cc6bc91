#include "controller/store/record.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/store/temp_dir.h"

namespace railwright {
namespace {

TEST(RecordTest, EveryNumberAndTextComesBack) {
  RecordWriter out;
  const std::uint64_t numbers[] = {0, 1, 127, 128, 16383, 16384, ~0ull};
  for (const auto n : numbers) out.Number(n);
  out.Signed(-1).Text("").Text(std::string("a\0b", 3));
  RecordReader in(out.bytes());
  for (const auto n : numbers) EXPECT_EQ(in.Number(), n);
  EXPECT_EQ(in.Signed(), -1);
  EXPECT_EQ(in.Text(), "");
  EXPECT_EQ(in.Text(), std::string("a\0b", 3));
  EXPECT_TRUE(in.Done());
}

TEST(RecordTest, DifferentFieldsNeverGiveTheSameBytes) {
  EXPECT_NE(RecordWriter().Text("ab").Text("c").bytes(), RecordWriter().Text("a").Text("bc").bytes());
  EXPECT_NE(RowDigest("a", "bc"), RowDigest("ab", "c"));
}

TEST(RecordTest, FindingsAndChangesComeBack) {
  const auto write = MakeWrite("n", 7, Verdict::kDrifted);
  std::vector<Finding> findings;
  ASSERT_TRUE(DecodeFindings(EncodeFindings(write.report.report.findings), findings));
  EXPECT_EQ(findings, write.report.report.findings);
  ChangeRecord change;
  ASSERT_TRUE(DecodeChange(EncodeChange(write.changes[0]), change));
  EXPECT_EQ(EncodeChange(change), EncodeChange(write.changes[0]));
  EXPECT_EQ(change.took.count(), 1234);
}

TEST(RecordTest, ATryIsKeptBesideTheRestoresAndItsAbsenceIsTheOlderFormat) {
  const std::vector<std::pair<std::string, KeyTarget>> restores{{"gpu-001", {"link.mtu", "rail0"}}};
  std::vector<std::pair<std::string, KeyTarget>> read;
  std::uint64_t try_ms = 7;
  ASSERT_TRUE(DecodeRestores(EncodeRestores(restores, 90'000), read, &try_ms));
  EXPECT_EQ(read, restores);
  EXPECT_EQ(try_ms, 90'000u);
  const std::string plain = EncodeRestores(restores);
  EXPECT_EQ(plain[0], 1) << "an older controller reads it";
  ASSERT_TRUE(DecodeRestores(plain, read, &try_ms));
  EXPECT_EQ(try_ms, 0u);
  EXPECT_FALSE(DecodeRestores(EncodeRestores(restores, 90'000) + "x", read));
}

TEST(RecordTest, CutOrFlippedBytesAreRefusedOrHarmlessNeverACrash) {
  const std::string good = EncodeFindings(MakeWrite("n", 1).report.report.findings);
  std::vector<Finding> findings;
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(DecodeFindings(std::string_view(good).substr(0, size), findings)) << size;
  EXPECT_FALSE(DecodeFindings(good + "x", findings));
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int n = 0; n < 3; ++n) bad[random() % bad.size()] = static_cast<char>(random());
    (void)DecodeFindings(bad, findings);
    ChangeRecord change;
    (void)DecodeChange(bad, change);
    std::vector<std::pair<std::string, KeyTarget>> restores;
    (void)DecodeRestores(bad, restores);
  }
}

}  // namespace
}  // namespace railwright
