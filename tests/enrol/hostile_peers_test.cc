// Peers that mean harm, at both ends.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "controller/enrol/tls_context.h"
#include "core/files/whole_file.h"
#include "tests/enrol/enrolment_fixture.h"

namespace railwright {
namespace {

using identity::ExpectRefused, identity::Must, identity::NewKey;

/// A socket to 127.0.0.1, from an address of 127.0.0.0/8.
class Peer {
 public:
  explicit Peer(std::uint16_t port, const char* from = "127.0.0.1") : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    ::inet_pton(AF_INET, from, &at.sin_addr);
    ::bind(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at);
    at.sin_port = htons(port);
    ::inet_pton(AF_INET, "127.0.0.1", &at.sin_addr);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Peer() { ::close(fd_); }
  Peer(Peer&& other) noexcept : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
  Peer& operator=(Peer&&) = delete;
  bool connected() const { return connected_; }
  int fd() const { return fd_; }
  void Send(std::string_view bytes) const { (void)::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  /// Until the other end hangs up.
  std::string ReadAll() const {
    std::string all;
    char buffer[4096];
    while (true) {
      const auto got = ::recv(fd_, buffer, sizeof buffer, 0);
      if (got <= 0) return all;
      all.append(buffer, static_cast<std::size_t>(got));
    }
  }

 private:
  int fd_;
  bool connected_;
};

/// A client that speaks TLS and says what it likes.
std::string SayOverTls(std::uint16_t port, std::string_view bytes) {
  Peer peer(port);
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  const std::unique_ptr<SSL, void (*)(SSL*)> tls(SSL_new(context.get()), &SSL_free);
  SSL_set_fd(tls.get(), peer.fd());
  if (SSL_connect(tls.get()) != 1) return "no handshake";
  if (!bytes.empty()) SSL_write(tls.get(), bytes.data(), static_cast<int>(bytes.size()));
  std::string all;
  char buffer[4096];
  int got = 0;
  while ((got = SSL_read(tls.get(), buffer, sizeof buffer)) > 0)
    all.append(buffer, static_cast<std::size_t>(got));
  return all;
}

/// What a TLS server with this identity was told by one client.
class FakeController {
 public:
  explicit FakeController(const ControllerIdentity& identity)
      : tls_(Must(EnrolmentTls(identity.chain(), identity.key()))) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listener_, 4), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] {
      const int fd = ::accept(listener_, nullptr, nullptr);
      const std::unique_ptr<SSL, void (*)(SSL*)> tls(SSL_new(tls_.get()), &SSL_free);
      SSL_set_fd(tls.get(), fd);
      handshaken_ = SSL_accept(tls.get()) == 1;
      char buffer[4096];
      int got = 0;
      while ((got = SSL_read(tls.get(), buffer, sizeof buffer)) > 0)
        told_.append(buffer, static_cast<std::size_t>(got));
      ::close(fd);
    });
  }
  ~FakeController() {
    if (thread_.joinable()) thread_.join();
    ::close(listener_);
  }
  std::uint16_t port() const { return port_; }
  std::string Told() {
    thread_.join();
    return told_;
  }
  bool handshaken() const { return handshaken_; }

 private:
  std::shared_ptr<ssl_ctx_st> tls_;
  int listener_;
  std::uint16_t port_ = 0;
  std::string told_;
  bool handshaken_ = false;
  std::thread thread_;
};

class HostilePeers : public EnrolmentFixture {
 protected:
  HostilePeers() { ::signal(SIGPIPE, SIG_IGN); }  // the test's own clients write to peers that have gone
  /// An honest join gets through, in an honest time.
  void ExpectServed(const std::string& name) {
    const auto start = std::chrono::steady_clock::now();
    const auto issued = Join(Line(), name, NewKey());
    EXPECT_TRUE(issued.ok()) << issued.status().ToString();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  }
};

TEST_F(HostilePeers, AWrongPinGetsNoSecret) {
  Open();
  TemporaryDirectory elsewhere;
  const auto other = Must(
      ControllerIdentity::Make(elsewhere.path(), identity::Cluster(), identity_.names(), clock_.WallNow()));
  FakeController fake(other);
  auto line = Line();
  line.controller = At(fake.port());
  const auto refused = Join(line, "gpu-001", NewKey());
  ExpectRefused(refused, Code::kUnauthenticated, "is not the controller of this line, and was told nothing");
  EXPECT_EQ(fake.Told(), "");
  EXPECT_TRUE(fake.handshaken()) << "nothing was said because nothing could be";
}

