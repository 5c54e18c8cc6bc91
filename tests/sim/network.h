// The network: an agent's dialler, which stands for agent/session, and one stream between it and the
// controller, which stands for gRPC and controller/rpc/agent_service. Both keep the rules of what they stand
// for: order within a stream, one waiting message of each kind, the back-off, the queue's bounds.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "agent/session/session.h"
#include "controller/rpc/agent_link.h"
#include "tests/sim/events.h"

namespace railwright::sim {

class World;
class NodeHost;

/// One stream. Made by the dialler; the controller's end is its AgentLink side.
class Stream final : public AgentLink, public std::enable_shared_from_this<Stream> {
 public:
  Stream(World& world, NodeHost& node);

  // The agent's end.
  void FromAgent(v1::AgentMessage message);
  /// The agent's end is closed; `told`: the controller will see it.
  void AgentClosed(bool told);

  // The controller's end: AgentLink.
  bool Send(Outbound message) override;
  void Refuse(const v1::Refusal& refusal) override;
  void End(const Status& why) override;
  void Consumed() override;
  const Caller& caller() const override { return caller_; }
  std::string peer() const override;
  /// The controller's process is gone; `told`: the agent will see it.
  void ControllerClosed(bool told);

  /// The connection breaks: both ends see it, each in its time.
  void Break();
  /// Nothing came back for too long: the agent's end gives up, the controller's some time later.
  void GiveUp();
  /// Whether something stands in the way has changed.
  void Look();
  bool over() const { return agent_closed_ && controller_closed_; }

 private:
  void PumpUp();
  void PumpDown();
  void TellController();
  void TellAgent();
  bool Heard() const;
  bool Stuck(std::size_t bytes, bool& stuck, void (Stream::*pump)());

  World& world_;
  NodeHost& node_;
  Caller caller_;
  std::deque<v1::AgentMessage> up_;
  bool up_end_ = false, up_moving_ = false;
  int in_core_ = 0;
  // The controller's send queue: one of each kind but commands, in this order.
  std::array<std::optional<v1::ControllerMessage>, 4> slots_;
  std::deque<v1::ControllerMessage> commands_;
  std::deque<v1::ControllerMessage> down_;  // in the socket
  bool last_ = false, down_end_ = false, down_moving_ = false;
  bool up_stuck_ = false, down_stuck_ = false;  // the way does not carry what is first
  bool agent_closed_ = false, controller_closed_ = false, controller_told_ = false, agent_told_ = false;
};

class Dialler {
 public:
  Dialler(World& world, NodeHost& node) : world_(world), node_(node) {}

  void Start();
  /// The process goes.
  void Die(bool told);
  void Send(ToController message);
  /// As Session::Redial.
  std::uint64_t Redial();
  std::string StateText() const { return text_; }
  /// The number of the connection that is welcomed; 0: none.
  std::uint64_t welcomed() const { return phase_ == Phase::kWelcomed ? connection_ : 0; }
  const std::shared_ptr<Stream>& stream() const { return stream_; }
  Duration welcomed_at() const { return welcomed_at_; }
  /// Nothing of these directions arrives from now on, or everything does again.
  void Block(bool up, bool down);

  // From the stream.
  void Came(const Stream& stream, v1::ControllerMessage message);
  void Ended(const Stream& stream);

  // What stands in the way, set by the nemesis.
  bool up_blocked = false, down_blocked = false;

 private:
  enum class Phase { kIdle, kDialling, kWelcomed, kRefused };
  void DialIn(Duration wait);
  void Dial();
  void Over(const std::string& why);
  template <class Body>
  void Hand(Body body);

  World& world_;
  NodeHost& node_;
  Phase phase_ = Phase::kIdle;
  std::shared_ptr<Stream> stream_;
  std::uint64_t connection_ = 0, life_ = 0;
  std::uint64_t dials_ = 0;  // of those that are to come only the last does
  Duration welcomed_at_{0}, dialled_at_{0};
  bool large_up_ = false;  // a large report has gone out over this connection
  int attempt_ = 0, refusals_ = 0;
  std::string text_ = "connecting: not tried yet";
};

}  // namespace railwright::sim
