// NetlinkSocket: one request, its answer, over a socket of the kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/machine/netlink_conversation.h"
#include "core/files/descriptor.h"
#include "railwright/result.h"

namespace railwright::machine {

/// A socket of one netlink family (NETLINK_ROUTE, NETLINK_GENERIC, NETLINK_NETFILTER), opened at first use in
/// the network namespace of that moment, and kept. Used by one thread at a time.
///
/// How answers are put together, what is asked again and what is an error: NetlinkConversation. Beside that,
/// what a process other than the kernel sends is skipped, and no answer within 5 s is DeadlineExceeded: the
/// kernel answers while it takes the request; only firmware behind it takes time.
class NetlinkSocket {
 public:
  explicit NetlinkSocket(int family) : channel_(family) {}
  NetlinkSocket(const NetlinkSocket&) = delete;  // the conversation knows where its channel lies
  NetlinkSocket& operator=(const NetlinkSocket&) = delete;

  /// Opens the socket now rather than at first use.
  Status Open() { return channel_.Open(); }
  /// Sends a question: a get of one object, or a dump (NLM_F_DUMP among the message's flags). The replies
  /// stay valid until the next call. `what` begins the message of an error.
  Result<std::vector<NetlinkReply>> Ask(NetlinkMessage& message, std::string_view what) {
    return conversation_.Ask(message, what);
  }
  /// Sends a change and waits for its acknowledgement.
  Status Do(NetlinkMessage& message, std::string_view what) { return conversation_.Do(message, what); }

  /// The same, for what must not know that there is a socket.
  NetlinkConversation& conversation() { return conversation_; }

  /// The name of an interface in this namespace, "" when there is none of that index.
  std::string InterfaceName(std::uint32_t index);
  /// The index of an interface; NotFound (ENODEV).
  Result<std::uint32_t> InterfaceIndex(std::string_view name);

 private:
  class Channel final : public NetlinkChannel {
   public:
    explicit Channel(int family) : family_(family) {}
    Status Open();
    int fd() const { return fd_.get(); }
    Status Send(std::span<const std::uint8_t> message, std::string_view what) override;
    Result<std::span<const std::uint8_t>> Receive(std::string_view what) override;
    void Abandon() override { fd_.Close(); }

   private:
    int family_;
    Descriptor fd_;
    std::vector<std::uint8_t> datagram_;
  };

  Channel channel_;
  NetlinkConversation conversation_{channel_};
};

/// Whether a name can be that of an interface: 1 to 15 bytes, no "/", no blank, not "." or "..".
bool IsInterfaceName(std::string_view name);
/// NotFound with ENODEV.
Status NoSuchInterface(std::string_view path);

}  // namespace railwright::machine
