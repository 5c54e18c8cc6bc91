// Acceptor: our own listening sockets. Connections are accepted here and handed on, because gRPC 1.51 stops
// listening for good after one failed accept (CVE-2023-4785), unlinks other people's sockets and chooses
// their mode.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/wire/address.h"
#include "railwright/result.h"

namespace railwright {

class Acceptor {
 public:
  /// Called in the acceptor's thread with a connected, non-blocking socket, the one it came from, and whether
  /// that one is a Unix socket.
  using OnConnection = std::function<void(int fd, int listener, bool local)>;

  /// `per_second`, `burst`: connections of one address; more are hung up on at once. Loopback is not counted:
  /// who is on this host has other ways.
  explicit Acceptor(double per_second = 20, double burst = 100) : per_second_(per_second), burst_(burst) {}
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Binds and listens. A Unix socket has mode 0600, for it gives orders without a certificate; one that is
  /// left over is removed only when nobody answers on it. AlreadyExists: the port, or the socket, is in use.
  /// Port 0 becomes a free one, which the result tells.
  Result<Address> Listen(const Address& address);
  void Start(OnConnection on_connection);
  /// No connection is handed on once it returned. Our Unix sockets are removed.
  void Stop();

 private:
  struct Listener {
    int fd;
    std::string path;  // of a Unix socket
  };
  Result<Listener> ListenUnix(const Address& address);
  Result<Listener> ListenTcp(const Address& address);
  void Run();
  void AcceptAll(const Listener& listener);
  bool Welcome(const sockaddr_storage& from);

  struct Seen {
    double tokens;
    std::chrono::steady_clock::time_point at;
  };

  const double per_second_, burst_;
  std::unordered_map<std::string, Seen> seen_;  // by address; of the acceptor's thread
  std::vector<Listener> listeners_;
  OnConnection on_connection_;
  int wake_ = -1;
  int spare_ =
      -1;  // given up for a moment when descriptors run out, so that the waiting peer can be told off
  std::thread thread_;
};

}  // namespace railwright
