#include "agent/session/session.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "agent/session/stream.h"
#include "core/wire/wire.h"

namespace railwright {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr milliseconds kGoodbye{500};  // how long the end of a session may wait for the wire
constexpr std::chrono::seconds kAskWhyAgain{30};

// A channel of its own for each attempt, so that how often is dialled is decided here and nowhere else.
std::shared_ptr<grpc::Channel> Dial(const Address& address, const Way& way) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a shared subchannel would keep its own back-off
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // http_proxy in the environment must not reroute control
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // A dead peer is noticed within 40 s; the controller allows a ping each 20 s.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, 8192);
  arguments.SetMaxReceiveMessageSize(4 << 20);  // a desired state is some 8 KiB
  return grpc::CreateCustomChannel(address.Target(), way.credentials, arguments);
}

// gRPC's words without its preamble and without the address, which is said already.
std::string Sentence(const grpc::Status& status, const Address& address) {
  if (status.ok()) return "the controller ended the stream";
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED)
    return "what listens there is no Railwright controller of wire " + std::to_string(kWireMin) + "…" +
           std::to_string(kWire);
  std::string text = status.error_message();
  for (const std::string& preamble :
       {std::string("failed to connect to all addresses; last error: "), std::string("UNKNOWN: "),
        std::string("UNAVAILABLE: "), address.Target() + ": "})
    if (text.starts_with(preamble)) text.erase(0, preamble.size());
  return text.empty() ? "the stream ended with code " + std::to_string(status.error_code()) : text;
}

v1::AgentMessage Envelope(ToController message) {
  v1::AgentMessage out;
  std::visit(
      [&out](auto&& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<Body, v1::Ack>) *out.mutable_ack() = std::move(body);
        if constexpr (std::is_same_v<Body, v1::Nack>) *out.mutable_nack() = std::move(body);
        if constexpr (std::is_same_v<Body, v1::Report>) *out.mutable_report() = std::move(body);
        if constexpr (std::is_same_v<Body, v1::Heartbeat>) *out.mutable_heartbeat() = std::move(body);
        if constexpr (std::is_same_v<Body, v1::CommandResult>) *out.mutable_result() = std::move(body);
        if constexpr (std::is_same_v<Body, v1::Catalog>) *out.mutable_catalog() = std::move(body);
      },
      std::move(message.body));
  return out;
}

// The other end was there, and closed the socket: before the first message that is a refused certificate,
// whose reason gRPC does not carry.
bool HungUp(const grpc::Status& status) {
  if (status.error_code() != grpc::StatusCode::UNAVAILABLE) return false;
  const std::string& text = status.error_message();
  for (const char* word : {"closed", "handshak", "reset"})
    if (text.find(word) != std::string::npos) return true;
  return false;
}

// "ipv6:%5B2001:db8::7%5D:7443" → "2001:db8::7"; "" for a Unix socket.
std::string HostOf(std::string peer) {
  for (const auto& [coded, bracket] : {std::pair("%5B", "["), std::pair("%5D", "]")})
    if (const auto at = peer.find(coded); at != std::string::npos) peer.replace(at, 3, bracket);
  const auto scheme = peer.find(':');
  if (scheme == std::string::npos || !peer.starts_with("ipv")) return {};
  const auto address = ParseAddress(std::string_view(peer).substr(scheme + 1));
  return address.ok() ? address->host : std::string();
}

}  // namespace

struct Session::Impl {
  // Where a connection stands. kRefused and kBroken are over: only OnDone is awaited.
  enum class Phase { kIdle, kDialling, kWelcomed, kRefused, kBroken };

  Impl(SessionOptions options_in, std::function<v1::Hello()> hello_in, Queue<FromController>& inbox_in,
       std::function<void()> on_state_in)
      : options(std::move(options_in)),
        hello(std::move(hello_in)),
        inbox(inbox_in),
        on_state(std::move(on_state_in)),
        random(options.seed != 0
                   ? options.seed
                   : std::hash<std::string>{}(options.node) ^
                         static_cast<std::uint64_t>(steady_clock::now().time_since_epoch().count())) {}

  const SessionOptions options;
  const std::function<v1::Hello()> hello;
  Queue<FromController>& inbox;
  const std::function<void()> on_state;
  std::mt19937_64 random;  // of the dialling thread

  mutable std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  Phase phase = Phase::kIdle;
  bool ended = true;        // the present stream's OnDone has run
  bool hung_up_on = false;  // by the other end, or nobody was there; not by us
  bool redial = false;      // asked for, and not begun yet
  std::uint64_t connection = 0;
  Stream* stream = nullptr;  // on the dialling thread's stack
  std::string text = "connecting: not tried yet";
  std::string failure;  // why the present stream is being ended, when it is our own decision
  steady_clock::time_point welcomed_at;
  Address address;                        // of the present attempt
  std::shared_ptr<tls::Verdict> verdict;  // of the present attempt
  std::string hung_up;                    // what was found out last, of the dialling thread
  steady_clock::time_point asked_why{};   // of the dialling thread
  std::thread dialler;

