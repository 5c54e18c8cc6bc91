// Desired states: from the controller and from the state directory into force.
#include <algorithm>
#include <utility>

#include "agent/loop/node_agent.h"
#include "core/files/whole_file.h"
#include "core/text/times.h"
#include "core/wire/wire.h"
#include "railwright/utf8.h"

namespace railwright {

std::string NodeAgent::Of(Generation generation) { return "generation " + std::to_string(generation.value); }

// What the last life accepted is in force again, before any controller is reached.
Status NodeAgent::TakeUpKept() {
  const auto bytes = ReadWhole(parts_.state_dir.desired());
  if (!bytes.ok()) {
    if (bytes.status().code() == Code::kNotFound) return Ok();
    return bytes.status();
  }
  v1::DesiredState message;
  const bool whole = message.ParseFromString(*bytes);
  const auto opened = whole
                          ? seal_.CheckKept(message)
                          : Result<identity::OpenedEnvelope>(Status(Code::kDataLoss, "not a desired state"));
  if (!opened.ok()) {
    // Without a state hash in the Hello, the controller sends it again. Nothing is enforced until then.
    NoteRefusal(message, opened.status().message());
    parts_.log(LogLevel::kError, parts_.state_dir.desired() +
                                     " is not taken up: " + opened.status().message() +
                                     "; waiting for the controller to send it again");
    return Ok();
  }
  if (const std::string held = latch_.Holds(message.hash()); !held.empty()) {
    // Without a state hash in the Hello the controller sends it again, and hears why it is not taken up.
    given_up_.value = message.generation();
    NoteRefusal(message, held);
    parts_.log(LogLevel::kError, Of(given_up_) + " is not taken up: " + held + "; nothing is enforced");
    return Ok();
  }
  if (latch_.Marked(message.hash()))
    if (Status status = latch_.Begin(message.hash(), message.generation()); !status.ok())
      SetTrouble(std::move(status));
  const auto state = FromWire(message);
  Status status = state.ok() ? reconciler_.Accept(*state) : state.status();
  if (!status.ok()) {
    // Without a state hash in the Hello, the controller sends it again. Nothing is enforced until then.
    latch_.End();
    parts_.log(LogLevel::kError, parts_.state_dir.desired() + " is not taken up: " + status.message() +
                                     "; waiting for the controller to send it again");
    return Ok();
  }
  state_ = *state;
  valid_until_ = opened->statement.not_after;
  PublishHello();
  parts_.log(LogLevel::kInfo, Of(state_.generation) + " is in force again, as last accepted");
  return Ok();
}

void NodeAgent::NoteRefusal(const v1::DesiredState& message, const std::string& why) {
  refused_ = message;
  refused_message_ = Brief(why, kLongestReason);
  status_stale_ = true;
}

void NodeAgent::OnDesired(const v1::DesiredState& message) {
  const auto refuse = [&](const std::string& why) {
    NoteRefusal(message, why);
    v1::Nack nack;
    nack.set_generation(message.generation());
    nack.set_hash(Brief(message.hash()));
    nack.set_message(refused_message_);
    Say(nack);
    parts_.log(LogLevel::kError,
               "refused " + Of(Generation{message.generation()}) + ": " + refused_message_ + "; " +
                   (state_.generation.value == 0 ? "nothing" : Of(state_.generation)) + " stays in force");
  };
  unraised_.reset();
  const auto opened = seal_.Check(message, parts_.clock.WallNow());
  if (!opened.ok()) return refuse(opened.status().message());
  if (const std::string held = latch_.Holds(message.hash()); !held.empty()) return refuse(held);
  // Before it is even parsed: whatever of it ends this process, the next life shall know.
  const bool in_force = message.generation() == state_.generation.value && message.hash() == state_.hash;
  if (!in_force)
    if (Status status = latch_.Begin(message.hash(), message.generation()); !status.ok())
      SetTrouble(std::move(status));
  if (Status status = seal_.Raise(*opened); !status.ok()) {
    // What could be replaced by something older after a power cut is not taken. Tried again by WorkOnTrouble.
    if (!in_force) latch_.End();
    unraised_ = message;
    SetTrouble(status);
    return refuse("it cannot be kept yet: the floor of generations: " + status.message());
  }
  PublishHello();
  const auto state = FromWire(message);
  Status status = state.ok() ? Take(message, *opened, *state) : state.status();
  if (status.ok()) return;
  if (!in_force) latch_.End();  // refused, and alive
  refuse(status.message());
}

// Into force, onto the disk, and only then acknowledged.
Status NodeAgent::Take(const v1::DesiredState& message, const identity::OpenedEnvelope& opened,
                       const DesiredState& state) {
  if (state.node != options_.node)
    return Status(Code::kInvalidArgument,
                  "it is for node " + Brief(state.node) + ", this is " + options_.node);
  RW_RETURN_IF_ERROR(reconciler_.Accept(state));
  unkept_ = message;
  valid_until_ = opened.statement.not_after;
  if (Status status = Keep(); !status.ok()) {
    SetTrouble(status);  // which also stops all writes: what is not durable must not be acted upon
    return status.Within("it cannot be kept yet");
  }
  return Ok();
}

Status NodeAgent::Keep() {
  if (!unkept_) return Ok();
  RW_RETURN_IF_ERROR(WriteWholeFile(parts_.state_dir.desired(), unkept_->SerializeAsString()));
  const auto state = FromWire(*unkept_);
  unkept_.reset();
  if (!state.ok()) return state.status();  // cannot be: it was read before
  state_ = *state;
  PublishHello();
  refused_.reset();
  refused_message_.clear();
  status_stale_ = true;
  v1::Ack ack;
  ack.set_generation(state_.generation.value);
  ack.set_hash(state_.hash);
  ack.set_statement(seal_.newest().generation);
  Say(ack);
  parts_.log(LogLevel::kInfo, "accepted " + Of(state_.generation) + ": " +
                                  std::to_string(state_.settings.size()) + " settings, " +
                                  std::to_string(state_.ports.size()) + " ports");
  return Ok();
}

// A state that nobody vouches for any more is enforced all the same: whoever keeps the controller away must
// not undo a cluster. But it is said.
void NodeAgent::LookAtValidity() {
  const bool stale = valid_until_ && parts_.clock.WallNow() > *valid_until_ + identity::kClockSkew;
  if (stale == stale_) return;
  stale_ = stale;
  status_stale_ = true;
  parts_.log(stale ? LogLevel::kWarning : LogLevel::kInfo,
             stale ? "stale signed state: " + Of(state_.generation) + " was valid until " +
                         Rfc3339(*valid_until_) + "; it goes on being enforced"
                   : Of(state_.generation) + " is valid again, until " + Rfc3339(*valid_until_));
}

const NodeReport& NodeAgent::Report() {
  const NodeReport& report = reconciler_.Report();
  if (!stale_) return report;
  stale_report_ = report;
  Finding finding;
  finding.code = "RW-9070";
  finding.key = "state.signature";
  finding.verdict = Verdict::kUnknown;
  finding.reason = "StateStale";
  finding.observed = "valid until " + Rfc3339(*valid_until_);
  finding.message = "stale signed state: " + Of(state_.generation) + " was signed to be valid until " +
                    Rfc3339(*valid_until_) + ", and no renewal has come; it goes on being enforced";
  finding.fix = "see in `railctl status` whether the controller is reached and whose signatures it waits for";
  const auto at = std::find_if(stale_report_.findings.begin(), stale_report_.findings.end(),
                               [&](const Finding& one) { return one.key > finding.key; });
  stale_report_.findings.insert(at, std::move(finding));
  stale_report_.verdict = WorstOf(stale_report_.findings);
  return stale_report_;
}

}  // namespace railwright
