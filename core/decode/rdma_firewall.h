// Our firewall table: from whom which ports are accepted, as text, as an nft transaction, and read back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/decode/rdma_ports.h"
#include "railwright/result.h"

namespace railwright {

/// A range of destination ports, both ends included. Ordered UDP before TCP, then by number.
struct PortRange {
  PortProtocol protocol = PortProtocol::kUdp;
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  std::string Text() const;  ///< "udp 4791", "tcp 18515-18530"
  auto operator<=>(const PortRange&) const = default;
};

/// The declared form: `allow` (the ports of rdma_ports.h), a list as `udp:4791,tcp:18515-18530`, or both.
struct RdmaFirewallWish {
  bool allow = false;
  std::vector<PortRange> ports;  ///< beside those of `allow`; merged and sorted

  static Result<RdmaFirewallWish> Parse(std::string_view text);
  std::string Text() const;
  std::vector<PortRange> AllPorts() const;
};

/// What the table does: `inet railwright`, a chain `input` at the input hook, priority -10 (before the
/// filters at 0), policy accept, sets fabric4 and fabric6 of sources, and a rule for each range and family
/// with the comment "railwright:rocev2".
struct RdmaFirewall {
  std::vector<std::string> sources;  ///< networks, none inside another, IPv4 first
  std::vector<PortRange> ports;

  /// InvalidArgument when a source is no network, or is everybody (/0).
  static Result<RdmaFirewall> For(const std::vector<std::string>& subnets,
                                  const std::vector<PortRange>& ports);
  /// "from 10.10.0.0/16,fd00:10::/48: udp 4791, tcp 7174, …".
  std::string Text() const;
  static Result<RdmaFirewall> Parse(std::string_view text);
  /// One nft transaction that makes the table exactly so, whatever it was.
  std::string Transaction() const;
};

/// A table as it was found. `value` is RdmaFirewall::Text() when the table does that and nothing else.
/// Otherwise it is "other, …" with the table's own JSON, from which it can be put back, and `differences`
/// tells in words what differs from `expected` (a Text(); may be ""), or what is in it.
struct RdmaFirewallReading {
  std::string value;
  std::vector<std::string> differences;
};
/// `json` is what /nft/table/inet/railwright answered. InvalidArgument when it is no listing.
Result<RdmaFirewallReading> ReadRdmaFirewall(std::string_view json, std::string_view expected);
/// The transaction that puts an "other, …" value back. InvalidArgument for anything else.
Result<std::string> OtherTableTransaction(std::string_view value);

}  // namespace railwright
