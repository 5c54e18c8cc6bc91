#include "core/decode/driver_version.h"

#include <algorithm>
#include <charconv>

#include "core/decode/values.h"

namespace railwright {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "25.10-1.7.1" at the start of `text`; "" when it is not there.
std::string_view ReleaseAt(std::string_view text) {
  const auto first = text.find_first_not_of("0123456789.");
  if (first == std::string_view::npos || first == 0 || text[first] != '-' || !IsDigit(text[0])) return {};
  auto end = text.find_first_not_of("0123456789.", first + 1);
  end = std::min(end, text.size());
  while (end > first + 1 && text[end - 1] == '.') --end;
  return end == first + 1 ? std::string_view() : text.substr(0, end);
}

// "580.159.04", with at least one dot; "" when `word` is none.
bool IsDriverVersion(std::string_view word) {
  return !word.empty() && IsDigit(word.front()) && IsDigit(word.back()) &&
         word.find('.') != std::string_view::npos &&
         word.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

std::string OfedRelease(std::string_view script) {
  for (const std::string_view prefix : {"MLNX_OFED_LINUX-", "OFED-internal-", "MLNX_EN-", "mlnx-en-"}) {
    for (auto at = script.find(prefix); at != std::string_view::npos; at = script.find(prefix, at + 1)) {
      const auto release = ReleaseAt(script.substr(at + prefix.size()));
      if (!release.empty()) return std::string(release);
    }
  }
  return {};
}

NvidiaDriver ParseNvidiaVersion(std::string_view text) {
  const auto lines = Lines(text);
  NvidiaDriver driver;
  for (const std::string_view line : lines) {
    if (!line.starts_with("NVRM version:")) continue;
    driver.open = line.find("Open Kernel Module") != std::string_view::npos;
    const auto module = line.find("Kernel Module");
    if (module == std::string_view::npos) return driver;
    for (const std::string_view word : Words(line.substr(module)))
      if (IsDriverVersion(word)) {
        driver.version = word;
        return driver;
      }
  }
  return driver;
}

std::string UpstreamVersion(std::string_view debian) {
  if (const auto colon = debian.find(':'); colon != std::string_view::npos) debian.remove_prefix(colon + 1);
  return std::string(debian.substr(0, debian.rfind('-')));
}

KernelRelease ParseKernelRelease(std::string_view text) {
  KernelRelease release;
  const char* end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, release.major);
  if (error != std::errc() || dot == end || *dot != '.') return {};
  if (std::from_chars(dot + 1, end, release.minor).ec != std::errc()) return {};
  return release;
}

}  // namespace railwright