  void SetText(std::string now) {  // without `mutex`
    {
      const std::lock_guard lock(mutex);
      if (text == now) return;
      text = std::move(now);
    }
    if (on_state) on_state();
  }

  // In gRPC's thread.
  void OnMessage(v1::ControllerMessage message) {
    switch (message.body_case()) {
      case v1::ControllerMessage::kWelcome: return OnWelcome(std::move(*message.mutable_welcome()));
      case v1::ControllerMessage::kRefusal: return OnRefusal(message.refusal());
      case v1::ControllerMessage::kDesired: return Pass(std::move(*message.mutable_desired()));
      case v1::ControllerMessage::kReportAck: return Pass(std::move(*message.mutable_report_ack()));
      case v1::ControllerMessage::kCommand: return Pass(std::move(*message.mutable_command()));
      case v1::ControllerMessage::kPauses: return Pass(std::move(*message.mutable_pauses()));
      case v1::ControllerMessage::BODY_NOT_SET: return;  // a newer controller's: not for us
    }
  }

  template <class Body>
  void Pass(Body body) {
    std::uint64_t over = 0;
    {
      const std::lock_guard lock(mutex);
      if (phase == Phase::kDialling)
        return Break("the controller's first message was neither a welcome nor a refusal");
      if (phase != Phase::kWelcomed) return;
      over = connection;
    }
    Hand(std::move(body), over);
  }

  // To the loop, which may be busy for long.
  template <class Body>
  void Hand(Body body, std::uint64_t over, std::string host = {}) {
    std::optional<ToController> busy;
    if constexpr (std::is_same_v<Body, v1::Command>) busy = BusyAnswer(body, over);
    if (PostToLoop(inbox, {std::move(body), over, std::move(host)})) return;
    if (busy) return Send(*std::move(busy));
    const std::lock_guard lock(mutex);
    if (phase == Phase::kWelcomed) Break("the controller sends faster than this agent can take it in");
  }

  void Send(ToController message) {
    const std::lock_guard lock(mutex);
    if (phase != Phase::kWelcomed || message.connection != connection) return;
    if (!stream->Send(Envelope(std::move(message))))
      Break("the controller does not read: " + std::to_string(options.queue_limit) + " messages wait for it");
  }

  std::uint64_t Redial() {
    std::uint64_t before = 0;
    {
      const std::lock_guard lock(mutex);
      redial = true;
      before = connection;
      if (!ended && (phase == Phase::kWelcomed || phase == Phase::kDialling))
        Break("dialled anew, to see whether the way to the controller still works");
    }
    changed.notify_all();
    return before;
  }

  void OnWelcome(v1::Welcome welcome) {
    std::uint64_t over = 0;
    std::string host;
    {
      const std::lock_guard lock(mutex);
      if (phase != Phase::kDialling) return;
      if (welcome.wire() < kWireMin || welcome.wire() > kWire)
        return Break("the controller (" + welcome.version() + ") chose wire " +
                     std::to_string(welcome.wire()) + ", this agent speaks " + std::to_string(kWireMin) +
                     "…" + std::to_string(kWire) + "; update the older of the two");
      phase = Phase::kWelcomed;
      welcomed_at = steady_clock::now();
      over = connection;
      host = HostOf(stream->Peer());
    }
    SetText("connected");  // before the loop acts upon it, so that what it writes down is true
    Hand(std::move(welcome), over, std::move(host));
    changed.notify_all();
  }

  void OnRefusal(const v1::Refusal& refusal) {
    {
      const std::lock_guard lock(mutex);
      if (phase != Phase::kDialling && phase != Phase::kWelcomed) return;
      phase = Phase::kRefused;
      failure = refusal.message().empty() ? v1::Refusal::Reason_Name(refusal.reason()) : refusal.message();
      stream->Cancel();  // the controller ends it too; one that does not must not hold us
    }
    changed.notify_all();
  }

  void Break(std::string why) {  // with `mutex`
    phase = Phase::kBroken;
    failure = std::move(why);
    stream->Cancel();
  }

  // In gRPC's thread, the last thing that a stream does.
  void OnEnd(const grpc::Status& status) {
    const std::lock_guard lock(mutex);
    const Status refused = verdict->Last();
    if (failure.empty()) failure = refused.ok() ? Sentence(status, address) : refused.message();
    hung_up_on = refused.ok() && HungUp(status);
    ended = true;
    changed.notify_all();
  }

