#include "agent/gate/gate.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "agent/gate/bell.h"
#include "agent/gate/body.h"
#include "agent/gate/budget.h"
#include "agent/gate/connection.h"

namespace railwright::gate {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Of one front, from its first byte to its last. The gate's thread uses it.
struct Front {
  Front(Descriptor socket, const GateOptions& options, Door::Time now)
      : connection(std::move(socket), Side::kFront),
        frames(options.frames_at_once, options.frames_a_second),
        commands(options.commands_at_once, options.commands_a_second),
        came(now) {}

  Connection connection;
  Budget frames, commands;
  const Door::Time came;
  bool version_seen = false;
};

struct Gate::Impl {
  Impl(GateOptions options_in, std::unique_ptr<Door> door_in, Parts parts_in)
      : options(options_in), door(std::move(door_in)), parts(std::move(parts_in)) {}

  const GateOptions options;
  const std::unique_ptr<Door> door;
  const Parts parts;
  std::optional<Bell> bell;
  std::thread thread;
  std::optional<Front> front;  // of the thread

  mutable std::mutex mutex;
  bool stopping = false;
  bool there = false;  // a front: what is enqueued is for it
  std::string text = "connecting: not tried yet";
  std::deque<std::string> outgoing;  // encoded, for the front that there is now
  std::size_t outgoing_bytes = 0;
  bool overflow = false;                // it did not take them
  std::uint64_t given = 0;              // the last connection number that the loop was given
  std::uint64_t connection = 0;         // the one that is open, 0: none
  std::uint64_t fronts_connection = 0;  // what the front calls that one
  // The last Redial: its number, above which the first connection after it is given, and what the front said
  // was its last connection before it.
  std::uint64_t barrier = 0;
  std::optional<std::uint64_t> dialled_before;

  void SetText(std::string now) {  // without `mutex`
    {
      const std::lock_guard lock(mutex);
      if (text == now) return;
      text = std::move(now);
    }
    if (parts.on_state) parts.on_state();
  }

  // With `mutex`. Without a front it is lost: the next one is to hear its version first.
  void Enqueue(const Frame& frame) {
    if (!there) return;
    std::string bytes = Encode(frame);
    // A frame that the other side would refuse is not begun: what is in it is the loop's to repeat or not.
    if (frame.body.size() > MostBytes(frame.kind, Side::kPrivileged)) return;
    if (outgoing.size() >= options.queue_frames || outgoing_bytes + bytes.size() > options.queue_bytes) {
      overflow = true;
      return;
    }
    outgoing_bytes += bytes.size();
    outgoing.push_back(std::move(bytes));
  }

  void Send(ToController message) {
    {
      const std::lock_guard lock(mutex);
      if (connection == 0 || message.connection != connection || overflow) return;
      message.connection = fronts_connection;
      Enqueue(FrameOf(message));
    }
    bell->Ring();
  }

  // More connections than a front makes before it has heard the order: its frames are budgeted.
  static constexpr std::uint64_t kBarrierAhead = 1'000'000;

  std::uint64_t Redial() {
    std::uint64_t order = 0;
    {
      const std::lock_guard lock(mutex);
      order = barrier = std::max(barrier, given) + kBarrierAhead;
      dialled_before.reset();
      Enqueue({FrameKind::kRedial, order, {}});
    }
    bell->Ring();
    return order;
  }

  Status OnRedialled(const Frame& frame) {
    RW_ASSIGN_OR_RETURN(const std::uint64_t before, ReadRedialled(frame));
    const std::lock_guard lock(mutex);
    if (frame.connection == barrier) dialled_before = before;  // else of an order before the last
    return Ok();
  }

  void Say(const Frame& frame) {
    {
      const std::lock_guard lock(mutex);
      Enqueue(frame);
    }
    bell->Ring();
  }

  void SayHello(std::uint64_t question) {
    const Frame frame{FrameKind::kHello, question, parts.hello().SerializeAsString()};
    const std::lock_guard lock(mutex);
    Enqueue(frame);
  }

