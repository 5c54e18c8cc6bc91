// Session: the agent's one stream to the controller: dials, resumes, acknowledges, reports. Knows no setting.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "railwright/mailbox.h"
#include "railwright/result.h"
#include "railwright/state.h"
#include "railwright/v1/agent.pb.h"

namespace railwright {

/// What the session hands to the loop. The state's original bytes travel inside v1::DesiredState.
struct FromController {
  std::variant<v1::DesiredState, v1::Command, v1::PauseList, v1::ReportAck, v1::Welcome> body;
};

/// What the loop hands to the session; it goes out in order. Kept by the loop until acknowledged.
struct ToController {
  std::variant<v1::Ack, v1::Nack, v1::Report, v1::Heartbeat, v1::CommandResult, v1::Catalog> body;
};

struct SessionOptions {
  std::string controller;  ///< "unix:/run/railwright/agent.sock", "127.0.0.1:7443", "[::1]:7443"
  std::string node;
  std::string version;
  bool without_identity_or_encryption = false;  ///< allow addresses other than loopback and Unix sockets
  std::chrono::milliseconds backoff_first{200}, backoff_max{10'000};
  std::chrono::milliseconds heartbeat{10'000};
};

/// Owns its threads. `hello` is asked at each connection attempt for the present hashes. Messages for the
/// loop are posted to `inbox` (its on_post wakes the loop). On each new connection a Welcome is posted first:
/// the loop then sends a full report unless Hello's report hash was known.
class Session {
 public:
  Session(SessionOptions options, std::function<v1::Hello()> hello, Queue<FromController>& inbox);
  ~Session();  ///< ends the stream, joins
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// InvalidArgument when the address is not allowed without identity (item 9 of the trust rules).
  Status Start();
  void Send(ToController message);
  /// "connected", "refused: <sentence>", "connecting: <last error>".
  std::string StateText() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether `address` may be used without mutual TLS: a Unix socket, loopback v4 or v6. Otherwise
/// FailedPrecondition that names the flag.
Status CheckPlaintextAddress(const std::string& address, bool without_identity_or_encryption);

}  // namespace railwright
