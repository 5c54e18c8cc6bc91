// Authority: what an operator's certificate says that its holder may do, and where.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright::identity {

/// The content of our private extension in operator certificates. It stands beside the SPIFFE ID, because an
/// X509-SVID has exactly one URI SAN (§2). What a role allows is not known here: a name that the reader's
/// table does not have allows nothing.
struct Authority {
  /// From a UUID (ITU-T X.667 §7: 2.25.<UUID as a number>), so that no registration is needed.
  static constexpr const char* kOid = "2.25.11322969954667395382904906110849480032";
  static constexpr std::size_t kMostRoles = 16;
  static constexpr std::size_t kMostScopeBytes = 512;

  /// Names [a-z]{1,32}, sorted, none twice; 1 to 16 of them.
  std::vector<std::string> roles;
  /// Selector of nodes as operators write it, printable ASCII, 1 to 512 bytes; "*" is the whole cluster.
  /// Empty is refused: nothing said must never mean everything.
  std::string scope;

  /// Ok, or InvalidArgument that names the part.
  Status Check() const;
  /// `v1 roles=approver,operator scope=*`; the one spelling. What Check refuses becomes "".
  std::string Text() const;
  /// What Text gives and nothing else.
  static Result<Authority> Parse(std::string_view text);

  friend bool operator==(const Authority&, const Authority&) = default;
};

}  // namespace railwright::identity