  // The dialling thread.
  void Run() {
    int attempt = 0, refusals = 0;
    milliseconds wait = Between(milliseconds(0), options.backoff_first);
    while (true) {
      {
        std::unique_lock lock(mutex);
        changed.wait_for(lock, wait, [this] { return stopping || redial; });
        // Still with jitter: a thousand nodes may have been changed in one moment.
        if (!stopping && std::exchange(redial, false)) {
          attempt = 0;
          changed.wait_for(lock, Between(milliseconds(0), options.backoff_first),
                           [this] { return stopping; });
        }
        if (stopping) return;
      }
      switch (Connect()) {
        case Outcome::kStopped: return;
        case Outcome::kRefused: {
          const milliseconds grown = options.refusal_first * (1LL << refusals);
          const milliseconds most = std::min(options.backoff_max, grown);
          refusals = std::min(refusals + 1, 30);
          wait = Between(most / 2, most);
          continue;
        }
        case Outcome::kHeld: attempt = 1; break;
        case Outcome::kFailed: attempt = std::min(attempt + 1, 30); break;
      }
      refusals = 0;
      const milliseconds most = options.backoff_first * (1LL << attempt);
      wait = Between(milliseconds(0), std::min(options.backoff_max, most));
    }
  }

  enum class Outcome { kStopped, kRefused, kHeld, kFailed };

  // One connection, from dial to end.
  Outcome Connect() {
    const auto way = options.way();
    const auto where = way.ok() ? ParseAddress(way->controller) : Result<Address>(way.status());
    if (!where.ok()) {
      SetText("not connected: " + where.status().message());
      return Outcome::kFailed;
    }
    v1::AgentMessage first;
    *first.mutable_hello() = FilledHello(way->node.empty() ? options.node : way->node);
    {
      const std::lock_guard lock(mutex);
      address = *where;
      verdict = way->verdict;
    }
    Stream now(
        Dial(*where, *way), options.queue_limit,
        [this](v1::ControllerMessage message) { OnMessage(std::move(message)); },
        [this](const grpc::Status& status) { OnEnd(status); });
    {
      const std::lock_guard lock(mutex);
      if (stopping) return Outcome::kStopped;
      stream = &now;
      phase = Phase::kDialling;
      ended = false;
      failure.clear();
      ++connection;
    }
    now.Start(std::move(first));

    std::unique_lock lock(mutex);
    const auto patience = steady_clock::now() + options.welcome_within;
    changed.wait_until(lock, patience, [this] { return stopping || ended || phase != Phase::kDialling; });
    if (!stopping && !ended && phase == Phase::kDialling)
      Break("no answer within " + std::to_string(options.welcome_within.count()) + " ms");
    changed.wait(lock, [this] { return stopping || ended; });
    if (stopping && !ended) {
      if (phase == Phase::kWelcomed) {
        now.HalfClose();
        changed.wait_for(lock, kGoodbye, [this] { return ended; });
      }
      now.Cancel();
      changed.wait(lock, [this] { return ended; });
    }
    stream = nullptr;
    const Phase last = std::exchange(phase, Phase::kIdle);
    const std::string why = failure;
    const bool held = last == Phase::kWelcomed && steady_clock::now() - welcomed_at >= options.backoff_max;
    const bool stopped = stopping;
    lock.unlock();
    if (stopped) return Outcome::kStopped;
    if (last == Phase::kRefused) {
      SetText("refused: " + why);
      return Outcome::kRefused;
    }
    SetText("connecting: " + way->controller + ": " + why + (last == Phase::kDialling ? WhyHungUp() : ""));
    return held ? Outcome::kHeld : Outcome::kFailed;
  }

  // The dialling thread.
  std::string WhyHungUp() {
    bool ask = false;
    {
      const std::lock_guard lock(mutex);
      ask = hung_up_on && options.why_hung_up != nullptr;
    }
    if (!ask) return {};
    if (const auto now = steady_clock::now();
        asked_why == steady_clock::time_point{} || now - asked_why >= kAskWhyAgain) {
      asked_why = now;
      hung_up = options.why_hung_up();
    }
    return hung_up.empty() ? "" : " (" + hung_up + ")";
  }

  v1::Hello FilledHello(const std::string& node) {
    v1::Hello message = hello();
    message.set_node(node);
    message.set_version(options.version);
    message.set_wire(kWire);
    message.set_wire_min(kWireMin);
    message.mutable_features()->Assign(WireFeatures().begin(), WireFeatures().end());
    return message;
  }

  milliseconds Between(milliseconds least, milliseconds most) {
    return milliseconds(
        std::uniform_int_distribution<std::int64_t>(least.count(), std::max(least, most).count())(random));
  }
};

Session::Session(SessionOptions options, std::function<v1::Hello()> hello, Queue<FromController>& inbox,
                 std::function<void()> on_state)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(hello), inbox, std::move(on_state))) {}

Session::~Session() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->changed.notify_all();
  if (impl_->dialler.joinable()) impl_->dialler.join();
}

void Session::Start() {
  impl_->dialler = std::thread([impl = impl_.get()] { impl->Run(); });
}

void Session::Send(ToController message) { impl_->Send(std::move(message)); }

std::uint64_t Session::Redial() { return impl_->Redial(); }

std::string Session::StateText() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->text;
}

}  // namespace railwright
