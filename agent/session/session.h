// Session: the agent's one stream to the controller: dials, resumes, acknowledges, reports. Knows no setting.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <grpcpp/security/credentials.h>

#include "agent/gate/messages.h"
#include "core/tls/credentials.h"
#include "core/wire/address.h"
#include "railwright/mailbox.h"
#include "railwright/result.h"
#include "railwright/state.h"
#include "railwright/v1/agent.pb.h"

namespace railwright {

/// One way to a controller. Its credentials are made for one attempt: a certificate may have been renewed
/// since.
struct Way {
  std::string controller;  ///< "ctl.example:7443", "127.0.0.1:7443", "[::1]:7443"
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  std::string node;  ///< by which name this node has joined
  std::shared_ptr<tls::Verdict> verdict =
      std::make_shared<tls::Verdict>();  ///< on the controller's certificate
};

struct SessionOptions {
  std::function<Result<Way>()>
      way;  ///< asked at each attempt; by what this node's identity says (identity_way.h)
  /// Why the controller hangs up during the handshake, which it does not say; asked in the dialling thread,
  /// not more than once in 30 s. "" when nothing is found. May be empty.
  std::function<std::string()> why_hung_up;
  std::string node;  ///< of a way that names none
  std::string version;
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

  /// Begins to dial; to be called once.
  void Start();
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