TEST_F(HostilePeers, ANodesCertificateUnderTheRightCaIsNoController) {
  Open();
  const auto key = NewKey();
  const auto joined = Must(Join(Line(), "gpu-001", key));
  // The node shows its own certificate with the CA behind it: the pin is in the chain, and it is not enough.
  const auto tls = EnrolmentTls({joined.chain.front(), identity_.roots().front()}, key);
  ASSERT_TRUE(tls.ok());
  ExpectRefused(
      identity::Verify({joined.chain.front()}, identity_.roots(), identity::Servers(), clock_.WallNow()),
      Code::kUnauthenticated, "wrong purpose");
}

TEST_F(HostilePeers, AServerWithoutTlsGetsNoSecret) {
  Open();
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size);
  std::string told;
  std::thread server([&] {
    const int fd = ::accept(listener, nullptr, nullptr);
    const std::string_view greeting = "HTTP/1.1 400 Bad Request\r\n\r\n";
    (void)::send(fd, greeting.data(), greeting.size(), MSG_NOSIGNAL);
    char buffer[4096];
    ssize_t got = 0;
    while ((got = ::recv(fd, buffer, sizeof buffer, 0)) > 0)
      told.append(buffer, static_cast<std::size_t>(got));
    ::close(fd);
  });
  auto line = Line();
  line.controller = At(ntohs(at.sin_port));
  ExpectRefused(Join(line, "gpu-001", NewKey()), Code::kUnavailable, "TLS handshake");
  server.join();
  ::close(listener);
  const auto token = line.token.Text();
  EXPECT_EQ(told.find(token.Reveal()), std::string::npos);
  EXPECT_EQ(told.find(line.token.id()), std::string::npos);
}

TEST_F(HostilePeers, WhatIsNoRequestIsToldSo) {
  Open();
  const auto line = Line();
  const std::uint16_t port = Here().port;
  const auto refused = [&](std::string_view bytes) {
    const std::string frame = SayOverTls(port, bytes);
    if (frame.size() <= identity::kFrameHeadBytes) return "nothing: " + frame;
    const auto answer = identity::DecodeAnswer(std::string_view(frame).substr(identity::kFrameHeadBytes));
    if (!answer.ok()) return answer.status().ToString();
    const auto* no = std::get_if<identity::RefusedAnswer>(&*answer);
    return no != nullptr ? no->sentence : std::string("granted");
  };
  using namespace std::string_view_literals;
  EXPECT_NE(refused("GET / HTTP/1.1\r\nHost: x\r\n\r\n").find("another protocol"), std::string::npos);
  EXPECT_NE(refused("RWEN\x01\xff\xff"sv).find("65535 bytes"), std::string::npos);
  EXPECT_NE(refused("RWEN\x07\x00\x01x"sv).find("version is 7"), std::string::npos);
  EXPECT_NE(refused("RWEN\x01\x00\x01\x63"sv).find("asks for nothing that is known"), std::string::npos);
  EXPECT_NE(refused("RWEN\x01\x00\x05\x01\x2e"
                    "abc"sv)
                .find("cut short"),
            std::string::npos);
  ExpectServed("gpu-001");
}

TEST_F(HostilePeers, GarbageAndPlainHttpAreHungUpOn) {
  Open();
  const auto line = Line();
  const std::uint16_t port = Here().port;
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), std::string(20'000, 'A'), std::string(20'000, '\0'),
        std::string("\x16\x03\x01\xff\xff\x01", 6) + std::string(70'000, 'x')}) {
    Peer peer(port);
    ASSERT_TRUE(peer.connected());
    peer.Send(bytes);
    const std::string answer = peer.ReadAll();
    EXPECT_LT(answer.size(), 64u) << "at most an alert";
  }
  ExpectServed("gpu-001");
}

TEST_F(HostilePeers, AThousandIdleConnectionsKeepNobodyOut) {
  Open();
  const auto line = Line();
  std::vector<Peer> idle;
  idle.reserve(1000);
  // Of 100 addresses: below the bounds of one address, far above those of the port.
  for (int i = 0; i < 1000; ++i) {
    const std::string from = "127.0.1." + std::to_string(i % 100 + 1);
    idle.emplace_back(Here().port, from.c_str());
    EXPECT_TRUE(idle.back().connected());
  }
  ExpectServed("gpu-001");
  ExpectServed("gpu-002");
}

