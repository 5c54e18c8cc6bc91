// ServerName, Endpoint: by which names a controller is dialled.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright::identity {

/// A DNS name (RFC 1123 §2.1, lower case, at most 253 bytes, no wildcard, no last dot) or an IP address in
/// its one spelling. Resolves nothing.
class ServerName {
 public:
  /// InvalidArgument: neither; an IPv6 address stands without brackets here.
  static Result<ServerName> Parse(std::string_view text);
  const std::string& text() const { return text_; }
  bool is_address() const { return !address_.empty(); }
  /// 4 or 16 bytes in network order; "" for a DNS name.
  const std::string& address() const { return address_; }
  friend auto operator<=>(const ServerName&, const ServerName&) = default;

 private:
  ServerName(std::string text, std::string address) : text_(std::move(text)), address_(std::move(address)) {}
  std::string text_;
  std::string address_;
};

/// Where a controller answers: `ctl.example:7444`, `192.0.2.1:7444`, `[2001:db8::1]:7444`; port 1 to 65535.
struct Endpoint {
  ServerName host;
  std::uint16_t port = 0;

  static Result<Endpoint> Parse(std::string_view text);
  std::string Text() const;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

}  // namespace railwright::identity
