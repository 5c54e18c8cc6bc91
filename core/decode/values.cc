#include "core/decode/values.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace railwright {

namespace {
constexpr std::string_view kBlanks = " \t\r\n";
}

std::string_view Trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> Words(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(separators, at)) != std::string_view::npos) {
    const auto end = std::min(text.find_first_of(separators, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string Joined(const std::vector<std::string>& items, std::string_view separator) {
  std::string all;
  for (const auto& item : items) {
    if (&item != &items.front()) all += separator;
    all += item;
  }
  return all;
}

std::string Quoted(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (c == '\r') {
      quoted += "\\r";
    } else if (byte < 0x20 || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      quoted += escaped;
    } else {
      quoted += c;
    }
  }
  return quoted + (text.size() > kLongest ? "…\"" : "\"");
}

Result<std::uint64_t> ParseWhole(std::string_view text, std::uint64_t min, std::uint64_t max,
                                 std::string_view allowed) {
  const std::string range =
      allowed.empty() ? std::to_string(min) + "…" + std::to_string(max) : std::string(allowed);
  const auto refuse = [&](std::string_view why) {
    return Status(Code::kInvalidArgument, Quoted(text) + " " + std::string(why) + "; allowed: " + range);
  };
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
    return refuse("is no whole number");
  if (text.size() > 1 && text.front() == '0') return refuse("is no whole number (leading zero)");
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > max) return refuse("is too large");
  if (value < min) return refuse("is too small");
  return value;
}

bool FitsPattern(std::string_view pattern, std::string_view name) {
  // Greedy with one step back to the last "*": linear in practice, never exponential.
  std::size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos && name[resume] != '/') {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<NumberedLine> ListFileLines(std::string_view text) {
  std::vector<NumberedLine> kept;
  int number = 0;
  for (std::string_view line : Lines(text)) {
    ++number;
    line = Trimmed(line.substr(0, std::min(line.find('#'), line.size())));
    if (!line.empty()) kept.push_back({number, line});
  }
  return kept;
}

}  // namespace railwright
