#include "controller/rpc/acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

namespace railwright {
namespace {

constexpr std::size_t kAddressesMost = 65'536;  // remembered at once; then all begin anew
constexpr int kBacklog = 1024;  // a pod that gets power back dials at once; the kernel caps it at somaxconn

sockaddr_un UnixAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size(), sizeof address.sun_path - 1));
  return address;
}

/// Whether somebody listens there. A stale socket refuses.
bool Answers(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return true;  // not known, so not removed
  const sockaddr_un address = UnixAddress(path);
  const int result = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  close(fd);
  return result == 0 || error != ECONNREFUSED;  // EAGAIN: its backlog is full, so it lives
}

}  // namespace

Acceptor::~Acceptor() { Stop(); }

Result<Address> Acceptor::Listen(const Address& address) {
  auto listener = address.kind == Address::Kind::kUnix ? ListenUnix(address) : ListenTcp(address);
  if (!listener.ok()) return listener.status();
  Address bound = address;
  if (address.kind == Address::Kind::kTcp && address.port == 0) {
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    getsockname(listener->fd, reinterpret_cast<sockaddr*>(&name), &size);
    bound.port = ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(name).sin6_port
                                                  : reinterpret_cast<sockaddr_in&>(name).sin_port);
  }
  listeners_.push_back(std::move(*listener));
  return bound;
}

Result<Acceptor::Listener> Acceptor::ListenUnix(const Address& wanted) {
  const std::string& path = wanted.path;
  const std::string what = "cannot listen on unix:" + path;
  struct stat info {};
  if (lstat(path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode))
      return Status(Code::kAlreadyExists,
                    what + ": there is a file of that name that is no socket; use another path", EEXIST);
    if (Answers(path))
      return Status(Code::kAlreadyExists,
                    what + ": another program listens there; stop it, or use another --listen address",
                    EADDRINUSE);
    if (unlink(path.c_str()) != 0)
      return FromErrno(errno, what + ": a socket left over by a killed controller");
  }
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return FromErrno(errno, what);
  const sockaddr_un address = UnixAddress(path);
  const mode_t old = umask(0177);  // 0600 from its first moment: the kernel keeps everybody else out
  const int bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  umask(old);
  if (bound != 0 || listen(fd, kBacklog) != 0) {
    const int number = bound != 0 ? error : errno;
    close(fd);
    return FromErrno(number, what);
  }
  return Listener{fd, path};
}

Result<Acceptor::Listener> Acceptor::ListenTcp(const Address& wanted) {
  const std::string what = "cannot listen on " + wanted.ToString();
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const int lookup = getaddrinfo(wanted.host.c_str(), std::to_string(wanted.port).c_str(), &hints, &found);
  if (lookup != 0) return Status(Code::kInvalidArgument, what + ": " + gai_strerror(lookup));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, &freeaddrinfo);
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return FromErrno(errno, what);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);  // a restart must not wait for TIME_WAIT
  if (bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, kBacklog) != 0) {
    const int error = errno;
    close(fd);
    if (error != EADDRINUSE) return FromErrno(error, what);
    return Status(Code::kAlreadyExists,
                  what + ": " + std::strerror(error) +
                      " by another program (ss -ltnp shows which); stop it, or use "
                      "another --listen address",
                  error);
  }
  return Listener{fd, ""};
}

void Acceptor::Start(OnConnection on_connection) {
  on_connection_ = std::move(on_connection);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  spare_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  thread_ = std::thread([this] { Run(); });
}

void Acceptor::Stop() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    (void)!write(wake_, &one, sizeof one);
    thread_.join();
  }
  for (const Listener& listener : listeners_) {
    close(listener.fd);
    if (!listener.path.empty()) unlink(listener.path.c_str());
  }
  listeners_.clear();
  for (int* fd : {&wake_, &spare_}) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
}

void Acceptor::Run() {
  std::vector<pollfd> polled{{wake_, POLLIN, 0}};
  for (const Listener& listener : listeners_) polled.push_back({listener.fd, POLLIN, 0});
  while (true) {
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) {
      spdlog::critical("the acceptor cannot poll: {}", std::strerror(errno));
      return;
    }
    if (polled[0].revents != 0) return;
    for (std::size_t i = 1; i < polled.size(); ++i)
      if (polled[i].revents != 0) AcceptAll(listeners_[i - 1]);
  }
}

bool Acceptor::Welcome(const sockaddr_storage& from) {
  char text[INET6_ADDRSTRLEN] = "";
  if (from.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    if (ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET) return true;
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  } else {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
    if (IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr)) return true;
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  }
  const auto now = std::chrono::steady_clock::now();
  if (seen_.size() >= kAddressesMost) seen_.clear();
  Seen& seen = seen_.try_emplace(text, Seen{burst_, now}).first->second;
  seen.tokens =
      std::min(burst_, seen.tokens + std::chrono::duration<double>(now - seen.at).count() * per_second_);
  seen.at = now;
  if (seen.tokens < 1) return false;
  seen.tokens -= 1;
  return true;
}

void Acceptor::AcceptAll(const Listener& listener) {
  while (true) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    const int fd =
        accept4(listener.fd, reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      const bool local = !listener.path.empty();
      if (!local && !Welcome(from)) {
        close(fd);
        continue;
      }
      const int on = 1;
      if (!local) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      on_connection_(fd, listener.fd, local);
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN) return;
    const int error = errno;
    static auto last = std::chrono::steady_clock::time_point{};
    if (const auto now = std::chrono::steady_clock::now(); now - last > std::chrono::seconds(10)) {
      last = now;
      spdlog::error("cannot accept a connection: {}; raise LimitNOFILE", std::strerror(error));
    }
    if (error != EMFILE && error != ENFILE) return;
    // The peer is hung up on instead of being left to wait, and poll does not spin.
    close(spare_);
    const int refused = accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC);
    if (refused >= 0) close(refused);
    spare_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (refused < 0) return;
  }
}

}  // namespace railwright
