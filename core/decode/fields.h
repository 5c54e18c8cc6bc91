// Lists of `name=value` separated by blanks: how Machine shows several values that the kernel keeps together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// An ordered list of named values. Names are unique; neither names nor values hold blanks.
class Fields {
 public:
  Fields() = default;
  /// "rx=1024 tx=512" → two fields. Any run of blanks separates. InvalidArgument names the word without "=",
  /// with an empty name, or that came twice.
  static Result<Fields> Parse(std::string_view text);

  /// Appends, or replaces the value where it stands.
  void Set(std::string_view name, std::string_view value);
  void Set(std::string_view name, std::uint64_t value);
  /// nullptr when there is none.
  const std::string* Find(std::string_view name) const;
  /// The value as a decimal number. NotFound when there is no such field; InvalidArgument when it is no
  /// number.
  Result<std::uint64_t> Number(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& all() const { return fields_; }
  bool empty() const { return fields_.empty(); }
  /// "rx=1024 tx=512", in the order they were set.
  std::string Text() const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

/// A whole decimal number without sign or blanks. InvalidArgument otherwise, and beyond 64 bits.
Result<std::uint64_t> ParseNumber(std::string_view text);
/// Lines of a set-valued path: empty lines dropped, blanks at both ends removed, sorted, each once.
std::vector<std::string> SortedLines(std::string_view text);
/// The reverse: one item a line, no newline at the end.
std::string JoinLines(const std::vector<std::string>& lines);

}  // namespace railwright
