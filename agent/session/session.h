// Session: the agent's one stream to the controller: dials, resumes, acknowledges, reports. Knows no setting.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/wire/plaintext.h"
#include "railwright/mailbox.h"
#include "railwright/result.h"
#include "railwright/state.h"
#include "railwright/v1/agent.pb.h"

namespace railwright {

/// What the session hands to the loop. The state's original bytes travel inside v1::DesiredState.
struct FromController {
  std::variant<v1::DesiredState, v1::Command, v1::PauseList, v1::ReportAck, v1::Welcome> body;
  std::uint64_t connection = 0;  ///< which connection it came over, from 1; a Welcome begins a new one
  std::string host = {};         ///< of a Welcome: the controller's address, "" over a Unix socket
};

/// How much may wait for the loop, which may be busy with a long pass. A controller has at most one state,
/// one list of pauses and one acknowledgement under way, and few commands; a dry run holds a whole state.
inline constexpr std::size_t kInboxMessages = 256;
inline constexpr std::size_t kInboxBytes = 16 << 20;
QueueBound<FromController> InboxBound(std::size_t messages = kInboxMessages, std::size_t bytes = kInboxBytes);

/// What the loop hands to the session; it goes out in order. Kept by the loop until acknowledged.
struct ToController {
  std::variant<v1::Ack, v1::Nack, v1::Report, v1::Heartbeat, v1::CommandResult, v1::Catalog> body;
  /// The connection that it is meant for, as in FromController. When that one has ended it is dropped: what
  /// was built upon one connection's Welcome never leaks into the next.
  std::uint64_t connection = 0;
};

struct SessionOptions {
  std::string controller;  ///< "unix:/run/railwright/agent.sock", "127.0.0.1:7443", "[::1]:7443"
  std::string node;
  std::string version;
  bool without_identity_or_encryption = false;  ///< allow addresses other than loopback and Unix sockets
  /// Full jitter: attempt n waits between 0 and min(backoff_max, backoff_first · 2ⁿ), the first one too, so
  /// that a thousand nodes that boot together do not dial together. After a refusal the waits are from half
  /// to the whole of refusal_first · 2ⁿ: a node that is declared minutes after it booted is taken in a
  /// second, one that never is asks every 5 to 10 s.
  std::chrono::milliseconds backoff_first{200}, backoff_max{10'000}, refusal_first{1'000};
  /// How often the loop sends a Heartbeat: from the loop, since it is the loop's life that is to be shown.
  std::chrono::milliseconds heartbeat{10'000};
  /// How long the controller may take from the dial to its first message.
  std::chrono::milliseconds welcome_within{10'000};
  /// Messages that may wait for the wire; more means that the controller does not read: the connection is
  /// dropped.
  std::size_t queue_limit = 1024;
  std::uint64_t seed = 0;  ///< of the jitter; 0 = from the node's name and the clock
};

/// Owns its threads. `hello` is asked, in a thread of the session, at each connection attempt for the present
/// hashes; node, version, wire and features are filled in by the session. Messages for the loop are posted to
/// `inbox` (its on_post wakes the loop). A state or a list of pauses takes the place of an older one that
/// still waits there, a Welcome that of everything; a command that finds it full is answered as busy, and
/// anything else ends the connection. On each new connection a Welcome is posted first: the loop then sends a
/// report unless the Welcome says that the controller holds it. `on_state`, when given, is called in a thread
/// of the session after each change of StateText.
class Session {
 public:
  Session(SessionOptions options, std::function<v1::Hello()> hello, Queue<FromController>& inbox,
          std::function<void()> on_state = {});
  ~Session();  ///< ends the stream, joins; what was sent before goes out first, if it can within 500 ms
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// FailedPrecondition when the address is not allowed without identity (item 9 of the trust rules),
  /// InvalidArgument when it is none. To be called once.
  Status Start();
  void Send(ToController message);
  /// Ends the connection, if there is one, and dials anew soon (within backoff_first), whatever the back-off
  /// says. The number of the newest connection that was begun before: only later ones show how the network is
  /// now.
  std::uint64_t Redial();
  /// "connected", "refused: <sentence>", "connecting: <last error>".
  std::string StateText() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace railwright
