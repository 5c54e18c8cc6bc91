#include "core/decode/mixed_value.h"

#include <algorithm>

#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::string_view kMixed = "mixed: ";

}  // namespace

std::string MixedText(const NamedValues& values) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const auto& one : values) {
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == one.second; });
    if (same != groups.end())
      same->second.push_back(one.first);
    else
      groups.push_back({one.second, {one.first}});
  }
  if (groups.empty()) return {};
  if (groups.size() == 1) return groups.front().first;
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::vector<std::string> counts;
  for (const auto& [value, names] : groups) counts.push_back(value + " " + std::to_string(names.size()));
  std::string text = std::string(kMixed) + Joined(counts, ", ");
  for (std::size_t i = 1; i < groups.size(); ++i)
    text += "; " + groups[i].first + ": " + Joined(groups[i].second, " ");
  return text;
}

Result<NamedValues> ParseMixed(std::string_view text, const std::vector<std::string>& names) {
  const auto refuse = [&] {
    return Status(Code::kInvalidArgument, Quoted(text) + " is no value, nor who has which");
  };
  std::string_view most = text;
  std::string_view rest;
  if (text.starts_with(kMixed)) {
    const auto head = text.substr(kMixed.size());
    most = head.substr(0, head.find(", "));
    most = most.substr(0, most.rfind(' '));
    const auto semicolon = head.find("; ");
    if (semicolon == std::string_view::npos || most.empty()) return refuse();
    rest = head.substr(semicolon + 2);
  }
  NamedValues values;
  for (const std::string& name : names) values.emplace_back(name, most);
  while (!rest.empty()) {
    const auto end = std::min(rest.find("; "), rest.size());
    const auto group = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 2, rest.size()));
    const auto colon = group.find(": ");
    if (colon == std::string_view::npos) return refuse();
    for (const std::string_view name : Words(group.substr(colon + 2), " ")) {
      const auto found =
          std::find_if(values.begin(), values.end(), [&](const auto& one) { return one.first == name; });
      if (found == values.end()) return refuse();
      found->second = group.substr(0, colon);
    }
  }
  return values;
}

}  // namespace railwright
