// One connection of the enrolment port: TLS, one frame in, one frame out.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/identity/enrolment.h"
#include "core/identity/secret.h"

struct ssl_st;      // OpenSSL's SSL
struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace railwright {

/// Owns its socket, which does not block. One thread.
class EnrolmentConnection {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class State : std::uint8_t {
    kReading,  ///< the handshake or the request is not whole
    kAsked,    ///< the request is whole and waits to be looked at
    kWorking,  ///< somebody looks at it
    kWriting,
    kLingering,  ///< all is sent; the peer has not hung up
    kEnded,
  };

  /// `address` as text; `peer`: whom it is counted with.
  EnrolmentConnection(int fd, ssl_ctx_st* tls, std::string address, std::string peer, Time accepted,
                      Time deadline);
  ~EnrolmentConnection();
  EnrolmentConnection(const EnrolmentConnection&) = delete;
  EnrolmentConnection& operator=(const EnrolmentConnection&) = delete;

  /// Goes on as far as the socket lets it.
  void Go();
  /// What to poll for.
  short events() const;
  int fd() const { return fd_; }
  State state() const { return state_; }
  const std::string& address() const { return address_; }
  const std::string& peer() const { return peer_; }
  Time accepted() const { return accepted_; }
  /// What came was no request: it has been answered so, and counts against the peer.
  bool malformed() const { return malformed_; }

  /// The body; from kAsked to kWorking.
  identity::Secret TakeRequest();
  /// From kWorking, or from kReading for what is no request.
  void Answer(std::string frame);

  Time deadline;
  Time start{};  ///< of kAsked: when it may be looked at

 private:
  void Read();
  void Write();
  /// Whether OpenSSL only waits for the socket; ended otherwise.
  bool Waits(int result);

  int fd_;
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> tls_;
  std::string address_, peer_;
  Time accepted_;
  State state_ = State::kReading;
  bool handshaken_ = false, wants_write_ = false, malformed_ = false;
  std::array<char, identity::kFrameHeadBytes> head_{};
  std::size_t read_ = 0;  // of head and body
  identity::Secret body_;
  std::string out_;
  std::size_t written_ = 0;
};

}  // namespace railwright
