// Paths whose value is a set of things in the kernel: addresses, routes, rules.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/machine/netlink_socket.h"
#include "railwright/result.h"

namespace railwright::machine {

/// One thing that is there: its line, and the kernel's own message about it.
struct SetItem {
  std::string text;
  NetlinkReply reply;  ///< valid until the next call on the socket
};

using ReadItems = std::function<Result<std::vector<SetItem>>()>;

/// What belongs to one kind of set.
struct SetKind {
  std::string_view path;
  ReadItems read;
  /// The message type that removes; the dumped message itself is sent back with it, so that whatever the
  /// kernel said of the item names it.
  std::uint16_t remove_type = 0;
};

/// Lines of a set, sorted.
Result<std::string> ReadSet(const SetKind& kind);

/// Makes the set hold exactly the lines of `wanted`, each with the message that adds it. What is right
/// already is not touched. First what is too much is removed, then what is missing is added: two things of
/// one place (a default route with another gateway) cannot be there together. An item that vanished by itself
/// while it was to be removed, or came by itself, is no error. Any error ends the work, and its message tells
/// what was then read back. When all went well and yet something else is read back: Aborted.
Status MakeSetSo(NetlinkSocket& socket, const SetKind& kind, std::map<std::string, NetlinkMessage> wanted);

/// A line of a set split at blanks: words with a cursor.
class Words {
 public:
  explicit Words(std::string_view line);
  bool done() const { return at_ == words_.size(); }
  /// The next word without taking it; "" at the end.
  std::string_view Peek() const { return done() ? std::string_view() : words_[at_]; }
  std::string_view Take() { return done() ? std::string_view() : words_[at_++]; }
  /// Takes the next word when it is `word`.
  bool TakeIf(std::string_view word);

 private:
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
};

}  // namespace railwright::machine
