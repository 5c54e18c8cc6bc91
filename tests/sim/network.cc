#include "tests/sim/network.h"

#include <algorithm>

#include "controller/rpc/intake.h"
#include "core/wire/wire.h"
#include "tests/sim/controller_host.h"
#include "tests/sim/node_host.h"
#include "tests/sim/world.h"
#include "tests/support/test_endorser.h"

namespace railwright::sim {
namespace {

constexpr int kInFlightMost = 8;              // of AgentService
constexpr std::size_t kSocketHolds = 4;       // messages that a socket takes before its writer waits
constexpr Duration kKeepAlive = seconds(40);  // until a dead peer is noticed
constexpr milliseconds kBackoffFirst{200}, kBackoffMost{10'000}, kRefusalFirst{1'000}, kWelcomeWithin{10'000};

}  // namespace

void Stream::FromAgent(v1::AgentMessage message) {
  if (agent_closed_) return;
  up_.push_back(std::move(message));
  PumpUp();
}

void Stream::AgentClosed(bool told) {
  if (std::exchange(agent_closed_, true)) return;
  if (told) {
    up_end_ = true;
  } else {
    up_.clear();
    world_.events.After(kKeepAlive + node_.random().Between(seconds(0), seconds(60)),
                        [self = shared_from_this()] { self->TellController(); });
  }
  PumpUp();
}

void Stream::PumpUp() {
  if (up_moving_ || controller_closed_ || node_.dialler().up_blocked || in_core_ >= kInFlightMost) return;
  if (up_.empty() && !up_end_) return;
  if (!up_.empty() && Stuck(up_.front().ByteSizeLong(), up_stuck_, &Stream::PumpUp)) return;
  up_moving_ = true;
  world_.events.After(world_.Latency(node_.random()), [self = shared_from_this()] {
    self->up_moving_ = false;
    if (self->controller_closed_ || self->node_.dialler().up_blocked) return;
    if (!self->up_.empty()) {
      v1::AgentMessage message = std::move(self->up_.front());
      self->up_.pop_front();
      ++self->in_core_;
      Bound(message);
      self->world_.controller->Said(self, std::move(message));
    } else if (self->up_end_) {
      self->TellController();
    }
    self->PumpUp();
  });
}

// TCP sends it again and again; in the end somebody gives up.
bool Stream::Stuck(std::size_t bytes, bool& stuck, void (Stream::*pump)()) {
  if (node_.Passes(bytes)) {
    stuck = false;
    return false;
  }
  if (!std::exchange(stuck, true))
    world_.events.After(kKeepAlive, [self = shared_from_this(), &stuck] {
      if (stuck) self->GiveUp();
    });
  world_.events.After(seconds(1), [self = shared_from_this(), pump] { (self.get()->*pump)(); });
  return true;
}

void Stream::TellController() {
  controller_closed_ = true;
  if (std::exchange(controller_told_, true)) return;
  world_.controller->Gone(shared_from_this());
}

bool Stream::Heard() const { return !controller_closed_ && !world_.controller->dead(); }

bool Stream::Send(Outbound message) {
  if (!Heard() || last_) return true;
  v1::ControllerMessage parsed;
  if (!parsed.ParseFromString(message.head + (message.shared ? *message.shared : "") + message.tail)) {
    world_.Broken("the controller sent what is no message");
    return true;
  }
  if (parsed.has_desired()) world_.invariants.Given(node_.name(), parsed.desired());
  if (parsed.has_report_ack()) world_.invariants.ReportAcked(node_.name(), parsed.report_ack());
  if (message.kind == Outbound::Kind::kCommand) {
    if (commands_.size() >= kCommandsWaiting) return false;
    commands_.push_back(std::move(parsed));
  } else {
    slots_[static_cast<std::size_t>(message.kind)] = std::move(parsed);
  }
  PumpDown();
  return true;
}

void Stream::Refuse(const v1::Refusal& refusal) {
  if (!Heard() || last_) return;
  for (auto& slot : slots_) slot.reset();
  commands_.clear();
  slots_[0].emplace();
  *slots_[0]->mutable_refusal() = refusal;
  last_ = true;
  PumpDown();
}

void Stream::End(const Status&) {
  if (!Heard()) return;
  for (auto& slot : slots_) slot.reset();
  commands_.clear();
  down_end_ = true;
  controller_closed_ = true;
  world_.events.After(milliseconds(1), [self = shared_from_this()] { self->TellController(); });
  PumpDown();
}

void Stream::Consumed() {
  --in_core_;
  PumpUp();
}

Stream::Stream(World& world, NodeHost& node) : world_(world), node_(node) {
  caller_.kind = Caller::Kind::kNode;
  caller_.name = node.name();
  caller_.uuid = TestUuidOf(caller_.name);
}

std::string Stream::peer() const { return "ipv4:10.0.0.2:40412 (" + node_.name() + ")"; }

void Stream::ControllerClosed(bool told) {
  controller_closed_ = controller_told_ = true;
  if (!told) {
    down_.clear();
    world_.events.After(node_.random().Between(seconds(5), kKeepAlive),
                        [self = shared_from_this()] { self->TellAgent(); });
    return;
  }
  down_end_ = true;
  for (auto& slot : slots_) slot.reset();
  commands_.clear();
  PumpDown();
}

void Stream::PumpDown() {
  while (down_.size() < kSocketHolds && !down_end_) {
    auto slot = std::find_if(slots_.begin(), slots_.end(), [](const auto& one) { return one.has_value(); });
    if (slot != slots_.end()) {
      down_.push_back(std::move(**slot));
      slot->reset();
    } else if (!commands_.empty()) {
      down_.push_back(std::move(commands_.front()));
      commands_.pop_front();
    } else {
      if (last_) End(Ok());
      break;
    }
  }
  if (down_moving_ || agent_closed_ || node_.dialler().down_blocked || (down_.empty() && !down_end_)) return;
  if (!down_.empty() && Stuck(down_.front().ByteSizeLong(), down_stuck_, &Stream::PumpDown)) return;
  down_moving_ = true;
  world_.events.After(world_.Latency(node_.random()), [self = shared_from_this()] {
    self->down_moving_ = false;
    if (self->agent_closed_ || self->node_.dialler().down_blocked) return;
    if (!self->down_.empty()) {
      const v1::ControllerMessage message = std::move(self->down_.front());
      self->down_.pop_front();
      self->node_.dialler().Came(*self, message);
    } else if (self->down_end_) {
      self->TellAgent();
    }
    self->PumpDown();
  });
}

void Stream::TellAgent() {
  if (std::exchange(agent_told_, true)) return;
  const bool open = !std::exchange(agent_closed_, true);
  if (open) node_.dialler().Ended(*this);
}

void Stream::Break() {
  world_.events.After(world_.Latency(node_.random()), [self = shared_from_this()] { self->TellAgent(); });
  if (!controller_closed_)
    world_.events.After(world_.Latency(node_.random()) * 3,
                        [self = shared_from_this()] { self->TellController(); });
}

void Stream::GiveUp() {
  world_.events.After(node_.random().Between(seconds(0), seconds(60)),
                      [self = shared_from_this()] { self->TellController(); });
  TellAgent();
}

void Stream::Look() {
  PumpUp();
  PumpDown();
}

void Dialler::Start() {
  ++life_;
  phase_ = Phase::kIdle;
  attempt_ = refusals_ = 0;
  text_ = "connecting: not tried yet";
  DialIn(node_.random().Between(milliseconds(0), kBackoffFirst));
}

void Dialler::Die(bool told) {
  ++life_;
  phase_ = Phase::kIdle;
  if (stream_) stream_->AgentClosed(told);
  stream_.reset();
}

void Dialler::Block(bool up, bool down) {
  up_blocked = up;
  down_blocked = down;
  if (!stream_) return;
  if (!up && !down) return stream_->Look();
  world_.events.After(kKeepAlive, [this, stream = stream_] {
    if (stream_ == stream && (up_blocked || down_blocked)) stream->GiveUp();
  });
}

void Dialler::DialIn(Duration wait) {
  world_.events.After(wait, [this, life = life_, number = ++dials_] {
    if (life == life_ && number == dials_) Dial();
  });
}

std::uint64_t Dialler::Redial() {
  const std::uint64_t before = connection_;
  if (phase_ != Phase::kWelcomed && phase_ != Phase::kDialling) return before;
  world_.Trace(node_.name() + " dials anew");
  if (stream_) stream_->AgentClosed(true);
  stream_.reset();
  phase_ = Phase::kIdle;
  text_ = "connecting: dialled anew";
  attempt_ = 0;
  DialIn(milliseconds(1));
  return before;
}

void Dialler::Dial() {
  if (node_.agent() == nullptr) return;
  ++connection_;
  if (up_blocked || down_blocked || !world_.controller->up()) {
    // No answer, or none within the patience.
    phase_ = Phase::kDialling;
    const Duration wait = up_blocked || down_blocked ? Duration(kWelcomeWithin) : Duration(milliseconds(1));
    world_.events.After(wait, [this, life = life_, connection = connection_] {
      if (life == life_ && connection == connection_) Over("no answer");
    });
    return;
  }
  phase_ = Phase::kDialling;
  stream_ = std::make_shared<Stream>(world_, node_);
  dialled_at_ = world_.events.now();
  large_up_ = false;
  v1::AgentMessage first;
  v1::Hello& hello = *first.mutable_hello();
  hello = node_.agent()->Hello();
  hello.set_node(node_.name());
  hello.set_version(RAILWRIGHT_VERSION);
  hello.set_wire(kWire);
  hello.set_wire_min(kWireMin);
  hello.mutable_features()->Assign(WireFeatures().begin(), WireFeatures().end());
  world_.invariants.Hello(node_, hello);
  world_.controller->Opened(stream_);
  stream_->FromAgent(std::move(first));
  world_.events.After(kWelcomeWithin, [this, life = life_, connection = connection_] {
    if (life != life_ || connection != connection_ || phase_ != Phase::kDialling) return;
    if (stream_) stream_->AgentClosed(true);
    Over("no answer within 10 s");
  });
}

void Dialler::Over(const std::string& why) {
  stream_.reset();
  const Phase last = std::exchange(phase_, Phase::kIdle);
  text_ = (last == Phase::kRefused ? "refused: " : "connecting: ") + why;
  Random& random = node_.random();
  if (last == Phase::kRefused) {
    const milliseconds most = std::min<milliseconds>(kBackoffMost, kRefusalFirst * (1LL << refusals_));
    refusals_ = std::min(refusals_ + 1, 30);
    return DialIn(random.Between(most / 2, most));
  }
  const bool held = last == Phase::kWelcomed && world_.events.now() - welcomed_at_ >= kBackoffMost;
  attempt_ = held ? 1 : std::min(attempt_ + 1, 30);
  refusals_ = 0;
  DialIn(random.Between(milliseconds(0),
                        std::min<milliseconds>(kBackoffMost, kBackoffFirst * (1LL << attempt_))));
}

void Dialler::Ended(const Stream& stream) {
  if (stream_.get() != &stream) return;
  Over("the stream ended");
  node_.Wake(milliseconds(1));
}

template <class Body>
void Dialler::Hand(Body body) {
  constexpr bool kNewestCounts = std::is_same_v<Body, v1::DesiredState> ||
                                 std::is_same_v<Body, v1::PauseList> || std::is_same_v<Body, v1::Welcome>;
  if constexpr (kNewestCounts) {
    node_.inbox.PostNewest({std::move(body), connection_, "10.0.0.1"}, [](const FromController& older) {
      return std::is_same_v<Body, v1::Welcome> || std::holds_alternative<Body>(older.body);
    });
  } else if (!node_.inbox.Post({std::move(body), connection_, {}})) {
    world_.Broken("the inbox of " + node_.name() + " is full");
  }
}

void Dialler::Came(const Stream& stream, v1::ControllerMessage message) {
  if (stream_.get() != &stream) return;
  // Now and then the loop is busy with a pass that takes long.
  Random& random = node_.random();
  const Duration busy =
      world_.chaos && random.Chance(0.02) ? random.Between(seconds(1), seconds(20)) : Duration(0);
  node_.Wake(busy + random.Between(milliseconds(0), milliseconds(2)));
  if (message.has_welcome()) {
    if (phase_ != Phase::kDialling) return;
    phase_ = Phase::kWelcomed;
    welcomed_at_ = world_.events.now();
    text_ = "connected";
    return Hand(std::move(*message.mutable_welcome()));
  }
  if (message.has_refusal()) {
    phase_ = Phase::kRefused;
    world_.Trace(node_.name() + " is refused: " + message.refusal().message());
    stream_->AgentClosed(true);
    return Over(message.refusal().message());
  }
  if (phase_ != Phase::kWelcomed) return;
  if (message.has_desired()) Hand(std::move(*message.mutable_desired()));
  if (message.has_pauses()) Hand(std::move(*message.mutable_pauses()));
  if (message.has_report_ack() && large_up_) world_.invariants.LargeAnswered(node_, dialled_at_);
  if (message.has_report_ack()) Hand(std::move(*message.mutable_report_ack()));
  if (message.has_command()) Hand(std::move(*message.mutable_command()));
}

void Dialler::Send(ToController message) {
  if (node_.dead()) return;
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
  world_.invariants.FromAgent(node_, out);
  large_up_ = large_up_ || (out.has_report() && !out.report().padding().empty());
  if (phase_ == Phase::kWelcomed && message.connection == connection_ && stream_)
    stream_->FromAgent(std::move(out));
}

}  // namespace railwright::sim
