// NetlinkSocket: one request, its answer. The only place that knows how netlink conversations fail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/machine/descriptor.h"
#include "agent/machine/netlink_message.h"
#include "railwright/result.h"

namespace railwright::machine {

/// A socket of one netlink family (NETLINK_ROUTE, NETLINK_GENERIC, NETLINK_NETFILTER), opened at first use in
/// the network namespace of that moment, and kept. Used by one thread at a time.
///
/// - Every request has a sequence number of its own; answers to earlier, abandoned ones are skipped, as is
///   whatever a process other than the kernel sends.
/// - An error keeps errno and the kernel's own sentence (NETLINK_EXT_ACK).
/// - A dump that the kernel marks as interrupted (NLM_F_DUMP_INTR: the table changed meanwhile) is asked
///   again, up to 8 times; then Unavailable. So is a dump during which the receive buffer overran (ENOBUFS).
/// - No answer within 5 s is DeadlineExceeded. The kernel answers while it takes the request; only firmware
///   behind it takes time.
class NetlinkSocket {
 public:
  explicit NetlinkSocket(int family) : family_(family) {}

  /// Sends a question: a get of one object, or a dump (NLM_F_DUMP among the message's flags). The replies
  /// stay valid until the next call. `what` begins the message of an error.
  Result<std::vector<NetlinkReply>> Ask(NetlinkMessage& message, std::string_view what);
  /// Sends a change and waits for its acknowledgement.
  Status Do(NetlinkMessage& message, std::string_view what);

  /// The name of an interface in this namespace, "" when there is none of that index.
  std::string InterfaceName(std::uint32_t index);
  /// The index of an interface; NotFound (ENODEV).
  Result<std::uint32_t> InterfaceIndex(std::string_view name);

 private:
  Status Open();
  Status Send(NetlinkMessage& message, std::string_view what);
  /// What one datagram did to the conversation. `lost`: nothing more can be made of it.
  struct Step {
    bool ended = false;
    bool lost = false;
    Status error{};
  };
  Status Receive(bool one_reply, std::string_view what);
  Step TakeDatagram(std::size_t size, bool one_reply, std::string_view what);
  Result<std::size_t> ReceiveDatagram(std::string_view what);

  int family_;
  Descriptor fd_;
  std::uint32_t sequence_ = 0;
  bool interrupted_ = false;  // the present answer is not one consistent picture
  std::vector<std::uint8_t> datagram_;
  std::vector<std::uint8_t> replies_;  // messages of the present answer, one after the other
  std::vector<std::size_t> reply_at_;  // where each begins
};

/// Whether a name can be that of an interface: 1 to 15 bytes, no "/", no blank, not "." or "..".
bool IsInterfaceName(std::string_view name);
/// NotFound with ENODEV.
Status NoSuchInterface(std::string_view path);

/// The error out of an NLMSG_ERROR or NLMSG_DONE message (`payload` after its nlmsghdr): success when the
/// code is 0. Exposed for tests with damaged messages.
Status NetlinkError(const nlmsghdr& head, std::span<const std::uint8_t> payload, std::string_view what);

}  // namespace railwright::machine
