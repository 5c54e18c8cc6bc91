// A netlink conversation without its socket: requests numbered, answers put together, failures told. Pure, so
// that tests can play the kernel.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/machine/netlink_message.h"
#include "railwright/result.h"

namespace railwright::machine {

/// What a conversation goes through: a socket, or a test's script.
class NetlinkChannel {
 public:
  virtual ~NetlinkChannel() = default;
  virtual Status Send(std::span<const std::uint8_t> message, std::string_view what) = 0;
  /// The next datagram of the kernel, valid until the next call. An error with ENOBUFS: one or more were
  /// lost, and what follows is still to come. Any other error: nothing more will come.
  virtual Result<std::span<const std::uint8_t>> Receive(std::string_view what) = 0;
  /// The conversation went astray: whatever is still on its way must not reach the next one.
  virtual void Abandon() = 0;
};

/// Requests and their answers, one at a time.
///
/// - Every request has a sequence number of its own; answers to earlier, abandoned ones are skipped.
/// - An error keeps errno and the kernel's own sentence (NETLINK_EXT_ACK), also in the middle of a dump: what
///   came before it is dropped.
/// - A dump that the kernel marks as interrupted (NLM_F_DUMP_INTR: the table changed meanwhile) is asked
///   again, up to kAttempts times; then Unavailable (EAGAIN). So is an answer of which something was lost
///   (ENOBUFS).
/// - A datagram that is no whole number of messages is Internal: an answer is whole or an error.
class NetlinkConversation {
 public:
  static constexpr int kAttempts = 8;

  explicit NetlinkConversation(NetlinkChannel& channel) : channel_(channel) {}

  /// Sends a question: a get of one object, or a dump (NLM_F_DUMP among the message's flags). The replies
  /// stay valid until the next call. `what` begins the message of an error.
  Result<std::vector<NetlinkReply>> Ask(NetlinkMessage& message, std::string_view what);
  /// Sends a change and waits for its acknowledgement.
  Status Do(NetlinkMessage& message, std::string_view what);

 private:
  /// What one datagram did to the conversation. `astray`: nothing more can be made of it.
  struct Step {
    bool ended = false;
    bool astray = false;
    Status error{};
  };
  Status Send(NetlinkMessage& message, std::string_view what);
  Status Receive(bool one_reply, std::string_view what);
  Step TakeDatagram(std::span<const std::uint8_t> datagram, bool one_reply, std::string_view what);

  NetlinkChannel& channel_;
  std::uint32_t sequence_ = 0;
  bool interrupted_ = false;           // the present answer is not one consistent picture
  bool lost_ = false;                  // a part of it did not arrive
  std::vector<std::uint8_t> replies_;  // messages of the present answer, one after the other
  std::vector<std::size_t> reply_at_;  // where each begins
};

/// The error out of an NLMSG_ERROR or NLMSG_DONE message (`payload` after its nlmsghdr): success when the
/// code is 0. An NLMSG_ERROR too short to hold a code is Internal.
Status NetlinkError(const nlmsghdr& head, std::span<const std::uint8_t> payload, std::string_view what);

}  // namespace railwright::machine
