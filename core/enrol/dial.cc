#include "core/enrol/dial.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "core/identity/enrolment.h"

namespace railwright::enrol {

using identity::Certificate, identity::Endpoint;

namespace {

using Clock = std::chrono::steady_clock;

Status Unavailable(const Endpoint& at, const std::string& why, int error = 0) {
  return Status(Code::kUnavailable, at.Text() + ": " + why, error);
}

// OpenSSL writes to sockets by write(): a peer that has gone would end the program. The signal is the
// thread's, and is taken back here unless somebody else waits for it.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    const timespec now{};
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &now) == SIGPIPE) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

class Conversation {
 public:
  Conversation(const Endpoint& at, Clock::time_point end) : at_(at), end_(end) {}
  ~Conversation() {
    tls_.reset();
    if (fd_ >= 0) ::close(fd_);
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  Status Connect();
  /// Ok, or why the handshake did not end; the chain may be there all the same.
  Status Handshake(std::string_view protocol, int least_version);
  Result<std::vector<Certificate>> Chain() const;
  Status Write(std::string_view bytes);
  /// Exactly `size` bytes.
  Result<std::string> Read(std::size_t size);

 private:
  Status ConnectTo(const addrinfo& address);
  /// Ok when the socket is ready; errno of a timeout otherwise.
  int Wait(short events) const;
  /// Ok: try again; what went wrong otherwise.
  Status Again(int result, std::string_view doing);

  const Endpoint& at_;
  const Clock::time_point end_;
  int fd_ = -1;
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_{nullptr, &SSL_CTX_free};
  std::unique_ptr<SSL, void (*)(SSL*)> tls_{nullptr, &SSL_free};
};

int Conversation::Wait(short events) const {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
    if (left <= 0) return ETIMEDOUT;
    pollfd one{fd_, events, 0};
    const int ready = ::poll(&one, 1, static_cast<int>(left));
    if (ready > 0) return 0;
    if (ready < 0 && errno != EINTR) return errno;
  }
}

Status Conversation::ConnectTo(const addrinfo& address) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0) return Unavailable(at_, std::strerror(errno), errno);
  int error = ::connect(fd_, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    error = Wait(POLLOUT);
    socklen_t size = sizeof error;
    if (error == 0) ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0) return Unavailable(at_, std::strerror(error), error);
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return Ok();
}

Status Conversation::Connect() {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (at_.host.is_address() ? AI_NUMERICHOST : 0);
  const int lookup = ::getaddrinfo(at_.host.text().c_str(), std::to_string(at_.port).c_str(), &hints, &found);
  if (lookup != 0)
    return Unavailable(at_, std::string("the name cannot be looked up: ") +
                                (lookup == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(lookup)));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, &::freeaddrinfo);
  Status status = Unavailable(at_, "its name has no address");
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next)
    if (status = ConnectTo(*one); status.ok()) return status;
  return status;
}

Status Conversation::Again(int result, std::string_view doing) {
  const int error = SSL_get_error(tls_.get(), result);
  const int number = errno;
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
    const int waited = Wait(error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT);
    if (waited == 0) return Ok();
    return Unavailable(
        at_, std::string(doing) + ": " + (waited == ETIMEDOUT ? "no answer in time" : std::strerror(waited)),
        waited);
  }
  if (error == SSL_ERROR_ZERO_RETURN || (error == SSL_ERROR_SYSCALL && number == 0))
    return Unavailable(at_, std::string(doing) + ": it hung up");
  if (error == SSL_ERROR_SYSCALL)
    return Unavailable(at_, std::string(doing) + ": " + std::strerror(number), number);
  return Unavailable(at_, std::string(doing) + ": " + (reason != nullptr ? reason : "no reason given"));
}

