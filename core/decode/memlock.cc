#include "core/decode/memlock.h"

#include <algorithm>

#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::string_view kUnlimited = "unlimited";
// The greatest number of KiB whose bytes fit into 64 bits.
constexpr std::uint64_t kMostKib = UINT64_MAX / 1024;

std::string Place(const NamedText& file, int line) { return file.path + ":" + std::to_string(line); }

// systemd: bytes with an optional suffix of base 1024, or infinity; rounded up to whole KiB.
std::string SystemdLimit(std::string_view text) {
  text = Trimmed(text);
  if (text == "infinity") return std::string(kUnlimited);
  constexpr std::string_view kSuffixes = "BKMGT";
  std::uint64_t factor = 1;
  if (!text.empty()) {
    const auto suffix = kSuffixes.find(text.back());
    if (suffix != std::string_view::npos) {
      for (std::size_t i = 0; i < suffix; ++i) factor *= 1024;
      text.remove_suffix(1);
    }
  }
  const auto number = ParseWhole(Trimmed(text), 0, UINT64_MAX / factor);
  if (!number.ok()) return {};
  const std::uint64_t bytes = *number * factor;
  return std::to_string(bytes / 1024 + (bytes % 1024 != 0 ? 1 : 0));
}

}  // namespace

Result<std::string> CanonicalMemlock(std::string_view text) {
  text = Trimmed(text);
  if (text == kUnlimited || text == "infinity" || text == "-1") return std::string(kUnlimited);
  RW_ASSIGN_OR_RETURN(const auto kib, ParseWhole(text, 0, kMostKib, "unlimited, or a number of KiB"));
  return std::to_string(kib);
}

PamMemlock ReadPamMemlock(const std::vector<NamedText>& files) {
  PamMemlock limits;
  for (const NamedText& file : files) {
    int number = 0;
    for (std::string_view line : Lines(file.text)) {
      ++number;
      const auto words = Words(line.substr(0, std::min(line.find('#'), line.size())));
      if (words.size() != 4 || words[2] != "memlock") continue;
      const auto limit = CanonicalMemlock(words[3]);
      if (!limit.ok()) continue;
      const bool soft = words[1] == "soft" || words[1] == "-";
      const bool hard = words[1] == "hard" || words[1] == "-";
      if (!soft && !hard) continue;
      if (words[0] != "*") {
        limits.exceptions.push_back(Place(file, number) + ": " + std::string(words[0]) + " " +
                                    std::string(words[1]) + " " + *limit);
        continue;
      }
      if (soft) {
        limits.soft = *limit;
        limits.soft_from = Place(file, number);
      }
      if (hard) {
        limits.hard = *limit;
        limits.hard_from = Place(file, number);
      }
    }
  }
  return limits;
}

SystemdMemlock ReadSystemdMemlock(const std::vector<NamedText>& files) {
  constexpr std::string_view kKey = "DefaultLimitMEMLOCK";
  SystemdMemlock limits;
  for (const NamedText& file : files) {
    bool manager = false;
    int number = 0;
    for (std::string_view line : Lines(file.text)) {
      ++number;
      line = Trimmed(line);
      if (line.empty() || line.front() == '#' || line.front() == ';') continue;
      if (line.front() == '[') {
        manager = line == "[Manager]";
        continue;
      }
      const auto equals = line.find('=');
      if (!manager || equals == std::string_view::npos || Trimmed(line.substr(0, equals)) != kKey) continue;
      const std::string_view value = Trimmed(line.substr(equals + 1));
      if (value.empty()) {
        limits = {};
        continue;
      }
      const auto colon = value.find(':');
      const std::string soft = SystemdLimit(value.substr(0, colon));
      const std::string hard = colon == std::string_view::npos ? soft : SystemdLimit(value.substr(colon + 1));
      if (soft.empty() || hard.empty()) continue;  // systemd logs it and keeps what it has
      limits = {soft, hard, Place(file, number)};
    }
  }
  return limits;
}

std::string PamMemlockFile(std::string_view limit) {
  return "# Written by railwright (limits.memlock). RDMA registers memory by locking it.\n* soft memlock " +
         std::string(limit) + "\n* hard memlock " + std::string(limit) + "\n";
}

std::string SystemdMemlockFile(std::string_view limit) {
  // systemd takes bytes; the suffix keeps the number that the operator wrote.
  return "# Written by railwright (limits.memlock). RDMA registers memory by locking it.\n[Manager]\n"
         "DefaultLimitMEMLOCK=" +
         (limit == kUnlimited ? "infinity" : std::string(limit) + "K") + "\n";
}

}  // namespace railwright
