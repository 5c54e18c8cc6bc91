// AgentLink: the controller's end of one agent's stream, as the fleet model sees it; knows no gRPC.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "controller/identity/caller.h"
#include "controller/rpc/desired.h"
#include "railwright/result.h"
#include "railwright/v1/agent.pb.h"

namespace railwright {

/// A ControllerMessage as bytes: head, then shared (may be null), then tail. `shared` is never copied.
struct Outbound {
  /// What may replace what while it waits: of every kind but commands only the newest is kept.
  enum class Kind : std::uint8_t { kWelcome, kPauses, kDesired, kReportAck, kCommand };
  Kind kind = Kind::kWelcome;
  std::string head;
  std::shared_ptr<const std::string> shared;
  std::string tail;
};

Outbound ToOutbound(const v1::ControllerMessage& message);
/// ControllerMessage.desired.
Outbound DesiredOutbound(std::uint64_t generation, const NodeDesired& desired, const std::string& envelope);
/// ControllerMessage.command with a dry run, which nobody signs.
Outbound PlanOutbound(std::uint64_t id, std::int64_t deadline_ms, std::uint64_t generation,
                      const NodeDesired& desired);

/// All calls are safe from any thread, never block, and do nothing once the stream is over.
class AgentLink {
 public:
  /// Commands that may wait for a slow reader.
  static constexpr std::size_t kCommandsWaiting = 16;

  virtual ~AgentLink() = default;
  /// False when a command found no room; everything else always finds some.
  virtual bool Send(Outbound message) = 0;
  /// Sends the refusal instead of all that still waits, and ends the stream.
  virtual void Refuse(const v1::Refusal& refusal) = 0;
  /// Ends the stream with an error that the agent treats as "dial again".
  virtual void End(const Status& why) = 0;
  /// One message that the link had delivered is done with; it may deliver another.
  virtual void Consumed() = 0;
  /// Who is at the other end; proved by its certificate before the stream began.
  virtual const Caller& caller() const = 0;
  /// For logs: "unix:", "ipv4:127.0.0.1:40412".
  virtual std::string peer() const = 0;
  /// Of the node at the other end, as its certificate proves; "" when nothing proves it.
  std::string uuid() const { return caller().uuid; }
};

}  // namespace railwright
