#include "controller/cli/console.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/sim_clock.h"

namespace railwright::cli {
namespace {

using std::chrono::milliseconds;

struct Rig {
  std::ostringstream out, err;
  std::istringstream in;
  SimClock clock;
  Console console;

  explicit Rig(bool terminal, const std::string& input = "", std::size_t width = 0)
      : in(input), console(out, err, in, MakeStreams(terminal, width), clock) {}
  static Streams MakeStreams(bool terminal, std::size_t width) {
    Streams streams;
    streams.in_is_terminal = streams.err_is_terminal = terminal;
    streams.err.width = width;
    return streams;
  }
};

TEST(ConsoleTest, AShortWaitShowsNothing) {
  for (const bool terminal : {false, true}) {
    Rig rig(terminal);
    rig.console.Live("waiting for the controller");
    rig.clock.Advance(milliseconds(1400));
    rig.console.Tick();
    rig.console.EndLive();
    EXPECT_EQ(rig.err.str(), "");
  }
}

TEST(ConsoleTest, InAPipeALineComesWhenItChangedAndAtMostEveryTwoSeconds) {
  Rig rig(false);
  for (int i = 0; i < 100; ++i) {  // ten seconds, a new text each tenth
    rig.console.Live("step " + std::to_string(i));
    rig.clock.Advance(milliseconds(100));
  }
  const std::string text = rig.err.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);  // after 2, 4, 6 and 8 seconds
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

TEST(ConsoleTest, InAPipeAStandingWaitIsRepeatedEveryTenSeconds) {
  Rig rig(false);
  rig.console.Live("waiting for gpu-004");
  for (int i = 0; i < 320; ++i) {
    rig.clock.Advance(milliseconds(100));
    rig.console.Tick();
  }
  const std::string text = rig.err.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);  // at 2, 12, 22 and 32 seconds
}

TEST(ConsoleTest, OnATerminalTheLineIsRedrawnCutToItsWidthAndTakenAway) {
  Rig rig(true, "", 20);
  rig.console.Live("generation 42: waiting for gpu-[001-999]");
  rig.clock.Advance(milliseconds(2000));
  rig.console.Tick();
  EXPECT_EQ(rig.err.str(), "\rgeneration 42: wai…\x1b[K");
  rig.clock.Advance(milliseconds(100));
  rig.console.Tick();  // too soon
  EXPECT_EQ(rig.err.str(), "\rgeneration 42: wai…\x1b[K");
  rig.console.Print("data\n");
  EXPECT_TRUE(rig.err.str().ends_with("\r\x1b[K"));
  EXPECT_EQ(rig.out.str(), "data\n");
}

TEST(ConsoleTest, AFewLinesAreRedrawnTogetherEachCutToTheWidth) {
  Rig rig(true, "", 20);
  rig.console.Live("wave 2 of 3\ngpu-003: has not settled yet");
  rig.clock.Advance(milliseconds(2000));
  rig.console.Tick();
  EXPECT_EQ(rig.err.str(), "\rwave 2 of 3\x1b[K\ngpu-003: has not s…\x1b[K");
  rig.err.str("");
  rig.console.Live("wave 3 of 3");
  rig.clock.Advance(milliseconds(200));
  rig.console.Tick();
  EXPECT_EQ(rig.err.str(), "\r\x1b[1A\x1b[J\rwave 3 of 3\x1b[K");
  rig.console.EndLive();
  EXPECT_TRUE(rig.err.str().ends_with("\r\x1b[K"));
}

TEST(ConsoleTest, ANoteDoesNotMixWithTheLiveLine) {
  Rig rig(true);
  rig.console.Live("waiting");
  rig.clock.Advance(milliseconds(2000));
  rig.console.Tick();
  rig.console.Note("gpu-003 failed");
  EXPECT_TRUE(rig.err.str().ends_with("\r\x1b[Kgpu-003 failed\n"));
}

TEST(ConsoleTest, OnlyYesIsYes) {
  for (const char* answer : {"y\n", "yes\n", "Y\n", "y \n", "y\r\n"})
    EXPECT_TRUE(Rig(true, answer).console.Confirm("?")) << answer;
  for (const char* answer : {"", "\n", "n\n", "no\n", "yeah\n", "q\n", " \n"})
    EXPECT_FALSE(Rig(true, answer).console.Confirm("?")) << answer;
}

TEST(ConsoleTest, NobodyIsAskedWithoutATerminal) {
  EXPECT_TRUE(Rig(true).console.CanAsk());
  EXPECT_FALSE(Rig(false).console.CanAsk());
}

TEST(ConsoleTest, ErrorsAreIndentedBelowTheirFirstLine) {
  Rig rig(false);
  rig.console.Error("what happened\nnext: do this");
  EXPECT_EQ(rig.err.str(), "railctl: what happened\n  next: do this\n");
}

TEST(ConsoleTest, OutputThatCannotBeWrittenIsNoticed) {
  Rig rig(false);
  rig.out.setstate(std::ios::badbit);
  EXPECT_FALSE(rig.console.Flush());
}

}  // namespace
}  // namespace railwright::cli
