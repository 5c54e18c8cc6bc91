#include "core/decode/dscp_map.h"

#include <algorithm>
#include <bitset>

#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::string_view kOnly = "only ";
constexpr std::string_view kAllowed =
    "default, or DSCP:PRIORITY pairs such as 26:3,48:6 or 24-31:3 (0…63, 0…7)";

bool IsDscp(const DcbApp& app) { return app.selector == DcbApp::kDscp; }

/// Numbers of "24-31:3".
struct Range {
  std::uint64_t first = 0, last = 0;
  std::uint8_t priority = 0;
};

Result<Range> ParseRange(std::string_view word) {
  const auto colon = word.find(':');
  if (colon == std::string_view::npos)
    return Status(Code::kInvalidArgument,
                  Quoted(word) + " is no DSCP:PRIORITY; allowed: " + std::string(kAllowed));
  const auto dscps = word.substr(0, colon);
  const auto dash = dscps.find('-');
  Range range;
  RW_ASSIGN_OR_RETURN(range.first, ParseWhole(dscps.substr(0, dash), 0, kDscps - 1, kAllowed));
  range.last = range.first;
  if (dash != std::string_view::npos) {
    RW_ASSIGN_OR_RETURN(range.last, ParseWhole(dscps.substr(dash + 1), 0, kDscps - 1, kAllowed));
    if (range.last < range.first)
      return Status(Code::kInvalidArgument,
                    Quoted(word) + " ends before it begins; allowed: " + std::string(kAllowed));
  }
  RW_ASSIGN_OR_RETURN(const auto priority, ParseWhole(word.substr(colon + 1), 0, 7, kAllowed));
  range.priority = static_cast<std::uint8_t>(priority);
  return range;
}

std::string Pair(std::size_t first, std::size_t last, std::uint8_t priority) {
  return std::to_string(first) + (last == first ? "" : "-" + std::to_string(last)) + ":" +
         std::to_string(priority);
}

}  // namespace

DscpMap DscpMap::Default() {
  DscpMap map;
  for (std::size_t dscp = 0; dscp < kDscps; ++dscp) map.priority[dscp] = static_cast<std::uint8_t>(dscp >> 3);
  return map;
}

Result<DscpMap> DscpMap::Parse(std::string_view text) {
  DscpMap map = Default();
  const auto words = Words(text, ", \t");
  if (words.size() == 1 && words[0] == "default") return map;
  if (words.empty()) return Status(Code::kInvalidArgument, "no DSCP map; allowed: " + std::string(kAllowed));
  std::bitset<kDscps> named;
  for (const auto word : words) {
    RW_ASSIGN_OR_RETURN(const Range range, ParseRange(word));
    for (auto dscp = range.first; dscp <= range.last; ++dscp) {
      if (named.test(dscp))
        return Status(Code::kInvalidArgument, Quoted(text) + " names DSCP " + std::to_string(dscp) +
                                                  " twice; allowed: " + std::string(kAllowed));
      named.set(dscp);
      map.priority[dscp] = range.priority;
    }
  }
  return map;
}

std::string DscpMap::Text() const {
  const DscpMap usual = Default();
  std::vector<std::string> pairs;
  for (std::size_t dscp = 0; dscp < kDscps; ++dscp) {
    if (priority[dscp] == usual.priority[dscp]) continue;
    std::size_t last = dscp;
    while (last + 1 < kDscps && priority[last + 1] == priority[dscp] &&
           priority[last + 1] != usual.priority[last + 1])
      ++last;
    pairs.push_back(Pair(dscp, last, priority[dscp]));
    dscp = last;
  }
  return pairs.empty() ? "default" : Joined(pairs, ",");
}

ListedDscps::ListedDscps(const std::vector<DcbApp>& table) {
  std::copy_if(table.begin(), table.end(), std::back_inserter(entries), IsDscp);
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
}

std::size_t ListedDscps::count() const {
  std::size_t different = 0;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (i == 0 || entries[i].protocol != entries[i - 1].protocol) ++different;
  return different;
}

std::string ListedDscps::Text() const {
  if (entries.empty()) return {};
  if (entries.size() == kDscps && count() == kDscps && entries.back().protocol == kDscps - 1) {
    DscpMap map;
    for (std::size_t dscp = 0; dscp < kDscps; ++dscp) map.priority[dscp] = entries[dscp].priority;
    return map.Text();
  }
  std::vector<std::string> pairs;
  for (const DcbApp& app : entries) pairs.push_back(Pair(app.protocol, app.protocol, app.priority));
  return std::string(kOnly) + Joined(pairs, ",");
}

Result<std::vector<DcbApp>> ParseOnlyDscps(std::string_view text) {
  if (!text.starts_with(kOnly))
    return Status(Code::kInvalidArgument, Quoted(text) + " does not begin with \"only\"");
  std::vector<DcbApp> entries;
  for (const auto word : Words(text.substr(kOnly.size()), ",")) {
    RW_ASSIGN_OR_RETURN(const Range range, ParseRange(word));
    for (auto dscp = range.first; dscp <= range.last; ++dscp)
      entries.push_back({DcbApp::kDscp, static_cast<std::uint16_t>(dscp), range.priority});
  }
  return entries;
}

std::vector<DcbApp> WithDscpMap(const std::vector<DcbApp>& table, const DscpMap& map) {
  std::vector<DcbApp> with = WithoutDscps(table);
  for (std::size_t dscp = 0; dscp < kDscps; ++dscp)
    with.push_back({DcbApp::kDscp, static_cast<std::uint16_t>(dscp), map.priority[dscp]});
  return with;
}

std::vector<DcbApp> WithoutDscps(const std::vector<DcbApp>& table) {
  std::vector<DcbApp> without;
  std::copy_if(table.begin(), table.end(), std::back_inserter(without),
               [](const DcbApp& app) { return !IsDscp(app); });
  return without;
}

}  // namespace railwright
