// Tables for a terminal: columns that line up in any script, colour only where it is wanted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/state.h"

namespace railwright {

/// What a piece of text means; colour follows from it and is never the only carrier.
enum class Tone : std::uint8_t { kPlain, kGood, kWarn, kBad, kDim, kStrong };

struct Cell {
  std::string text;
  Tone tone = Tone::kPlain;
  Cell(std::string text_in = {}, Tone tone_in = Tone::kPlain)  // NOLINT: implicit on purpose
      : text(std::move(text_in)), tone(tone_in) {}
  Cell(const char* text_in) : text(text_in) {}  // NOLINT: implicit on purpose
};

struct Column {
  std::string header;
  bool right = false;         ///< numbers
  std::size_t max_width = 0;  ///< terminal columns; longer text ends in "…"; 0 = as wide as it gets
};

/// How to write for the place where the output goes.
struct Terminal {
  bool colour = false;
  bool utf8 = true;       ///< false: "…" becomes "...", the glyphs of verdicts become ASCII
  std::size_t width = 0;  ///< columns; the last column of a table is cut to fit; 0 = never cut

  /// Of an open descriptor: colour only on a terminal and not with NO_COLOR (not empty) or TERM=dumb; UTF-8
  /// by LC_ALL, LC_CTYPE, LANG; the width by TIOCGWINSZ, 0 when it is no terminal.
  static Terminal Of(int fd);
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Missing cells are empty; cells beyond the last column are dropped.
  void Add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  /// Two blanks between columns, no trailing blanks, a newline after each row. No rows: "".
  std::string Render(const Terminal& terminal, bool headers = true) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// Terminal columns that `text` takes: wide characters are 2, combining ones 0.
std::size_t DisplayWidth(std::string_view text);
/// `text` as it may go to a terminal: control characters shown as \n, \t, \x1b …, invalid UTF-8 as U+FFFD.
/// What a node reports can thus never move a cursor or change a title. Newlines too are shown, so that a cell
/// stays a line.
std::string Printable(std::string_view text);
/// `text` in the colour of `tone`, or unchanged without colour.
std::string Coloured(std::string_view text, Tone tone, const Terminal& terminal);
/// "✓ Compliant", "✗ Drifted", "… Pending", "- NotApplicable", "? Unknown"; ASCII: "+", "x", "~", "-", "?".
Cell VerdictCell(Verdict verdict, const Terminal& terminal);

}  // namespace railwright
