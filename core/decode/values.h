// Values as operators write them: numbers and lists, with messages that name what was seen and what is
// allowed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// `text` without blanks, tabs, CR and LF at both ends.
std::string_view Trimmed(std::string_view text);
/// The non-empty pieces between any run of the characters in `separators`.
std::vector<std::string_view> Words(std::string_view text, std::string_view separators = " \t\r\n");
/// Lines without their "\n"; a last line without "\n" counts, an empty rest does not. "\r" is kept.
std::vector<std::string_view> Lines(std::string_view text);
/// The items with `separator` between them.
std::string Joined(const std::vector<std::string>& items, std::string_view separator);
/// For messages: in double quotes, control characters as \n \t \x07, cut after 80 characters with "…".
std::string Quoted(std::string_view text);

/// A whole decimal number min…max without sign, blanks or leading zeros. InvalidArgument:
/// `"017" is no whole number (leading zero); allowed: 68…65535`, where `allowed` replaces the range when
/// given.
Result<std::uint64_t> ParseWhole(std::string_view text, std::uint64_t min, std::uint64_t max,
                                 std::string_view allowed = {});

/// Whether `name` fits `pattern`, where "*" stands for any run of characters (also none) but "/".
bool FitsPattern(std::string_view pattern, std::string_view name);

/// The lines of a file of names such as /etc/railwright/sysctl.allow: blank lines and `#` comments left out,
/// with their line numbers from 1.
struct NumberedLine {
  int number = 0;
  std::string_view text;
};
std::vector<NumberedLine> ListFileLines(std::string_view text);

}  // namespace railwright