  void Take(Descriptor socket, Door::Time now) {
    if (front) End(Status(Code::kUnavailable, "another has come in its place"), now, false);
    front.emplace(std::move(socket), options, now);
    {
      const std::lock_guard lock(mutex);
      there = true;
      Enqueue(VersionFrame());
      // It dials only after its first Hello, and so after every order that there was.
      if (barrier > given) dialled_before = 0;
    }
    SayHello(0);
  }

  void Forget() {
    front.reset();
    const std::lock_guard lock(mutex);
    there = false;
    outgoing.clear();
    outgoing_bytes = 0;
    overflow = false;
    connection = fronts_connection = 0;
  }

  void End(const Status& why, Door::Time now, bool tell_door = true) {
    const bool misbehaved = why.code() != Code::kUnavailable;
    Forget();
    if (tell_door) door->Lost(misbehaved, now);
    if (misbehaved) {
      const std::string what = "the half that talks to the network was cut off: " + why.message();
      if (parts.told) parts.told(what);
      SetText("connecting: " + what);
    } else {
      SetText("connecting: the half that talks to the network is away: " + why.message());
    }
  }

  // What the front has said. An error ends it.
  Status OnFrame(Frame frame) {
    const auto now = steady_clock::now();
    if (!front->frames.Take(now))
      return Status(Code::kResourceExhausted, "it sends more than a controller does (" +
                                                  std::string(Name(frame.kind)) + " was the last)");
    if (!std::exchange(front->version_seen, true)) return CheckVersion(frame);
    switch (frame.kind) {
      case FrameKind::kVersion: return Status(Code::kInvalidArgument, "a second version");
      case FrameKind::kAskHello: SayHello(frame.connection); return Ok();
      case FrameKind::kRedialled: return OnRedialled(frame);
      case FrameKind::kHeard: return parts.neighbours == nullptr ? Ok() : parts.neighbours->Take(frame);
      case FrameKind::kStateText: SetText(ReadStateText(frame)); return Ok();
      default: return OnMessage(frame, now);
    }
  }

  Status OnMessage(const Frame& frame, Door::Time now) {
    RW_ASSIGN_OR_RETURN(FromController message, ReadFromController(frame));
    {
      const std::lock_guard lock(mutex);
      if (frame.kind == FrameKind::kWelcome) {
        if (frame.connection <= fronts_connection)
          return Status(Code::kInvalidArgument, "a welcome for connection " +
                                                    std::to_string(frame.connection) + " after one for " +
                                                    std::to_string(fronts_connection));
        fronts_connection = frame.connection;
        if (barrier > given && dialled_before && frame.connection > *dialled_before) given = barrier;
        connection = ++given;
      } else if (connection == 0 || frame.connection != fronts_connection) {
        return Ok();  // of a connection that has ended meanwhile
      }
      message.connection = connection;
    }
    const auto* command = std::get_if<v1::Command>(&message.body);
    std::optional<ToController> busy;
    if (command != nullptr) busy = BusyAnswer(*command, message.connection);
    if (command != nullptr && !front->commands.Take(now)) {
      Send(*std::move(busy));
      return Ok();
    }
    if (PostToLoop(parts.inbox, std::move(message))) return Ok();
    if (!busy) return Status(Code::kResourceExhausted, "it sends faster than this agent can take it in");
    Send(*std::move(busy));
    return Ok();
  }

  // Frames that wait go out as far as the socket takes them.
  Status Write(Door::Time now) {
    if (front->connection.writing()) RW_RETURN_IF_ERROR(front->connection.Write(now));
    while (true) {
      std::string bytes;
      {
        const std::lock_guard lock(mutex);
        if (overflow)
          return Status(Code::kResourceExhausted,
                        "it does not read: " + std::to_string(outgoing.size()) + " frames wait for it");
        if (outgoing.empty() || front->connection.writing()) return Ok();
        bytes = std::move(outgoing.front());
        outgoing.pop_front();
        outgoing_bytes -= bytes.size();
      }
      RW_RETURN_IF_ERROR(front->connection.Begin(std::move(bytes), now));
    }
  }

