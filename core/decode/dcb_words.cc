// The values that the structures of DCB are made of, as words.
#include <algorithm>

#include "core/decode/dcb.h"
#include "core/decode/values.h"

namespace railwright {

Result<std::vector<std::string_view>> SplitPerClass(std::string_view text) {
  std::vector<std::string_view> items;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    items.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (items.size() == kDcbClasses) return items;
  return Status(Code::kInvalidArgument, Quoted(text) + " holds " + std::to_string(items.size()) +
                                            " values; needed: 8, separated by commas");
}

std::string PrioritiesText(std::uint8_t mask) {
  std::string text;
  for (std::size_t i = 0; i < kDcbClasses; ++i)
    if ((mask >> i & 1) != 0) text += (text.empty() ? "" : ",") + std::to_string(i);
  return text.empty() ? "none" : text;
}

Result<std::uint8_t> ParsePriorities(std::string_view text) {
  constexpr std::string_view kAllowed = "none, or priorities 0…7 such as 3 or 0,3";
  const auto words = Words(text, ", \t");
  if (words.size() == 1 && words[0] == "none") return std::uint8_t{0};
  if (words.empty()) return Status(Code::kInvalidArgument, "no priority; allowed: " + std::string(kAllowed));
  std::uint8_t mask = 0;
  for (const auto word : words) {
    RW_ASSIGN_OR_RETURN(const auto priority, ParseWhole(word, 0, kDcbClasses - 1, kAllowed));
    const auto bit = static_cast<std::uint8_t>(1U << priority);
    if ((mask & bit) != 0)
      return Status(Code::kInvalidArgument, Quoted(text) + " names priority " + std::string(word) + " twice");
    mask = static_cast<std::uint8_t>(mask | bit);
  }
  return mask;
}

Result<PerClass<std::uint64_t>> ParsePerClass(std::string_view text, std::uint64_t most) {
  RW_ASSIGN_OR_RETURN(const auto items, SplitPerClass(text));
  PerClass<std::uint64_t> numbers{};
  for (std::size_t i = 0; i < kDcbClasses; ++i) {
    RW_ASSIGN_OR_RETURN(numbers[i], ParseWhole(items[i], 0, most));
  }
  return numbers;
}

std::string TsaText(std::uint8_t algorithm) {
  switch (algorithm) {
    case kTsaStrict: return "strict";
    case kTsaCbShaper: return "cb_shaper";
    case kTsaEts: return "ets";
    case kTsaVendor: return "vendor";
    default: return std::to_string(algorithm);
  }
}

Result<std::uint8_t> ParseTsa(std::string_view word) {
  for (const std::uint8_t algorithm : {kTsaStrict, kTsaCbShaper, kTsaEts, kTsaVendor})
    if (word == TsaText(algorithm)) return algorithm;
  // A number that has no name, so that what was read may be written back.
  const auto number = ParseWhole(word, 3, 254);
  if (number.ok()) return static_cast<std::uint8_t>(*number);
  return Status(Code::kInvalidArgument, Quoted(word) +
                                            " is no transmission selection; allowed: strict, ets, vendor, "
                                            "cb_shaper");
}

}  // namespace railwright
