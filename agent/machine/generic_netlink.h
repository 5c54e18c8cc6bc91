// Families of generic netlink: their numbers are the kernel's, given out at boot.
#pragma once

#include <linux/genetlink.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/machine/netlink_socket.h"

namespace railwright::machine {

/// One family, asked over a socket of its own; its number is learned once a socket.
class GenericNetlink {
 public:
  /// `absent`: the sentence (Unimplemented, EOPNOTSUPP) when this kernel does not have it.
  GenericNetlink(std::string name, std::string absent) : name_(std::move(name)), absent_(std::move(absent)) {}

  /// A message of this family; its number is filled in when it is sent.
  static NetlinkMessage Message(std::uint8_t command, std::uint8_t version, std::uint16_t flags = 0);
  /// As NetlinkSocket. A module that brought the family may have gone and come with another number, so after
  /// NotFound the number is learned anew at the next call.
  Result<std::vector<NetlinkReply>> Ask(NetlinkMessage& message, std::string_view what);
  Status Do(NetlinkMessage& message, std::string_view what);

 private:
  Status Open();

  std::string name_, absent_;
  NetlinkSocket socket_{NETLINK_GENERIC};
  std::uint16_t family_ = 0;
};

}  // namespace railwright::machine
