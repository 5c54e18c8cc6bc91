#include "controller/enrol/enrolment_port.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "controller/enrol/tls_context.h"
#include "controller/identity/address_range.h"

namespace railwright {

using std::chrono::steady_clock;

namespace {

constexpr int kBacklog = 128;
constexpr int kWorkers =
    2;  // joins wait for the disk, one after the other; a question should not wait for them
constexpr std::chrono::milliseconds kLook{250};  // for a token that was made
constexpr std::chrono::seconds kLingers{1}, kToWrite{2};
constexpr std::chrono::seconds kLogWindow{10};
constexpr std::size_t kLinesAWindow = 10;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

SocketAddress AddressOf(const identity::Endpoint& at) {
  SocketAddress address;
  const std::string& bytes = at.host.address();
  if (bytes.size() == 4) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(at.port);
    std::memcpy(&v4.sin_addr, bytes.data(), bytes.size());
    address.size = sizeof v4;
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(at.port);
    std::memcpy(&v6.sin6_addr, bytes.data(), bytes.size());
    address.size = sizeof v6;
  }
  return address;
}

std::string TextOf(const sockaddr_storage& storage) {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET6)
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr, text, sizeof text);
  else
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(storage).sin_addr, text, sizeof text);
  return PlainAddress(text);
}

void NoSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // SIGPIPE among them: OpenSSL writes to sockets by write()
}

}  // namespace

EnrolmentPort::EnrolmentPort(Registry& registry, const Clock& clock, Terms terms)
    : registry_(registry), clock_(clock), terms_(std::move(terms)), peers_(terms_.peers) {}

EnrolmentPort::~EnrolmentPort() { Stop(); }

std::shared_ptr<const EnrolmentPort::Shown> EnrolmentPort::shown() const {
  const std::lock_guard lock(shown_mutex_);
  return shown_;
}

Status EnrolmentPort::Show(const ControllerIdentity& identity) {
  RW_ASSIGN_OR_RETURN(auto tls, EnrolmentTls(identity.chain(), identity.key()));
  auto enrolment = terms_.enrolment;
  if (enrolment.empty() && !terms_.listen.empty()) enrolment = identity.At(terms_.listen.front().port);
  auto fresh = std::make_shared<const Shown>(Shown{std::move(tls),
                                                   {.cluster = identity.cluster(),
                                                    .roots = identity.roots(),
                                                    .signers = identity.signers(),
                                                    .controllers = terms_.controllers,
                                                    .enrolment = std::move(enrolment)}});
  const std::lock_guard lock(shown_mutex_);
  shown_ = std::move(fresh);
  names_ = identity.names();
  return Ok();
}

Result<int> EnrolmentPort::Listen(const identity::Endpoint& at) {
  const std::string what = "the enrolment port cannot listen on " + at.Text();
  if (!at.host.is_address())
    return Status(Code::kInvalidArgument, what + ": it takes an IP address; 0.0.0.0 or [::] is every one");
  SocketAddress address = AddressOf(at);
  const int fd = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return FromErrno(errno, what);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd, address.get(), address.size) != 0 || ::listen(fd, kBacklog) != 0) {
    const int error = errno;
    ::close(fd);
    if (error != EADDRINUSE) return FromErrno(error, what);
    return Status(Code::kAlreadyExists,
                  what + ": " + std::strerror(error) +
                      " by another program (ss -ltnp shows which); stop it, or use "
                      "another address",
                  error);
  }
  return fd;
}

Status EnrolmentPort::OpenListeners() {
  for (identity::Endpoint& at : terms_.listen) {
    const auto fd = Listen(at);
    if (!fd.ok()) {
      CloseListeners();
      return fd.status();
    }
    listeners_.push_back(*fd);
    if (at.port != 0) continue;
    SocketAddress name;
    name.size = sizeof name.storage;
    ::getsockname(*fd, name.get(), &name.size);
    at.port =
        ntohs(name.storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(name.storage).sin6_port
                                                 : reinterpret_cast<sockaddr_in&>(name.storage).sin_port);
  }
  listening_ = true;
  return Ok();
}

void EnrolmentPort::CloseListeners() {
  for (const int fd : listeners_) ::close(fd);
  listeners_.clear();
  listening_ = false;
}