TEST_F(HostilePeers, OneAddressThatSaysNothingKeepsNotEvenItselfOut) {
  auto terms = Generous();
  terms.peers = {};
  Open(terms);
  const auto line = Line();
  std::vector<Peer> idle;
  for (int i = 0; i < 60; ++i) idle.emplace_back(Here().port);
  ExpectServed("gpu-001");
}

TEST_F(HostilePeers, ASlowOneIsCutAtTheDeadline) {
  auto terms = Generous();
  terms.deadline = 500ms;
  Open(terms);
  const auto line = Line();
  Peer half(Here().port);
  half.Send(std::string_view("\x16\x03\x01\x02\x00", 5));  // a record that never ends
  const auto start = std::chrono::steady_clock::now();
  std::thread drip([&] {
    for (int i = 0; i < 30; ++i) {
      half.Send("x");
      std::this_thread::sleep_for(50ms);
    }
  });
  (void)half.ReadAll();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  drip.join();
  // The same behind a handshake: half a frame, and then silence.
  const auto again = std::chrono::steady_clock::now();
  EXPECT_EQ(SayOverTls(Here().port, std::string_view("RWEN\x01\x00\x50", 7)), "");
  EXPECT_LT(std::chrono::steady_clock::now() - again, 5s);
  ExpectServed("gpu-001");
}

TEST_F(HostilePeers, AGuesserIsSlowedDown) {
  auto terms = Generous();
  terms.peers.failures_a_minute = 5;
  terms.peers.delay = 700ms;
  Open(terms);
  auto line = Line();
  const auto good = Line();
  line.token = Must(identity::JoinToken::Generate());
  for (int i = 0; i < 5; ++i)
    ExpectRefused(Join(line, "gpu-001", NewKey()), Code::kUnauthenticated, "unknown");
  const auto start = std::chrono::steady_clock::now();
  ExpectRefused(Join(line, "gpu-001", NewKey()), Code::kUnauthenticated, "unknown");
  EXPECT_GE(std::chrono::steady_clock::now() - start, 700ms);
  EXPECT_TRUE(Join(good, "gpu-001", NewKey()).ok()) << "slowed down, not locked out";
}

TEST_F(HostilePeers, WithoutDescriptorsThePeerIsHungUpOnAndLaterServed) {
  Open();
  const auto line = Line();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(Here().port);
  const int own = ::socket(AF_INET, SOCK_STREAM, 0);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(own) + 1;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  std::vector<int> used;
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) used.push_back(fd);
  const int none_left = errno;
  const int connected = ::connect(own, reinterpret_cast<sockaddr*>(&at), sizeof at);
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  char byte = 0;
  const auto got = ::recv(own, &byte, 1, 0);
  const int error = errno;
  for (const int fd : used) ::close(fd);
  ::close(own);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(none_left, EMFILE);
  EXPECT_EQ(connected, 0);
  EXPECT_TRUE(got == 0 || (got < 0 && error == ECONNRESET)) << "left to wait: " << error;
  ExpectServed("gpu-001");
}

TEST_F(HostilePeers, NoWordOfATokenIsLeftBehind) {
  Open();
  std::string seen;
  std::vector<identity::Secret> secrets;
  for (int i = 0; i < 3; ++i) {
    const auto line = Line();
    secrets.emplace_back(line.token.Text().Reveal().substr(identity::JoinToken::kIdChars + 1));
    seen += Join(line, "bad name", NewKey()).status().ToString();
    if (i > 0) seen += Must(Join(line, "gpu-00" + std::to_string(i), NewKey())).name;
    seen += Join(line, "gpu-009", NewKey()).status().ToString();
  }
  for (const AuditRow& row : store_.audit()) seen += row.who + row.action + row.subject + row.detail;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path()))
    if (entry.is_regular_file()) seen += Must(ReadWholeFile(entry.path().string(), 65536));
  const auto outcome = AnswerEnrolment(
      registry_,
      {.cluster = identity_.cluster(), .roots = {}, .signers = {}, .controllers = {}, .enrolment = {}},
      clock_, "\x01\x2e" + std::string(secrets[0].Reveal()), "127.0.0.1");
  seen += outcome.log + outcome.frame;
  for (const auto& secret : secrets) EXPECT_EQ(seen.find(secret.Reveal()), std::string::npos);
  EXPECT_NE(seen.find("gpu-002"), std::string::npos) << "what was looked through had something in it";
}

}  // namespace
}  // namespace railwright
