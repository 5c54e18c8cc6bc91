// How much memory a process may lock, as pam_limits and systemd read it from their files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// "unlimited" or a number of KiB, "0"…"18014398509481983". InvalidArgument says what is allowed; `infinity`,
/// `-1` are other spellings of unlimited.
Result<std::string> CanonicalMemlock(std::string_view text);

/// A file of a folder that is read in the order of names.
struct NamedText {
  std::string path;
  std::string text;
};

/// What limits.conf(5) files give to everybody ("*").
struct PamMemlock {
  std::string soft;       ///< canonical; "" = not set
  std::string hard;       ///< likewise
  std::string soft_from;  ///< "/etc/security/limits.d/20-x.conf:3" of the line that counts
  std::string hard_from;
  /// Lines for a user or group that win over "*" for those: "/etc/security/limits.conf:12: @hpc hard 64".
  std::vector<std::string> exceptions;
};
/// Reads the files in the order given: a later line wins over an earlier one for the same domain, and a line
/// for a user or group wins over "*" wherever it stands (pam_limits.c). Lines that make no sense are skipped,
/// as pam_limits does.
PamMemlock ReadPamMemlock(const std::vector<NamedText>& files);

/// DefaultLimitMEMLOCK of systemd-system.conf(5) files in the order given; a later line wins, an empty value
/// resets.
struct SystemdMemlock {
  std::string soft;  ///< canonical; "" = systemd's own default (8 MiB)
  std::string hard;
  std::string from;  ///< "path:line"
};
SystemdMemlock ReadSystemdMemlock(const std::vector<NamedText>& files);

/// Our own two files for a canonical limit.
std::string PamMemlockFile(std::string_view limit);
std::string SystemdMemlockFile(std::string_view limit);

}  // namespace railwright
