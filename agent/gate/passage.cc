#include "agent/gate/passage.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/gate/body.h"

namespace railwright::gate {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

/// How often, and for how long after a question, neighbours are heard. Their answers take microseconds; the
/// loop asks anew each second.
constexpr milliseconds kHearing{20}, kAnswersWithin{3'000};

}  // namespace

Result<Descriptor> ConnectToGate(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return Status(Code::kInvalidArgument, "--gate " + path + ": a path of at most " +
                                              std::to_string(sizeof address.sun_path - 1) +
                                              " bytes is needed");
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return FromErrno(errno, "socket");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return FromErrno(errno, path);
  return socket;
}

Passage::Passage(Descriptor socket, Bell bell)
    : bell_(std::move(bell)),
      connection_(std::move(socket), Side::kPrivileged),
      inbox_([this] { bell_.Ring(); }, InboxBound()) {}

Status Passage::Open(int signals, milliseconds within) {
  const auto until = steady_clock::now() + within;
  RW_RETURN_IF_ERROR(connection_.Begin(Encode(VersionFrame()), steady_clock::now()));
  while (!known_) {
    const auto now = steady_clock::now();
    if (now >= until)
      return Status(Code::kDeadlineExceeded,
                    "the privileged half said nothing for " + std::to_string(within.count()) + " ms");
    RW_RETURN_IF_ERROR(Wait(signals, std::chrono::ceil<milliseconds>(until - now)));
    RW_RETURN_IF_ERROR(
        connection_.Read(steady_clock::now(), [this](Frame frame) { return OnFrame(frame, {}); }));
    RW_RETURN_IF_ERROR(connection_.Write(steady_clock::now()));
  }
  return Ok();
}

Result<Passage::End> Passage::Run(int signals, const Caller& caller) {
  while (true) {
    HearPeers(caller);
    Status status = Write(caller.text);
    if (status.ok()) status = Wait(signals, asked_peers_.empty() ? milliseconds(-1) : kHearing);
    if (status.ok())
      status = connection_.Read(steady_clock::now(), [&](Frame frame) { return OnFrame(frame, caller); });
    if (status.ok()) continue;
    Close();
    if (status.code() == Code::kAborted) return End::kSignal;
    if (status.code() == Code::kUnavailable) return End::kPrivilegedHalf;
    return status;
  }
}

// Aborted when `signals` is readable.
Status Passage::Wait(int signals, milliseconds longest) {
  const short events = static_cast<short>(POLLIN | (connection_.writing() ? POLLOUT : 0));
  std::array<pollfd, 3> fds{{{signals, POLLIN, 0}, {bell_.fd(), POLLIN, 0}, {connection_.fd(), events, 0}}};
  if (::poll(fds.data(), fds.size(), static_cast<int>(longest.count())) < 0 && errno != EINTR)
    return FromErrno(errno, "poll");
  if (fds[1].revents != 0) bell_.Clear();
  if (fds[0].revents != 0) return Status(Code::kAborted, "a signal");
  return Ok();
}

Status Passage::OnFrame(const Frame& frame, const Caller& caller) {
  if (!std::exchange(version_seen_, true)) return CheckVersion(frame);
  if (frame.kind == FrameKind::kHello) {
    OnHello(frame);
    return Ok();
  }
  if (frame.kind == FrameKind::kRedial) {
    // Behind what was heard before: a Welcome that follows it is of a connection that was dialled after it.
    waiting_.push_back(RedialledFrame(frame.connection, caller.redial ? caller.redial() : 0));
    return Ok();
  }
  if (frame.kind == FrameKind::kAskPeers) return AskPeers(frame, caller);
  auto message = ReadToController(frame);
  if (!message.ok()) return message.status();
  if (caller.send) caller.send(*std::move(message));
  return Ok();
}

Status Passage::AskPeers(const Frame& frame, const Caller& caller) {
  RW_ASSIGN_OR_RETURN(const PeerQuestion question, ReadAskPeers(frame));
  if (caller.neighbours == nullptr) return Ok();
  caller.neighbours->Ask(question.netdev, question.addresses);
  asked_peers_[question.netdev] = {frame.connection, question.addresses.size(), 0,
                                   steady_clock::now() + kAnswersWithin};
  return Ok();
}

// Tells each time that one more has answered, or at once why none can be asked.
void Passage::HearPeers(const Caller& caller) {
  const auto now = steady_clock::now();
  for (auto one = asked_peers_.begin(); one != asked_peers_.end();) {
    Asked& asked = one->second;
    const PeerAnswer answer{caller.neighbours->Obstacle(one->first), caller.neighbours->Answered(one->first)};
    if (answer.answered.size() > asked.told || !answer.obstacle.empty())
      waiting_.push_back(HeardFrame(asked.question, answer));
    asked.told = answer.answered.size();
    const bool all = asked.told >= asked.peers || !answer.obstacle.empty() || now >= asked.until;
    one = all ? asked_peers_.erase(one) : std::next(one);
  }
}

void Passage::OnHello(const Frame& frame) {
  v1::Hello hello;
  if (!hello.ParseFromString(frame.body)) return;
  const std::lock_guard lock(mutex_);
  hello_ = std::move(hello);
  known_ = true;
  answer_ = std::max(answer_, frame.connection);
  answered_.notify_all();
}

v1::Hello Passage::Hello(milliseconds patience) {
  std::unique_lock lock(mutex_);
  const std::uint64_t question = ++asked_;
  bell_.Ring();
  answered_.wait_for(lock, patience, [&] { return closed_ || answer_ >= question; });
  return hello_;
}

void Passage::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  answered_.notify_all();
}

// What the session said of itself goes before what it heard meanwhile, so that what the loop writes down is
// true.
Status Passage::Write(const std::function<std::string()>& text) {
  const auto now = steady_clock::now();
  RW_RETURN_IF_ERROR(connection_.Write(now));
  // Taken only as it can be sent: what waits in the inbox is bounded, and gives way to what is newer.
  while (!connection_.writing()) {
    if (waiting_.empty()) {
      for (FromController& message : inbox_.TakeAll()) waiting_.push_back(FrameOf(message));
      if (std::string told = text(); told != told_text_) {
        waiting_.push_front(
            {FrameKind::kStateText, 0, told.substr(0, MostBytes(FrameKind::kStateText, Side::kFront))});
        told_text_ = std::move(told);
      }
      const std::lock_guard lock(mutex_);
      if (asked_ > sent_) waiting_.push_front({FrameKind::kAskHello, sent_ = asked_, {}});
    }
    if (waiting_.empty()) return Ok();
    Frame next = std::move(waiting_.front());
    waiting_.pop_front();
    RW_RETURN_IF_ERROR(connection_.Begin(Encode(next), now));
  }
  return Ok();
}

}  // namespace railwright::gate
