#include "core/decode/nft_tables.h"

namespace railwright::nft {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// The text behind `"key": "` in an object without strings that need escapes; nothing otherwise.
std::optional<std::string> Member(std::string_view object, std::string_view key) {
  const auto at = object.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  object.remove_prefix(at + key.size());
  auto next = object.find_first_not_of(kBlanks);
  if (next == std::string_view::npos || object[next] != ':') return std::nullopt;
  next = object.find_first_not_of(kBlanks, next + 1);
  if (next == std::string_view::npos || object[next] != '"') return std::nullopt;
  const auto end = object.find_first_of("\"\\", next + 1);
  if (end == std::string_view::npos || object[end] == '\\') return std::nullopt;
  return std::string(object.substr(next + 1, end - next - 1));
}

}  // namespace

std::optional<std::vector<std::pair<std::string, std::string>>> TableNames(std::string_view json) {
  constexpr std::string_view kKey = "\"table\"";
  std::vector<std::pair<std::string, std::string>> names;
  bool listing = false;
  int depth = 0;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth == 0 && at + 1 < json.size() &&
        json.find_first_not_of(kBlanks, at + 1) != std::string_view::npos)
      return std::nullopt;  // more than one value
    if (c != '"') continue;
    // A string: up to the next quote that is not escaped.
    const std::size_t begin = at;
    for (at = json.find_first_of("\"\\", at + 1); at != std::string_view::npos && json[at] == '\\';
         at = json.find_first_of("\"\\", at + 2)) {
    }
    if (at == std::string_view::npos) return std::nullopt;  // cut
    const std::string_view text = json.substr(begin, at + 1 - begin);
    listing = listing || (depth == 1 && text == "\"nftables\"");
    if (depth != 3 || text != kKey) continue;
    auto next = json.find_first_not_of(kBlanks, at + 1);
    if (next == std::string_view::npos || json[next] != ':') continue;
    next = json.find_first_not_of(kBlanks, next + 1);
    if (next == std::string_view::npos || json[next] != '{') continue;
    const auto end = json.find('}', next);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view object = json.substr(next, end - next);
    auto family = Member(object, "\"family\""), name = Member(object, "\"name\"");
    if (!family || !name) return std::nullopt;
    names.emplace_back(std::move(*family), std::move(*name));
  }
  if (depth != 0 || !listing) return std::nullopt;
  return names;
}

}  // namespace railwright::nft