Status Conversation::Handshake(std::string_view protocol, int least_version) {
  context_.reset(SSL_CTX_new(TLS_client_method()));
  if (context_ != nullptr) tls_.reset(SSL_new(context_.get()));
  if (tls_ == nullptr || SSL_set_min_proto_version(tls_.get(), least_version) != 1 ||
      SSL_set_fd(tls_.get(), fd_) != 1)
    return Status(Code::kInternal, "preparing TLS failed");
  SSL_set_verify(tls_.get(), SSL_VERIFY_NONE, nullptr);  // the judge does
  if (!at_.host.is_address()) SSL_set_tlsext_host_name(tls_.get(), at_.host.text().c_str());
  if (!protocol.empty()) {
    std::string wire(1, static_cast<char>(protocol.size()));
    wire += protocol;
    SSL_set_alpn_protos(tls_.get(), reinterpret_cast<const unsigned char*>(wire.data()),
                        static_cast<unsigned>(wire.size()));
  }
  while (true) {
    ERR_clear_error();
    errno = 0;
    const int done = SSL_connect(tls_.get());
    if (done == 1) return Ok();
    RW_RETURN_IF_ERROR(Again(done, "TLS handshake"));
  }
}

Result<std::vector<Certificate>> Conversation::Chain() const {
  std::vector<Certificate> chain;
  const STACK_OF(X509)* shown = SSL_get_peer_cert_chain(tls_.get());  // of a client: the leaf is in it
  for (int i = 0; i < sk_X509_num(shown); ++i) {
    if (chain.size() == Certificate::kMostInChain)
      return Status(Code::kUnauthenticated, at_.Text() + " shows too many certificates");
    unsigned char* der = nullptr;
    const int size = i2d_X509(sk_X509_value(shown, i), &der);
    if (size <= 0) return Status(Code::kInternal, "a certificate cannot be written");
    auto one = Certificate::FromDer({reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)});
    OPENSSL_free(der);
    if (!one.ok())
      return Status(Code::kUnauthenticated,
                    at_.Text() + " is no controller of Railwright: " + one.status().message());
    chain.push_back(std::move(one).value());
  }
  if (chain.empty()) return Unavailable(at_, "it shows no certificate");
  return chain;
}

Status Conversation::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    ERR_clear_error();
    errno = 0;
    const int put = SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (put > 0)
      bytes.remove_prefix(static_cast<std::size_t>(put));
    else
      RW_RETURN_IF_ERROR(Again(put, "sending the request"));
  }
  return Ok();
}

Result<std::string> Conversation::Read(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size;) {
    ERR_clear_error();
    errno = 0;
    const int got = SSL_read(tls_.get(), bytes.data() + at, static_cast<int>(size - at));
    if (got > 0)
      at += static_cast<std::size_t>(got);
    else
      RW_RETURN_IF_ERROR(Again(got, "waiting for the answer"));
  }
  return bytes;
}

Status Lost(const Status& status) {
  return Status(Code::kAborted, status.message() + "; the request was sent, and may have been granted",
                status.error_number());
}

}  // namespace

Result<std::string> Exchange(const Endpoint& at, const JudgeServer& judge, std::string_view frame,
                             std::chrono::milliseconds deadline) {
  const NoSigpipe quiet;
  Conversation peer(at, Clock::now() + deadline);
  RW_RETURN_IF_ERROR(peer.Connect());
  RW_RETURN_IF_ERROR(peer.Handshake({}, TLS1_3_VERSION));
  RW_ASSIGN_OR_RETURN(const auto chain, peer.Chain());
  RW_RETURN_IF_ERROR(judge(chain));
  if (const Status sent = peer.Write(frame); !sent.ok()) return Lost(sent);
  const auto head = peer.Read(identity::kFrameHeadBytes);
  if (!head.ok()) return Lost(head.status());
  const auto size = identity::BodyBytes(*head);
  if (!size.ok()) return Lost(size.status());
  auto body = peer.Read(*size);
  if (!body.ok()) return Lost(body.status());
  return body;
}

Result<std::vector<Certificate>> ChainOf(const Endpoint& at, std::string_view protocol,
                                         std::chrono::milliseconds deadline) {
  const NoSigpipe quiet;
  Conversation peer(at, Clock::now() + deadline);
  RW_RETURN_IF_ERROR(peer.Connect());
  const Status shaken = peer.Handshake(protocol, TLS1_2_VERSION);
  auto chain = peer.Chain();
  if (chain.ok() || chain.status().code() == Code::kUnauthenticated || shaken.ok()) return chain;
  return shaken;
}

}  // namespace railwright::enrol
