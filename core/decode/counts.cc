#include "core/decode/counts.h"

#include <algorithm>

#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::uint64_t kMost = 65535;
constexpr std::string_view kCombined = "combined";

using Numbers = std::map<std::string, std::uint64_t, std::less<>>;

std::string TextOf(const Numbers& numbers) {
  std::string text;
  for (const auto& [kind, number] : numbers) {
    if (!text.empty()) text += ' ';
    text += kind + "=" + std::to_string(number);
  }
  return text;
}

std::optional<Numbers> NumbersOf(std::string_view text) {
  const auto fields = Fields::Parse(text);
  if (!fields.ok()) return std::nullopt;
  Numbers numbers;
  for (const auto& [kind, value] : fields->all()) {
    const auto number = ParseWhole(value, 0, UINT32_MAX);
    if (!number.ok()) return std::nullopt;
    numbers[kind] = *number;
  }
  return numbers;
}

// "combined (at most 63), rx (at most 8)".
std::string Kinds(const DeviceCounts& device) {
  std::string text;
  for (const auto& [kind, count] : device.kinds) {
    if (!text.empty()) text += ", ";
    text += kind;
    if (count.max) text += " (at most " + std::to_string(*count.max) + ")";
  }
  return text.empty() ? "none" : text;
}

}  // namespace

Result<DeviceCounts> DeviceCounts::Decode(std::string_view text, const std::vector<std::string>& wanted) {
  RW_ASSIGN_OR_RETURN(const Fields fields, Fields::Parse(text));
  DeviceCounts device;
  for (const auto& kind : wanted) {
    if (fields.Find(kind) == nullptr) continue;
    Count count;
    RW_ASSIGN_OR_RETURN(count.now, fields.Number(kind));
    if (fields.Find(kind + "_max") != nullptr) {
      RW_ASSIGN_OR_RETURN(count.max, fields.Number(kind + "_max"));
      if (*count.max == 0) continue;  // the device has no such kind
    }
    device.kinds[kind] = count;
  }
  return device;
}

std::string DeviceCounts::Now() const {
  Numbers now;
  for (const auto& [kind, count] : kinds) now[kind] = count.now;
  return TextOf(now);
}

std::string DeviceCounts::Greatest() const {
  Numbers greatest;
  for (const auto& [kind, count] : kinds) {
    if (!count.max) return {};
    greatest[kind] = *count.max;
  }
  return TextOf(greatest);
}

Result<CountWish> CountWish::Parse(std::string_view text, const std::vector<std::string>& kinds) {
  const auto refuse = [&](const std::string& why) {
    return Status(Code::kInvalidArgument,
                  Quoted(text) + " " + why + "; allowed: max, 1…65535, or " + Joined(kinds, "=N ") + "=N");
  };
  CountWish wish;
  const auto words = Words(text, " \t,");
  if (words.empty()) return refuse("is empty");
  if (words.size() == 1 && words[0] == "max") {
    wish.max = true;
    return wish;
  }
  if (words.size() == 1 && words[0].find('=') == std::string_view::npos) {
    const auto number = ParseWhole(words[0], 1, kMost);
    if (!number.ok()) return refuse("is no count");
    wish.each = *number;
    return wish;
  }
  for (const std::string_view word : words) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) return refuse("holds " + Quoted(word) + ", which names no kind");
    const std::string kind(word.substr(0, equals));
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      return refuse("names no kind " + Quoted(kind));
    const auto number = ParseWhole(word.substr(equals + 1), 0, kMost);
    if (!number.ok()) return refuse("has no count for " + kind);
    if (!wish.by_kind.emplace(kind, *number).second) return refuse("names " + kind + " twice");
  }
  if (std::all_of(wish.by_kind.begin(), wish.by_kind.end(), [](const auto& one) { return one.second == 0; }))
    return refuse("leaves nothing");
  return wish;
}

std::string CountWish::Text() const {
  if (max) return "max";
  return each ? std::to_string(*each) : TextOf(by_kind);
}

Result<std::map<std::string, std::uint64_t, std::less<>>> CountWish::On(const DeviceCounts& device) const {
  Numbers numbers;
  const bool combined = device.kinds.contains(kCombined);
  if (!by_kind.empty()) {
    numbers = by_kind;
  } else {
    for (const auto& [kind, count] : device.kinds) {
      if (combined && kind != kCombined) {
        numbers[kind] = 0;
      } else if (each) {
        numbers[kind] = *each;
      } else if (count.max) {
        numbers[kind] = *count.max;
      } else {
        return Status(Code::kUnimplemented,
                      "the driver tells no greatest count of " + kind + "; declare a number");
      }
    }
  }
  for (const auto& [kind, number] : numbers) {
    const auto has = device.kinds.find(kind);
    if (has == device.kinds.end()) {
      if (number == 0) continue;  // asked to have none of what there is none
      return Status(Code::kInvalidArgument, "the device has no " + kind + "; it has " + Kinds(device));
    }
    if (has->second.max && number > *has->second.max)
      return Status(Code::kInvalidArgument, kind + "=" + std::to_string(number) +
                                                " is more than the device's " +
                                                std::to_string(*has->second.max));
  }
  std::erase_if(numbers, [&](const auto& one) { return !device.kinds.contains(one.first); });
  return numbers;
}

bool CountWish::FulfilledBy(std::string_view now, std::string_view greatest) const {
  const auto seen = NumbersOf(now);
  if (!seen || seen->empty()) return false;
  if (!by_kind.empty()) {
    return std::all_of(by_kind.begin(), by_kind.end(), [&](const auto& one) {
      const auto has = seen->find(one.first);
      return has == seen->end() ? one.second == 0 : has->second == one.second;
    });
  }
  Numbers wanted;
  if (max) {
    const auto most = NumbersOf(greatest);
    if (!most) return false;
    wanted = *most;
  }
  const bool combined = seen->contains(kCombined);
  return std::all_of(seen->begin(), seen->end(), [&](const auto& one) {
    if (combined && one.first != kCombined) return one.second == 0;
    if (each) return one.second == *each;
    const auto most = wanted.find(one.first);
    return most != wanted.end() && one.second == most->second;
  });
}

}  // namespace railwright
