#include "core/decode/package_wish.h"

#include <algorithm>

#include "core/decode/dpkg_status.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::string_view kAllowed =
    "installed, absent, =1.2-3, >=1.2, <=1.2, >1.2, <1.2, 1.2.*, and hold beside any but absent";

// deb-version(7): digits, letters and . + - ~ :, beginning with a digit.
bool IsVersion(std::string_view text) {
  return !text.empty() && text.size() <= 128 && text.front() >= '0' && text.front() <= '9' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  std::string_view(".+-~:").find(c) != std::string_view::npos;
         });
}

bool Holds(const std::string& op, std::string_view version, const std::string& bound) {
  if (op == "~") return version.starts_with(bound);
  const int order = CompareDebianVersions(version, bound);
  if (op == "=") return order == 0;
  if (op == ">=") return order >= 0;
  if (op == "<=") return order <= 0;
  return op == ">" ? order > 0 : order < 0;
}

}  // namespace

Result<PackageWish> PackageWish::Parse(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return Status(Code::kInvalidArgument, Quoted(text) + " " + why + "; allowed: " + std::string(kAllowed));
  };
  PackageWish wish;
  bool installed = false;
  const auto words = Words(text, " \t,");
  if (words.empty()) return refuse("is empty");
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (word == "installed") {
      installed = true;
      continue;
    }
    if (word == "absent") {
      wish.absent = true;
      continue;
    }
    if (word == "hold") {
      wish.hold = true;
      continue;
    }
    std::string op = "=";
    for (const std::string_view known : {">=", "<=", "=", ">", "<"}) {
      if (!word.starts_with(known)) continue;
      op = known;
      word.remove_prefix(known.size());
      // ">= 1.2" is two words.
      if (word.empty() && i + 1 < words.size()) word = words[++i];
      break;
    }
    if (op == "=" && word.ends_with(".*")) {
      op = "~";
      word.remove_suffix(1);
    }
    if (!IsVersion(word)) return refuse("holds " + Quoted(word) + ", which is no version");
    wish.conditions.emplace_back(op, std::string(word));
  }
  if (wish.absent && (installed || wish.hold || !wish.conditions.empty()))
    return refuse("asks for a package that is absent and there");
  std::sort(wish.conditions.begin(), wish.conditions.end());
  wish.conditions.erase(std::unique(wish.conditions.begin(), wish.conditions.end()), wish.conditions.end());
  return wish;
}

std::string PackageWish::Text() const {
  if (absent) return "absent";
  std::vector<std::string> words;
  for (const auto& [op, version] : conditions) words.push_back(op == "~" ? version + "*" : op + version);
  if (words.empty()) words.emplace_back("installed");
  if (hold) words.emplace_back("hold");
  return Joined(words, " ");
}

bool PackageWish::FulfilledBy(std::string_view version, bool held) const {
  if (version.empty()) return absent;
  if (absent || (hold && !held)) return false;
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const auto& one) { return Holds(one.first, version, one.second); });
}

bool IsDebianPackageName(std::string_view name) {
  const auto colon = name.find(':');
  const auto plain = name.substr(0, colon);
  const auto allowed = [](std::string_view text, std::string_view extra) {
    return std::all_of(text.begin(), text.end(), [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || extra.find(c) != std::string_view::npos;
    });
  };
  if (plain.size() < 2 || name.size() > 128 || !allowed(plain, "+-.") || !allowed(plain.substr(0, 1), ""))
    return false;
  if (colon == std::string_view::npos) return true;
  const auto architecture = name.substr(colon + 1);
  return !architecture.empty() && allowed(architecture, "-");
}

}  // namespace railwright
