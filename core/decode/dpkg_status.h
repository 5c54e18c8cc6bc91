// The database of installed Debian packages (/var/lib/dpkg/status): names, versions, holds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// Its texts lie in what DpkgStatus was decoded from.
struct DebianPackage {
  std::string_view name;          ///< "libc6"
  std::string_view architecture;  ///< "amd64", "all"
  std::string_view version;       ///< "1:2.3-4"
  std::string_view
      state;          ///< "installed", or a broken one: "half-configured", "unpacked", "triggers-pending" …
  bool hold = false;  ///< upgrades are refused
};

/// What is on this host. Packages of which only configuration files are left do not count.
class DpkgStatus {
 public:
  /// DataLoss names the line when the text is no such database. Unknown fields are skipped. `text` must
  /// outlive the result: a million bytes are looked at here, and copied nowhere.
  static Result<DpkgStatus> Decode(std::string_view text);
  /// The same as short lines, in order; what Index gave is read back by DecodeIndex, in a tenth of the time.
  std::string Index() const;
  /// DataLoss when `text`, which must outlive the result, is no Index.
  static Result<DpkgStatus> DecodeIndex(std::string_view text);
  /// "libc6" or "libc6:i386". Without an architecture: the host's own (that of dpkg itself) or "all" before
  /// any other. nullptr: not installed.
  const DebianPackage* Find(std::string_view name) const;
  /// Names as Find takes them, sorted; the architecture only where a name is installed more than once.
  std::vector<std::string> Names() const;

 private:
  std::span<const DebianPackage> Named(std::string_view name) const;
  std::vector<DebianPackage> packages_;  ///< by name; those of one name in the order of the text
};

/// The order of Debian versions (deb-version(7)): negative when a is older than b, 0 when equal, positive
/// when newer. Any text has a place in the order.
int CompareDebianVersions(std::string_view a, std::string_view b);

}  // namespace railwright