Status EnrolmentPort::Start() {
  if (shown() == nullptr) return Status(Code::kFailedPrecondition, "the enrolment port has nothing to show");
  if (terms_.listen.empty()) return Status(Code::kInvalidArgument, "the enrolment port has no address");
  // Told now, and not by an answer that cannot be written once the token is used up.
  if (terms_.controllers.empty())
    return Status(Code::kInvalidArgument, "the enrolment port has no controller to tell of");
  RW_RETURN_IF_ERROR(OpenListeners());
  if (!registry_.EnrolmentAwaited()) CloseListeners();
  if (terms_.enrolment.empty()) {
    // The port is known only now, when 0 was asked for.
    const std::lock_guard lock(shown_mutex_);
    auto again = std::make_shared<Shown>(*shown_);
    again->world.enrolment.clear();
    for (const auto& name : names_) again->world.enrolment.push_back({name, terms_.listen.front().port});
    shown_ = std::move(again);
  }
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  spare_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (wake_ < 0 || spare_ < 0) return FromErrno(errno, "the enrolment port");
  for (int i = 0; i < kWorkers; ++i) workers_.emplace_back([this] { Work(); });
  thread_ = std::thread([this] { Run(); });
  return Ok();
}

void EnrolmentPort::Stop() {
  stopping_ = true;
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    (void)!::write(wake_, &one, sizeof one);
    thread_.join();
  }
  {
    const std::lock_guard lock(jobs_mutex_);
    no_more_jobs_ = true;
  }
  has_job_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  connections_.clear();
  CloseListeners();
  for (int* fd : {&wake_, &spare_}) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
}

