// Node names as HPC users write them: "gpu-[001-128,200]".
#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "controller/fleet/quote.h"
#include "controller/fleet/resolve.h"

namespace railwright {

namespace {

using fleet::Quoted;

constexpr std::size_t kMostNames = 100'000;
constexpr std::size_t kLongestName = 63;   // one label of a host name, RFC 1035 §2.3.4
constexpr std::size_t kLongestDigits = 9;  // fits 32 bits; no site numbers further
constexpr std::size_t kLongestPattern = 65536;

bool Digit(char c) { return c >= '0' && c <= '9'; }

Status Bad(std::string_view pattern, std::string_view why) {
  return Status(Code::kInvalidArgument, Quoted(pattern) + ": " + std::string(why));
}

std::string Padded(std::uint32_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

Result<std::uint32_t> Number(std::string_view pattern, std::string_view digits) {
  std::uint32_t number = 0;
  const bool all = !digits.empty() && std::all_of(digits.begin(), digits.end(), Digit);
  if (!all) return Bad(pattern, Quoted(digits) + " is no number; write ranges such as [001-128,200]");
  if (digits.size() > kLongestDigits) return Bad(pattern, "a number has more than 9 digits");
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// The inside of one pair of brackets: "001-003,7" → 001 002 003 7.
Result<std::vector<std::string>> ExpandBracket(std::string_view pattern, std::string_view inside) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= inside.size();) {
    const std::size_t comma = std::min(inside.find(',', at), inside.size());
    const std::string_view part = inside.substr(at, comma - at);
    at = comma + 1;
    const std::size_t dash = part.find('-');
    const std::string_view low = part.substr(0, dash);
    RW_ASSIGN_OR_RETURN(const std::uint32_t from, Number(pattern, low));
    std::uint32_t to = from;
    if (dash != std::string_view::npos) {
      RW_ASSIGN_OR_RETURN(to, Number(pattern, part.substr(dash + 1)));
      if (to < from) return Bad(pattern, "the range " + std::string(part) + " runs backwards");
    }
    if (to - from >= kMostNames - std::min(out.size(), kMostNames))
      return Bad(pattern, "more than 100,000 names");
    for (std::uint32_t number = from; number <= to; ++number) out.push_back(Padded(number, low.size()));
  }
  return out;
}

// One pattern without a comma outside of brackets.
Status ExpandOne(std::string_view pattern, std::vector<std::string>& out) {
  std::vector<std::string> names{""};
  for (std::size_t at = 0; at < pattern.size();) {
    std::vector<std::string> pieces;
    if (pattern[at] == '[') {
      const std::size_t close = pattern.find(']', at);
      if (close == std::string_view::npos) return Bad(pattern, "a \"[\" is never closed");
      RW_ASSIGN_OR_RETURN(pieces, ExpandBracket(pattern, pattern.substr(at + 1, close - at - 1)));
      at = close + 1;
    } else {
      const std::size_t end = std::min(pattern.find('[', at), pattern.size());
      pieces.emplace_back(pattern.substr(at, end - at));
      at = end;
    }
    if (names.size() * pieces.size() + out.size() > kMostNames)
      return Bad(pattern, "more than 100,000 names");
    std::vector<std::string> longer;
    longer.reserve(names.size() * pieces.size());
    for (const std::string& name : names)
      for (const std::string& piece : pieces) {
        longer.push_back(name + piece);
        if (longer.back().size() > kLongestName) return Bad(pattern, "a name has more than 63 characters");
      }
    names = std::move(longer);
  }
  for (std::string& name : names) {
    const auto alphanumeric = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || Digit(c);
    };
    if (name.empty()) return Bad(pattern, "an empty name");
    for (const char c : name)
      if (!alphanumeric(c) && c != '-' && c != '_' && c != '.')
        return Bad(pattern, "a name holds letters, digits, \"-\", \"_\" and \".\" only");
    if (!alphanumeric(name[0])) return Bad(pattern, "a name begins with a letter or a digit");
    out.push_back(std::move(name));
  }
  return Ok();
}

// A name taken apart at its last run of digits.
struct Parts {
  std::string_view before, digits, after;
};
Parts TakeApart(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && !Digit(name[end - 1])) --end;
  if (end == 0) return {name, {}, {}};
  std::size_t begin = end;
  while (begin > 0 && Digit(name[begin - 1]) && end - begin < kLongestDigits) --begin;
  return {name.substr(0, begin), name.substr(begin, end - begin), name.substr(end)};
}

}  // namespace

Result<std::vector<std::string>> ExpandNames(std::string_view pattern) {
  if (pattern.size() > kLongestPattern) return Bad(pattern, "longer than 64 KiB");
  std::vector<std::string> out;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t at = 0; at <= pattern.size(); ++at) {
    if (at == pattern.size() || (pattern[at] == ',' && !inside)) {
      if (at == begin) return Bad(pattern, "an empty name");
      RW_RETURN_IF_ERROR(ExpandOne(pattern.substr(begin, at - begin), out));
      begin = at + 1;
    } else if (pattern[at] == '[') {
      if (inside) return Bad(pattern, "a \"[\" within brackets");
      inside = true;
    } else if (pattern[at] == ']') {
      if (!inside) return Bad(pattern, "a \"]\" that was never opened");
      inside = false;
    }
  }
  std::vector<std::string_view> sorted(out.begin(), out.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) return Bad(pattern, "names " + std::string(*twice) + " twice");
  return out;
}

std::string FoldNames(std::vector<std::string> names) {
  struct Range {
    std::string first, last;  // digits
    std::uint32_t last_number;
  };
  struct Group {
    std::vector<std::pair<std::uint32_t, std::string_view>> numbers;  // value, digits
  };
  // "login" and "login2" are no range: a name without digits stands by itself.
  std::map<std::tuple<std::string_view, bool, std::string_view>, Group> groups;
  for (const std::string& name : names) {
    const Parts parts = TakeApart(name);
    std::uint32_t number = 0;
    std::from_chars(parts.digits.data(), parts.digits.data() + parts.digits.size(), number);
    groups[{parts.before, !parts.digits.empty(), parts.after}].numbers.emplace_back(number, parts.digits);
  }
  std::string out;
  for (auto& [around, group] : groups) {
    std::sort(group.numbers.begin(), group.numbers.end());
    group.numbers.erase(std::unique(group.numbers.begin(), group.numbers.end()), group.numbers.end());
    std::vector<Range> ranges;
    std::unordered_map<std::string, std::size_t> goes_on;  // the digits that would continue a range → range
    for (const auto& [number, digits] : group.numbers) {
      std::size_t at = ranges.size();
      if (const auto found = goes_on.find(std::string(digits)); found != goes_on.end()) {
        at = found->second;
        goes_on.erase(found);
      }
      if (at == ranges.size()) ranges.push_back({std::string(digits), {}, 0});
      ranges[at].last = digits;
      ranges[at].last_number = number;
      if (!digits.empty()) goes_on.emplace(Padded(number + 1, ranges[at].first.size()), at);
    }
    if (!out.empty()) out += ',';
    out += std::get<0>(around);
    const bool brackets = ranges.size() > 1 || ranges[0].first != ranges[0].last;
    if (brackets) out += '[';
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (i > 0) out += ',';
      out += ranges[i].first;
      if (ranges[i].first == ranges[i].last) continue;
      out += '-';
      out += ranges[i].last;
    }
    if (brackets) out += ']';
    out += std::get<2>(around);
  }
  return out;
}

}  // namespace railwright
