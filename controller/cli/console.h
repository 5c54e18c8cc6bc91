// Console: stdout for data, stderr for everything else, and one live line that never mixes with either.
#pragma once

#include <istream>
#include <ostream>
#include <string>
#include <string_view>

#include "core/text/table.h"
#include "railwright/clock.h"

namespace railwright::cli {

/// What stands behind the three streams.
struct Streams {
  Terminal out, err;  ///< how to write there
  bool in_is_terminal = false, err_is_terminal = false;
};
/// Asks the process's own descriptors and environment.
Streams DetectStreams();

/// One thread uses it.
class Console {
 public:
  Console(std::ostream& out, std::ostream& err, std::istream& in, Streams streams, const Clock& clock);

  /// Data, to stdout.
  void Print(std::string_view text);
  /// A line (or several) for a person, to stderr.
  void Note(std::string_view text);
  /// "railctl: <message>" to stderr; further lines are indented.
  void Error(std::string_view message);

  /// What is being waited for, a line or a few. On a terminal it is redrawn in place, at most five times a
  /// second; elsewhere it is a line when it changed and 2 s have passed, or 10 s have. Waits under 1.5 s show
  /// nothing. `Tick` gives time to a line that stands.
  void Live(std::string text);
  void Tick();
  void EndLive();

  /// Whether a question can be asked: stdin and stderr are terminals.
  bool CanAsk() const { return streams_.in_is_terminal && streams_.err_is_terminal; }
  /// Whether a person sees the live line move.
  bool live_is_drawn() const { return streams_.err_is_terminal; }
  /// "question [y/N] "; anything but y or yes, the end of the input and Ctrl-C are no.
  bool Confirm(std::string_view question);

  std::istream& in() { return in_; }
  /// False when stdout took no more (disk full, closed).
  bool Flush();

  const Terminal& out_terminal() const { return streams_.out; }
  const Terminal& err_terminal() const { return streams_.err; }
  void NoColour() { streams_.out.colour = streams_.err.colour = false; }
  const Clock& clock() const { return clock_; }

 private:
  void Draw();
  void EraseLive();

  std::ostream& out_;
  std::ostream& err_;
  std::istream& in_;
  Streams streams_;
  const Clock& clock_;

  std::string live_, drawn_;
  bool live_any_ = false;       // something is being waited for
  bool live_shown_ = false;     // a line of it stands on the terminal
  std::size_t live_lines_ = 0;  // so many of it
  Clock::Steady live_since_{}, drawn_at_{};
};

}  // namespace railwright::cli
