// Address: where a controller listens or is dialled, as operators write it.
#pragma once

#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright {

/// An address as operators write it: "unix:/run/railwright/controller.sock", "127.0.0.1:7443", "[::1]:7443",
/// "localhost:7443".
struct Address {
  enum class Kind { kUnix, kTcp } kind = Kind::kUnix;
  std::string path;         ///< of a Unix socket, at most 107 bytes (sun_path of unix(7))
  std::string host;         ///< of TCP, without brackets; "localhost" has become 127.0.0.1
  unsigned short port = 0;  ///< of TCP; 0 = any free one (to listen only)
  bool local = false;       ///< a Unix socket or loopback (127.0.0.0/8, ::1)
  /// As gRPC dials it: "unix:/path", "ipv4:127.0.0.1:7443", "ipv6:[::1]:7443", "dns:///name:7443".
  std::string Target() const;
  /// As people write it; what was parsed, with localhost replaced.
  std::string ToString() const;
};

/// InvalidArgument names what was given and the forms that are allowed. Pure: resolves no name.
Result<Address> ParseAddress(std::string_view text);

}  // namespace railwright
