// Names of sysctls: their two spellings, the list that this build knows, and how an interface's value and
// that of "all" make the effective one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// What stands for the interface of a port in a name: "net.ipv4.conf.{netdev}.arp_ignore".
inline constexpr std::string_view kNetdevComponent = "{netdev}";

struct SysctlName {
  std::vector<std::string> components;  ///< "net" "ipv4" "conf" "eth0.100" "arp_ignore"

  /// As in sysctl.d(5): the separator that comes first decides. "net.ipv4.conf.eth0/100.arp_ignore" and
  /// "net/ipv4/conf/eth0.100/arp_ignore" are one name. Below net.ipv4.conf, net.ipv6.conf and neigh, where no
  /// key has a dot, "net.ipv4.conf.eth0.100.arp_ignore" is understood too. InvalidArgument says what is
  /// wrong.
  static Result<SysctlName> Parse(std::string_view text);
  /// The same for a pattern, in which "*" may stand in a component (see FitsPattern).
  static Result<SysctlName> ParsePattern(std::string_view text);
  /// Dots between components, "/" for a dot inside one.
  std::string Text() const;
  /// "net/ipv4/conf/eth0.100/arp_ignore", as below /proc/sys.
  std::string Slashed() const;
  /// The interface component of conf and neigh names ("all" and "default" included); "" for other names.
  std::string_view Interface() const;
  /// Whether it stands for the interface of a port.
  bool PerPort() const { return Interface() == kNetdevComponent; }
  /// The same name for another interface.
  SysctlName For(std::string_view netdev) const;

 private:
  static Result<SysctlName> ParseWith(std::string_view text, bool pattern);
};

/// How the kernel makes the effective value of an IPv4 interface setting out of conf.all and conf.<if>
/// (include/linux/inetdevice.h: IN_DEV_MAXCONF, IN_DEV_ORCONF).
enum class Combination : std::uint8_t { kNone, kMax, kOr };

/// A sysctl that this build allows: `numbers` whole numbers, each min…max.
struct KnownSysctl {
  std::string_view name;  ///< slashed; "*" stands for an interface
  unsigned numbers = 1;
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  Combination combination = Combination::kNone;
};

/// nullptr when the list has no such name.
const KnownSysctl* FindKnownSysctl(const SysctlName& name);
/// All known names as params of sysctl.<name>: those of an interface once for "all" (of
/// neighbours: "default", they have no "all") and once with {netdev}.
std::vector<std::string> KnownSysctlParams();
/// The known name that is one typing error away (a letter changed, missing, too many or two swapped), or "".
std::string MistypedSysctl(const SysctlName& name);

/// One spelling of a value: single blanks between words. For a known name the numbers are checked; for
/// another any printable text of at most 4096 characters passes.
Result<std::string> CanonicalSysctlValue(const KnownSysctl* known, std::string_view value);

}  // namespace railwright