  Status Serve(short events, Door::Time now) {
    if (events != 0)
      RW_RETURN_IF_ERROR(
          front->connection.Read(now, [this](Frame frame) { return OnFrame(std::move(frame)); }));
    RW_RETURN_IF_ERROR(Write(now));
    if (!front->version_seen && now - front->came >= options.version_within)
      return Status(Code::kDeadlineExceeded, "it said nothing");
    return front->connection.Stuck(now, options.stuck);
  }

  // Until when there is nothing to do; one second at least while a front is there whose patience may run out.
  int Wait(Door::Time now) const {
    auto wait = milliseconds(3'600'000);
    if (const auto due = door->due()) wait = std::min(wait, std::chrono::ceil<milliseconds>(*due - now));
    const bool watched =
        front && (!front->version_seen || front->connection.writing() || front->connection.reading());
    if (watched) wait = std::min(wait, milliseconds(500));
    return static_cast<int>(std::max(wait, milliseconds(0)).count());
  }

  void Run() {
    while (true) {
      auto now = steady_clock::now();
      const short front_events =
          static_cast<short>(POLLIN | (front && front->connection.writing() ? POLLOUT : 0));
      std::array<pollfd, 3> fds{{{bell->fd(), POLLIN, 0},
                                 {front ? front->connection.fd() : -1, front_events, 0},
                                 {door->fd(), POLLIN, 0}}};
      ::poll(fds.data(), fds.size(), Wait(now));
      now = steady_clock::now();
      if (fds[0].revents != 0) bell->Clear();
      {
        const std::lock_guard lock(mutex);
        if (stopping) break;
      }
      if (front)
        if (const Status status = Serve(static_cast<short>(fds[1].revents & ~POLLOUT), now); !status.ok())
          End(status, now);
      const auto due = door->due();
      if (fds[2].revents == 0 && !(due && *due <= now)) continue;
      auto socket = door->Look(now);
      if (socket) Take(std::move(*socket), now);
      if (front) continue;
      if (const std::string about = door->text(); !about.empty())
        SetText("connecting: the half that talks to the network: " + about);
    }
    SayGoodbye();
  }

  void SayGoodbye() {
    const auto until = steady_clock::now() + options.goodbye;
    auto now = steady_clock::now();
    bool whole = false;
    while (front && now < until && Write(now).ok()) {
      whole = !front->connection.writing();
      if (whole) break;
      pollfd ready{front->connection.fd(), POLLOUT, 0};
      ::poll(&ready, 1, static_cast<int>(std::chrono::ceil<milliseconds>(until - now).count()));
      now = steady_clock::now();
    }
    if (whole) front->connection.EndWriting();
    if (!whole) Forget();
    door->Close(options.front_ends_within);
    Forget();
  }
};

Gate::Gate(GateOptions options, std::unique_ptr<Door> door, Parts parts)
    : impl_(std::make_unique<Impl>(options, std::move(door), std::move(parts))) {}

Gate::~Gate() {
  if (impl_->parts.neighbours != nullptr) impl_->parts.neighbours->Through(nullptr);
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  if (impl_->bell) impl_->bell->Ring();
  if (impl_->thread.joinable()) impl_->thread.join();
}

Status Gate::Start() {
  RW_ASSIGN_OR_RETURN(Bell bell, Bell::Make());
  impl_->bell.emplace(std::move(bell));
  if (impl_->parts.neighbours != nullptr)
    impl_->parts.neighbours->Through([impl = impl_.get()](const Frame& frame) { impl->Say(frame); });
  impl_->thread = std::thread([impl = impl_.get()] { impl->Run(); });
  return Ok();
}

void Gate::Send(ToController message) { impl_->Send(std::move(message)); }
std::uint64_t Gate::Redial() { return impl_->Redial(); }

std::string Gate::StateText() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->text;
}

}  // namespace railwright::gate
