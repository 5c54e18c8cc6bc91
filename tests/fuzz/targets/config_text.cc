// Configuration files that a profile holds whole: the first line is the path.
#include <algorithm>

#include "core/decode/config_file.h"
#include "core/decode/values.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view path = input.Line();
  const std::string_view text = input.Rest();
  if (CheckConfigPath(path).ok()) {
    ALWAYS(path.find("..") == std::string_view::npos || path.find("/../") == std::string_view::npos, path);
    ALWAYS(path.size() <= 200 && path.front() == '/' && path.find('\0') == std::string_view::npos, path);
    ALWAYS(!IsKnownConfigPath(path) || !IsForbiddenConfigPath(path), path);
  }
  const auto canonical = CanonicalConfigText(path, text);
  if (!canonical.ok()) {
    ALWAYS(canonical.status().code() == Code::kInvalidArgument, canonical.status().message());
    return 0;
  }
  ALWAYS(canonical->size() <= kConfigTextLimit + 1, path);
  ALWAYS(canonical->empty() || canonical->back() == '\n', *canonical);
  ALWAYS(canonical->find('\0') == std::string::npos && canonical->find('\r') == std::string::npos,
         *canonical);
  if (canonical->size() <= kConfigTextLimit) {
    const auto again = CanonicalConfigText(path, *canonical);
    ALWAYS(again.ok() && *again == *canonical, *canonical, path);
  }
  // No line may begin a word that modprobe hands to a shell, joined lines included.
  if (path.starts_with("/etc/modprobe.d/")) {
    std::string joined = *canonical;
    for (auto at = joined.find("\\\n"); at != std::string::npos; at = joined.find("\\\n", at))
      joined.erase(at, 2);
    for (const std::string_view line : Lines(joined)) {
      const auto words = Words(line, " \t");
      ALWAYS(words.empty() || (words[0] != "install" && words[0] != "remove"), line, *canonical);
    }
  }
  return 0;
}
