#include "core/text/table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/text/exit_code.h"
#include "core/text/times.h"

namespace railwright {
namespace {

TEST(Table, LinesUpByDisplayWidthNotByBytes) {
  Table table({{"NODE"}, {"N", true}, {"NOTE"}});
  table.Add({"gpu-é", "7", "x"});
  table.Add({"機械", "12", "y"});
  table.Add({"a\u0301b", "1", ""});
  EXPECT_EQ(table.Render({}),
            "NODE    N  NOTE\n"
            "gpu-é   7  x\n"
            "機械   12  y\n"
            "a\u0301b      1\n");
}

TEST(Table, NoRowsGiveNoText) { EXPECT_EQ(Table({{"NODE"}}).Render({}), ""); }

TEST(Table, LongTextEndsInAnEllipsis) {
  Table table({{"A", false, 4}, {"B"}});
  table.Add({"abcdef", "a sentence that is long"});
  EXPECT_EQ(table.Render({}, false), "abc…  a sentence that is long\n");
  EXPECT_EQ(table.Render({.colour = false, .utf8 = true, .width = 18}, false), "abc…  a sentence …\n");
  EXPECT_EQ(table.Render({.colour = false, .utf8 = false, .width = 18}, false), "a...  a sentenc...\n");
}

TEST(Table, AWideCharacterIsNeverCutInHalf) {
  Table table({{"A", false, 4}});
  table.Add({"機械学習"});
  EXPECT_EQ(table.Render({}, false), "機…\n");
}

TEST(Table, ANodesTextCannotDriveTheTerminal) {
  Table table({{"A"}, {"B"}});
  table.Add({"\033]0;owned\007", "two\nlines\xff\xc2\x9b"});
  EXPECT_EQ(table.Render({}, false), "\\x1b]0;owned\\x07  two\\nlines\xef\xbf\xbd\\x9b\n");
}

TEST(Table, ColourIsOnlyThereWhenItIsWanted) {
  Table table({{"A"}});
  table.Add({Cell("bad", Tone::kBad)});
  EXPECT_EQ(table.Render({}, false), "bad\n");
  EXPECT_EQ(table.Render({.colour = true, .utf8 = true, .width = 0}, false), "\033[31mbad\033[0m\n");
}

TEST(Table, MissingCellsAreEmptyAndExtraOnesDropped) {
  Table table({{"A"}, {"B"}});
  table.Add({"x"});
  table.Add({"y", "z", "too many"});
  EXPECT_EQ(table.Render({}, false), "x\ny  z\n");
}

TEST(Printable, RefusesOverlongFormsAndSurrogates) {
  EXPECT_EQ(Printable("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(Printable("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(Printable("\xe2\x80\xae"), "\xef\xbf\xbd");
}

TEST(VerdictCell, EveryVerdictHasAGlyphAndItsWord) {
  EXPECT_EQ(VerdictCell(Verdict::kDrifted, {}).text, "✗ Drifted");
  EXPECT_EQ(VerdictCell(Verdict::kDrifted, {.colour = false, .utf8 = false, .width = 0}).text, "x Drifted");
  EXPECT_EQ(VerdictCell(Verdict::kUnknown, {}).text, "? Unknown");
}

class TerminalTest : public testing::Test {
 protected:
  void SetUp() override {
    master_ = posix_openpt(O_RDWR | O_NOCTTY);
    ASSERT_GE(master_, 0);
    ASSERT_EQ(grantpt(master_), 0);
    ASSERT_EQ(unlockpt(master_), 0);
    slave_ = open(ptsname(master_), O_RDWR | O_NOCTTY);
    ASSERT_GE(slave_, 0);
    for (const char* name : {"NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"}) unsetenv(name);
    setenv("TERM", "xterm", 1);
  }
  void TearDown() override {
    close(slave_);
    close(master_);
  }
  int master_ = -1, slave_ = -1;
};

TEST_F(TerminalTest, ATerminalGetsColourUnlessToldOtherwise) {
  EXPECT_TRUE(Terminal::Of(slave_).colour);
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(Terminal::Of(slave_).colour);
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(Terminal::Of(slave_).colour);
}

TEST_F(TerminalTest, APipeNeverGetsColour) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(Terminal::Of(ends[1]).colour);
  EXPECT_TRUE(Terminal::Of(ends[1]).utf8);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(TerminalTest, GlyphsFollowTheLocale) {
  EXPECT_FALSE(Terminal::Of(slave_).utf8);
  setenv("LANG", "C.UTF-8", 1);
  EXPECT_TRUE(Terminal::Of(slave_).utf8);
  setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(Terminal::Of(slave_).utf8);
}

TEST(Times, AreReadable) {
  using namespace std::chrono_literals;
  using std::chrono::system_clock;
  EXPECT_EQ(Rfc3339(system_clock::time_point(1796040000250ms)), "2026-11-30T12:00:00.250Z");
  EXPECT_EQ(Rfc3339(system_clock::time_point(-1ms)), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(Ago(300ms), "just now");
  EXPECT_EQ(Ago(-5s), "just now");
  EXPECT_EQ(Ago(119s), "119s ago");
  EXPECT_EQ(Ago(30min), "30m ago");
  EXPECT_EQ(Ago(47h), "47h ago");
  EXPECT_EQ(Ago(72h), "3d ago");
  EXPECT_EQ(Took(840us), "840 µs");
  EXPECT_EQ(Took(12'400us), "12.4 ms");
  EXPECT_EQ(Took(3'100ms), "3.1 s");
  EXPECT_EQ(Took(125s), "2m 05s");
}

TEST(Gravest, FollowsTheOrderOfTheContract) {
  using enum ExitCode;
  EXPECT_EQ(Gravest({}), kDone);
  EXPECT_EQ(Gravest({kIncomplete, kDifferences}), kDifferences);
  EXPECT_EQ(Gravest({kDifferences, kFailed}), kFailed);
  EXPECT_EQ(Gravest({kTimedOut, kIncomplete}), kIncomplete);
  EXPECT_EQ(Gravest({kUnreachable, kNotPermitted}), kNotPermitted);
  EXPECT_EQ(Gravest({kStopped, kStalePlan}), kStalePlan);
}

}  // namespace
}  // namespace railwright
