#include "controller/cli/console.h"

#include <unistd.h>

#include <sstream>

namespace railwright::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRedraw{200};      // five times a second
constexpr milliseconds kSilence{1500};    // short waits draw nothing
constexpr milliseconds kLineEvery{2000};  // not a terminal: a line at most so often
constexpr milliseconds kLineAtLeast{10'000};

// `text` in at most `columns`; the line is redrawn, so it must not wrap.
std::string Fit(const std::string& text, const Terminal& terminal) {
  Table one({{.header = ""}});
  one.Add({text});
  Terminal narrow = terminal;
  if (narrow.width > 0) --narrow.width;  // the cursor stands behind it
  std::string line = one.Render(narrow, false);
  if (line.ends_with('\n')) line.pop_back();
  return line;
}

}  // namespace

Streams DetectStreams() {
  return {Terminal::Of(STDOUT_FILENO), Terminal::Of(STDERR_FILENO), isatty(STDIN_FILENO) == 1,
          isatty(STDERR_FILENO) == 1};
}

Console::Console(std::ostream& out, std::ostream& err, std::istream& in, Streams streams, const Clock& clock)
    : out_(out), err_(err), in_(in), streams_(streams), clock_(clock) {}

void Console::Print(std::string_view text) {
  EndLive();
  out_ << text;
}

void Console::Note(std::string_view text) {
  EraseLive();
  err_ << text;
  if (!text.ends_with('\n')) err_ << '\n';
  err_.flush();
}

void Console::Error(std::string_view message) {
  std::string text = Coloured("railctl:", Tone::kBad, streams_.err) + " ";
  for (const char c : message) {
    text += c;
    if (c == '\n') text += "  ";
  }
  Note(text);
}

void Console::Live(std::string text) {
  if (!live_any_) {
    live_any_ = true;
    live_since_ = drawn_at_ = clock_.Now();
    drawn_.clear();
  }
  live_ = std::move(text);
  Tick();
}

void Console::Tick() {
  if (!live_any_) return;
  const auto now = clock_.Now();
  if (now - live_since_ < kSilence) return;
  if (streams_.err_is_terminal) {
    if (live_shown_ && now - drawn_at_ < kRedraw) return;
    if (live_lines_ > 1) EraseLive();  // a single line is drawn over itself
    Draw();
  } else {
    if (now - drawn_at_ < kLineEvery) return;
    if (live_ == drawn_ && now - drawn_at_ < kLineAtLeast) return;
    err_ << live_ << '\n';
    drawn_ = live_;
  }
  err_.flush();
  drawn_at_ = now;
}

// The cursor is left at the end of the last line.
void Console::Draw() {
  err_ << '\r';
  live_lines_ = 0;
  std::istringstream lines(live_);
  for (std::string line; std::getline(lines, line);)
    err_ << (live_lines_++ > 0 ? "\n" : "") << Fit(line, streams_.err) << "\x1b[K";
  live_shown_ = true;
}

void Console::EraseLive() {
  if (!live_shown_) return;
  if (live_lines_ > 1)
    err_ << "\r\x1b[" << live_lines_ - 1 << "A\x1b[J";  // up, and all from there
  else
    err_ << "\r\x1b[K";
  live_shown_ = false;
}

void Console::EndLive() {
  if (live_shown_) {
    EraseLive();
    err_.flush();
  }
  live_any_ = false;
}

bool Console::Confirm(std::string_view question) {
  EndLive();
  out_.flush();
  err_ << question << " [y/N] ";
  err_.flush();
  std::string answer;
  if (!std::getline(in_, answer)) {
    err_ << '\n';
    return false;
  }
  while (!answer.empty() && (answer.back() == ' ' || answer.back() == '\r')) answer.pop_back();
  return answer == "y" || answer == "Y" || answer == "yes" || answer == "YES" || answer == "Yes";
}

bool Console::Flush() {
  EndLive();
  out_.flush();
  return out_.good();
}

}  // namespace railwright::cli