void EnrolmentPort::Work() {
  NoSignals();
  while (true) {
    std::unique_lock lock(jobs_mutex_);
    has_job_.wait(lock, [this] { return no_more_jobs_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    auto outcome = AnswerEnrolment(registry_, shown()->world, clock_, job.body.Reveal(), job.address);
    lock.lock();
    answered_.push_back({job.id, std::move(outcome)});
    const std::uint64_t one = 1;
    (void)!::write(wake_, &one, sizeof one);
  }
}

void EnrolmentPort::OpenOrClose() {
  const auto now = steady_clock::now();
  if (now < next_look_) return;
  next_look_ = now + kLook;
  const bool wanted = registry_.EnrolmentAwaited();
  if (wanted && !listening_) {
    const Status opened = OpenListeners();
    if (opened.ok()) {
      spdlog::info("the enrolment port {} is open: somebody is expected", terms_.listen.front().Text());
    } else if (now >= next_complaint_) {
      next_complaint_ = now + kLogWindow;
      spdlog::error("{}", opened.message());
    }
  } else if (!wanted && listening_) {
    CloseListeners();
    spdlog::info("the enrolment port {} is closed: nobody is expected", terms_.listen.front().Text());
  }
}

void EnrolmentPort::Run() {
  NoSignals();
  while (!stopping_) {
    OpenOrClose();
    TakeAnswers();
    Expire();
    std::vector<pollfd> polled{{wake_, POLLIN, 0}};
    for (const int fd : listeners_) polled.push_back({fd, POLLIN, 0});
    const std::size_t first = polled.size();
    std::vector<std::uint64_t> ids;
    for (const auto& [id, connection] : connections_) {
      // A peer that hangs up while it waits for us would wake poll for ever; it is looked at when it is its
      // turn.
      const short events = connection->events();
      polled.push_back({events == 0 ? -1 : connection->fd(), events, 0});
      ids.push_back(id);
    }
    if (::poll(polled.data(), polled.size(), static_cast<int>(kLook.count())) < 0 && errno != EINTR) {
      spdlog::critical("the enrolment port cannot poll: {}", std::strerror(errno));
      return;
    }
    if (std::uint64_t count = 0; polled[0].revents != 0) (void)!::read(wake_, &count, sizeof count);
    for (std::size_t i = first; i < polled.size(); ++i) {
      if (polled[i].revents == 0) continue;
      const auto at = connections_.find(ids[i - first]);
      at->second->Go();
      Attend(at->first, *at->second);
    }
    // Last: connections that are made room for are not looked at any more.
    for (std::size_t i = 1; i < first; ++i)
      if (polled[i].revents != 0) Accept(polled[i].fd);
  }
}

// After a connection went on: ended ones go, whole requests wait for their turn.
void EnrolmentPort::Attend(std::uint64_t id, EnrolmentConnection& connection) {
  const auto now = steady_clock::now();
  if (connection.state() == EnrolmentConnection::State::kWriting) connection.Go();
  if (connection.malformed() && connection.start == EnrolmentConnection::Time{}) {
    connection.start = now;
    peers_.Failed(connection.peer(), now);
  }
  switch (connection.state()) {
    case EnrolmentConnection::State::kAsked:
      if (connection.start == EnrolmentConnection::Time{})
        connection.start = now + peers_.DelayOf(connection.peer(), now);
      if (now < connection.start) return;
      {
        const std::lock_guard lock(jobs_mutex_);
        jobs_.push_back({id, connection.TakeRequest(), connection.address()});
      }
      has_job_.notify_one();
      return;
    case EnrolmentConnection::State::kLingering:
      connection.deadline = std::min(connection.deadline, now + kLingers);
      return;
    case EnrolmentConnection::State::kEnded: connections_.erase(id); return;
    case EnrolmentConnection::State::kReading:
    case EnrolmentConnection::State::kWorking:
    case EnrolmentConnection::State::kWriting: return;
  }
}

void EnrolmentPort::TakeAnswers() {
  std::deque<Answered> answered;
  {
    const std::lock_guard lock(jobs_mutex_);
    answered.swap(answered_);
  }
  for (Answered& one : answered) {
    const auto at = connections_.find(one.id);
    if (at == connections_.end()) continue;
    EnrolmentConnection& connection = *at->second;
    Log(one.outcome, connection.address());
    const auto now = steady_clock::now();
    if (one.outcome.failed) peers_.Failed(connection.peer(), now);
    connection.deadline = std::max(connection.deadline, now + kToWrite);
    connection.Answer(std::move(one.outcome.frame));
    Attend(at->first, connection);
  }
}

void EnrolmentPort::Expire() {
  const auto now = steady_clock::now();
  std::vector<std::uint64_t> due;
  for (const auto& [id, connection] : connections_)
    if (connection->state() == EnrolmentConnection::State::kAsked ||
        (connection->state() != EnrolmentConnection::State::kWorking && now >= connection->deadline))
      due.push_back(id);
  for (const std::uint64_t id : due) {
    const auto at = connections_.find(id);
    if (at->second->state() == EnrolmentConnection::State::kAsked && now < at->second->deadline)
      Attend(id, *at->second);
    else
      connections_.erase(at);
  }
}

bool EnrolmentPort::MakeRoom(const std::string& peer) {
  const auto of_peer = static_cast<std::size_t>(std::count_if(
      connections_.begin(), connections_.end(), [&](const auto& one) { return one.second->peer() == peer; }));
  const bool crowded = of_peer >= terms_.most_of_one_peer;
  if (!crowded && connections_.size() < terms_.most_connections) return true;
  // Ids grow: the first is the oldest.
  const auto oldest = std::find_if(connections_.begin(), connections_.end(), [&](const auto& one) {
    return one.second->state() != EnrolmentConnection::State::kWorking &&
           (!crowded || one.second->peer() == peer);
  });
  if (oldest == connections_.end()) return false;
  connections_.erase(oldest);
  return true;
}

void EnrolmentPort::Accept(int listener) {
  while (true) {
    SocketAddress from;
    from.size = sizeof from.storage;
    const int fd = ::accept4(listener, from.get(), &from.size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) return;
      const int error = errno;
      if (const auto now = steady_clock::now(); now >= next_complaint_) {
        next_complaint_ = now + kLogWindow;
        spdlog::error("the enrolment port cannot accept a connection: {}; raise LimitNOFILE",
                      std::strerror(error));
      }
      if (error != EMFILE && error != ENFILE) return;
      // The peer is hung up on instead of being left to wait, and poll does not spin.
      ::close(spare_);
      const int refused = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (refused >= 0) ::close(refused);
      spare_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (refused < 0) return;
      continue;
    }
    const auto now = steady_clock::now();
    std::string address = TextOf(from.storage);
    std::string peer = Peers::Of(address);
    if (!peers_.Admit(peer, now) || !MakeRoom(peer)) {
      ::close(fd);
      continue;
    }
    const std::uint64_t id = next_id_++;
    auto connection = std::make_unique<EnrolmentConnection>(fd, shown()->tls.get(), std::move(address),
                                                            std::move(peer), now, now + terms_.deadline);
    connections_.emplace(id, std::move(connection));
  }
}

void EnrolmentPort::Log(const EnrolmentOutcome& outcome, const std::string& address) {
  if (outcome.log.empty()) return;
  if (outcome.issued) {
    spdlog::info("enrolment from {}: {}", address, outcome.log);
    return;
  }
  const auto now = steady_clock::now();
  if (now - log_since_ >= kLogWindow) {
    if (logged_ > kLinesAWindow)
      spdlog::warn("enrolment: {} more refusals are not written here one by one", logged_ - kLinesAWindow);
    log_since_ = now;
    logged_ = 0;
  }
  if (++logged_ <= kLinesAWindow) spdlog::warn("enrolment from {}: {}", address, outcome.log);
}

}  // namespace railwright
