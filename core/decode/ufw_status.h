// `ufw status` and `ufw status verbose`: the rules as they are listed, in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// One end of a rule.
struct UfwEnd {
  std::string address;      ///< "10.0.0.0/24"; "" for Anywhere
  std::string interface;    ///< "eth0" of "on eth0"; "" for any
  std::string protocol;     ///< "tcp", "udp", "esp" …; "" for any
  std::string application;  ///< a profile's name such as "Apache Full"; its ports are not in the listing
  struct Ports {
    std::uint16_t first = 0;
    std::uint16_t last = 0;
    friend bool operator==(const Ports&, const Ports&) = default;
  };
  std::vector<Ports> ports;  ///< empty = any
  friend bool operator==(const UfwEnd&, const UfwEnd&) = default;
};

struct UfwRule {
  enum class Action : std::uint8_t { kAllow, kDeny, kReject, kLimit };
  enum class Direction : std::uint8_t { kIn, kOut, kForward };
  Action action = Action::kAllow;
  Direction direction = Direction::kIn;
  bool ipv6 = false;  ///< marked "(v6)" or with an IPv6 address; else IPv4
  UfwEnd to;
  UfwEnd from;
  int line = 0;  ///< from 1
  std::string text;
};

struct UfwStatus {
  bool active = false;
  /// "allow", "deny", "reject", "disabled"; "" when the listing has no Default line (`status` without
  /// verbose).
  std::string default_in;
  std::string default_out;
  std::string default_routed;
  std::vector<UfwRule> rules;  ///< the first that fits decides
};

/// Columns may run into each other and comments are dropped, as real listings have it. InvalidArgument when
/// there is no "Status:" line, or names the line that is no rule.
Result<UfwStatus> DecodeUfwStatus(std::string_view text);

}  // namespace railwright
