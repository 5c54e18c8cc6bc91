// limits.conf(5) and systemd-system.conf(5): two files of each, as they are read in order.
#include <algorithm>

#include "core/decode/memlock.h"
#include "core/decode/values.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

namespace {

// "" or canonical, and said by a line that is there.
void Check(const std::string& limit, const std::string& from, const std::vector<NamedText>& files) {
  ALWAYS(limit.empty() == from.empty(), limit, from);
  if (limit.empty()) return;
  const auto canonical = CanonicalMemlock(limit);
  ALWAYS(canonical.ok() && *canonical == limit, limit, from);
  const auto colon = from.rfind(':');
  ALWAYS(colon != std::string::npos, from);
  const auto number = ParseWhole(from.substr(colon + 1), 1, 1'000'000'000);
  const auto file = std::find_if(files.begin(), files.end(),
                                 [&](const NamedText& one) { return one.path == from.substr(0, colon); });
  ALWAYS(file != files.end() && number.ok() && *number <= Lines(file->text).size(), from);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view value = input.Line();
  if (const auto canonical = CanonicalMemlock(value); canonical.ok()) {
    const auto again = CanonicalMemlock(*canonical);
    ALWAYS(again.ok() && *again == *canonical, *canonical, value);
    const PamMemlock pam = ReadPamMemlock({{"/p", PamMemlockFile(*canonical)}});
    ALWAYS(pam.soft == *canonical && pam.hard == *canonical && pam.exceptions.empty(), pam.soft, *canonical);
    const SystemdMemlock systemd = ReadSystemdMemlock({{"/s", SystemdMemlockFile(*canonical)}});
    ALWAYS(systemd.soft == *canonical && systemd.hard == *canonical, systemd.soft, *canonical);
  }
  const std::vector<NamedText> files{{"/etc/security/limits.conf", std::string(input.Part())},
                                     {"/etc/security/limits.d/20-x.conf", std::string(input.Rest())}};
  const PamMemlock pam = ReadPamMemlock(files);
  Check(pam.soft, pam.soft_from, files);
  Check(pam.hard, pam.hard_from, files);
  const SystemdMemlock systemd = ReadSystemdMemlock(files);
  Check(systemd.soft, systemd.from, files);
  Check(systemd.hard, systemd.from, files);
  return 0;
}
