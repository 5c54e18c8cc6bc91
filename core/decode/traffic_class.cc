#include "core/decode/traffic_class.h"

#include "core/decode/roce_cm.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::string_view kUnset = "unset";
constexpr std::string_view kAllowed = "0…255, 0x00…0xff, or unset";

}  // namespace

Result<TrafficClass> ReadTrafficClass(std::string_view text) {
  constexpr std::string_view kGlobal = "Global tclass=";
  TrafficClass read{std::string(kUnset), {}};
  for (const std::string_view line : Lines(text)) {
    const std::string_view words = Trimmed(line);
    if (words.empty()) continue;
    if (words.starts_with(kGlobal)) {
      const auto number = ParseWhole(words.substr(kGlobal.size()), 0, 255);
      if (!number.ok())
        return Status(Code::kInternal, "the driver says " + Quoted(words) + ", which is no traffic class");
      read.global = std::to_string(*number);
    } else if (words.find("tclass=") != std::string_view::npos) {
      read.rules.emplace_back(words);
    } else {
      return Status(Code::kInternal, "the driver says " + Quoted(words) +
                                         ", which is neither the global traffic class nor a rule");
    }
  }
  return read;
}

Result<std::string> CanonicalTrafficClass(std::string_view value) {
  const std::string_view word = Trimmed(value);
  if (word == kUnset) return std::string(kUnset);
  auto number = CanonicalTos(word);
  if (!number.ok())
    return Status(Code::kInvalidArgument, Quoted(word) + "; allowed: " + std::string(kAllowed));
  return number;
}

std::string KernelTrafficClass(std::string_view canonical) {
  return canonical == kUnset ? "-1" : std::string(canonical);
}

}  // namespace railwright
