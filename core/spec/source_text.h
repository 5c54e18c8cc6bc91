// The bytes of a file before YAML sees them: encoding, lines, excerpts, the split into documents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/spec/loader.h"

namespace railwright::spec {

/// Collects the problems of one text, at most kMostProblems and one that says that there are more.
class Problems {
 public:
  Problems(std::string_view file, std::string_view text, int first_line)
      : file_(file), text_(text), first_line_(first_line) {}

  /// `width`: characters to underline. A place past the end is moved to the last line that holds something.
  void Add(Place place, std::string message, int width = 1);
  /// About the whole file.
  void AddForFile(std::string message);
  bool full() const { return list_.size() > kMostProblems; }
  std::size_t size() const { return list_.size(); }
  std::vector<Problem> Take();

 private:
  std::string file_;
  std::string_view text_;
  int first_line_;
  std::vector<std::size_t> starts_;  // of the lines, made with the first problem
  std::vector<Problem> list_;
};

/// The first place whose bytes no document may hold: invalid UTF-8, NUL and other control characters,
/// carriage returns without a line feed, characters that reorder text on the screen. "" = none.
struct BadBytes {
  Place place;
  std::string message;
};
BadBytes FindBadBytes(std::string_view text, int first_line);

/// Length of the valid UTF-8 sequence at `at`, and its code point; 0 when it is not valid.
int Utf8At(std::string_view text, std::size_t at, char32_t& code);

/// One document of a file: from after its "---" line (or with it, when that line holds content).
struct Slice {
  std::string_view text;   ///< without blank lines at its ends; comments belong to it
  int line = 1;            ///< of the file, at which `text` begins
  int marker_line = 0;     ///< line of the "---" before it; 0 = none
  bool empty = true;       ///< nothing but comments
  int directive_line = 0;  ///< of its first "%…" line; 0 = none
};
/// YAML 1.2.2 §9.1: a "---" or "..." at the start of a line always ends the document before it.
std::vector<Slice> SplitDocuments(std::string_view text, int first_line);

}  // namespace railwright::spec
