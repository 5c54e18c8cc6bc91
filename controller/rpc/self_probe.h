// SelfProbe: whether this controller still serves, asked as a stranger would: through its own port.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "controller/identity/caller.h"
#include "core/identity/issuer.h"
#include "core/identity/verify.h"
#include "core/wire/address.h"
#include "railwright/result.h"

namespace railwright {

/// A listener that died, a lock that is held for ever, a thread pool that is empty: all look alive from
/// inside. Each probe dials anew (so accepting and the handshake are part of it) and asks for the version.
class SelfProbe {
 public:
  struct Terms {
    Address at;               ///< a port that is served with TLS, or the Unix socket where there is none
    identity::ServerName as;  ///< a name that the controller's certificate has
    std::chrono::milliseconds every{10'000}, within{5'000};
    /// Of each probe, in the probe's thread; `misses`: in a row, 0 = it answered.
    std::function<void(const Status&, int misses)> done;
  };

  /// Makes a viewer's certificate of its own, which nobody else has and which is renewed by itself; `issuer`
  /// outlives it.
  SelfProbe(const identity::Issuer& issuer, Terms terms);
  ~SelfProbe();
  SelfProbe(const SelfProbe&) = delete;
  SelfProbe& operator=(const SelfProbe&) = delete;

  void Start();
  /// Whether this is our own certificate: it is in no registry.
  bool IsMine(const identity::Peer& peer) const;
  static Caller AsCaller(const identity::Peer& peer);

 private:
  void Run();
  Status Ask();

  const identity::Issuer& issuer_;
  const Terms terms_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::string serial_;  // of the certificate that is shown now
  std::thread thread_;
};

}  // namespace railwright
