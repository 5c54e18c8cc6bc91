#include "agent/loop/state_seal.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "core/identity/digest.h"

namespace railwright {

using identity::Floor;
using identity::OpenedEnvelope;
using identity::StatementNumber;

namespace {

Status Refused(Code code, const std::string& why) {
  return Status(code, "the signed state is refused: " + why);
}

// Before a byte is looked at: what no honest controller sends.
Status CheckBounds(const v1::DesiredState& message) {
  constexpr std::size_t kMost = identity::Statement::kMostPayloadBytes;
  const std::size_t size = message.group().size() + message.overlay().size();
  if (message.group().size() > kMost || message.overlay().size() > kMost || size > kMost)
    return Status(Code::kInvalidArgument, "a desired state of " + std::to_string(size) + " bytes; at most " +
                                              std::to_string(kMost) + " are taken");
  if (message.envelope().size() > identity::kMostEnvelopeBytes)
    return Status(Code::kInvalidArgument, "a signed envelope of " +
                                              std::to_string(message.envelope().size()) + " bytes; at most " +
                                              std::to_string(identity::kMostEnvelopeBytes) + " are taken");
  if (message.generation() > StatementNumber::kMostGeneration)
    return Status(Code::kInvalidArgument, "generation " + std::to_string(message.generation()) +
                                              " is beyond the last one that can be, " +
                                              std::to_string(StatementNumber::kMostGeneration));
  return Ok();
}

// The highest mark of a line whose key counts: an attacker's number ends with his key.
Floor::Mark Top(const Floor& floor, const identity::TrustedSigners& signers) {
  Floor::Mark top;
  for (const auto& [line, mark] : floor.marks())
    if (signers.Counts(line) && mark.generation > top.generation) top = mark;
  return top;
}

}  // namespace

StateSeal::StateSeal(const std::string& state_dir, Trust trust)
    : directory_(state_dir + "/trust"), trust_(std::move(trust)), files_(directory_) {}

const Status& StateSeal::Open() {
  auto floor = files_.Read();
  damage_ = floor.status();
  if (floor.ok()) floor_ = std::move(*floor);
  written_ = floor_ != Floor();
  NoteNewest();
  return damage_;
}

Result<NodeTrust> StateSeal::TrustNow() const {
  if (!trust_)
    return Status(Code::kFailedPrecondition,
                  "nobody's states are taken here: this agent was started without trust");
  auto trust = trust_();
  // What the sentence of the files says is the next step; a node that has not joined is no node yet.
  if (!trust.ok()) return Status(Code::kFailedPrecondition, "no state is taken: " + trust.status().message());
  return trust;
}

Result<OpenedEnvelope> StateSeal::Opened(const v1::DesiredState& message, const NodeTrust& trust) const {
  if (message.envelope().empty())
    return Refused(Code::kUnauthenticated,
                   "it is not signed; `railctl status` says whose signatures the controller waits for");
  RW_ASSIGN_OR_RETURN(OpenedEnvelope opened,
                      identity::OpenAccepted(message.envelope(), trust.signers,
                                             {.cluster = trust.cluster, .node = trust.uuid, .groups = {}}));
  const identity::Statement& said = opened.statement;
  if (said.schema != identity::kStateSchema)
    return Refused(Code::kFailedPrecondition,
                   "schema " + std::to_string(said.schema) + " is not known here, this build knows " +
                       std::to_string(identity::kStateSchema) + "; update railwright-agent");
  return opened;
}

Status StateSeal::AboveFloor(const OpenedEnvelope& opened, const identity::TrustedSigners& signers) const {
  // Floor::Judge decides; the sentence of the commonest refusal is said in the operator's numbers.
  const Floor::Mark top = Top(floor_, signers);
  const auto is = StatementNumber::Of(opened.statement.generation), was = StatementNumber::Of(top.generation);
  if (is < was)
    return Refused(Code::kFailedPrecondition,
                   is.Text() + " is older than " + was.Text() +
                       ", which was accepted here; generations never go back: `railctl rollback` makes a new "
                       "one");
  if (is == was && opened.digest != top.digest)
    return Refused(Code::kFailedPrecondition,
                   is.Text() + " was accepted here as another statement (" +
                       identity::Hex(top.digest).substr(0, 12) + "…, this is " +
                       identity::Hex(opened.digest).substr(0, 12) +
                       "…): two controllers sign for this node, or one was restored; `railctl apply` makes a "
                       "generation above both");
  return floor_.Judge(opened, signers).status();
}

Result<OpenedEnvelope> StateSeal::Check(const v1::DesiredState& message, identity::Time now) const {
  RW_RETURN_IF_ERROR(CheckBounds(message));
  RW_RETURN_IF_ERROR(damage_);
  RW_ASSIGN_OR_RETURN(const NodeTrust trust, TrustNow());
  RW_ASSIGN_OR_RETURN(OpenedEnvelope opened, Opened(message, trust));
  RW_RETURN_IF_ERROR(AboveFloor(opened, trust.signers));
  RW_RETURN_IF_ERROR(opened.CheckTime(now));
  if (StatementNumber::Of(opened.statement.generation).generation != message.generation())
    return Refused(Code::kUnauthenticated, "it says generation " + std::to_string(message.generation()) +
                                               ", signed is " +
                                               StatementNumber::Of(opened.statement.generation).Text());
  if (message.hash() != identity::Hex(opened.statement.payload_sha256))
    return Refused(Code::kUnauthenticated,
                   "its hash is not the signed one, " + identity::Hex(opened.statement.payload_sha256));
  RW_RETURN_IF_ERROR(opened.CheckPayload(message.group() + message.overlay()));
  return opened;
}

Result<OpenedEnvelope> StateSeal::CheckKept(const v1::DesiredState& message) {
  RW_RETURN_IF_ERROR(CheckBounds(message));
  RW_ASSIGN_OR_RETURN(const NodeTrust trust, TrustNow());
  RW_ASSIGN_OR_RETURN(OpenedEnvelope opened, Opened(message, trust));
  RW_RETURN_IF_ERROR(opened.CheckPayload(message.group() + message.overlay()));
  if (StatementNumber::Of(opened.statement.generation).generation != message.generation())
    return Refused(Code::kUnauthenticated, "its generation is not the signed one");
  floor_.Raise(opened);
  NoteNewest();
  return opened;
}

Status StateSeal::CheckDryRun(const v1::DesiredState& message) const {
  RW_RETURN_IF_ERROR(CheckBounds(message));
  return TrustNow().status();
}

Status StateSeal::Raise(const OpenedEnvelope& opened) {
  Floor raised = floor_;
  raised.Raise(opened);
  if (raised.marks().size() > Floor::kMostLines) {
    // So many keys were never trusted at a time: those that count no more make room.
    RW_ASSIGN_OR_RETURN(const NodeTrust trust, TrustNow());
    raised.ForgetUntrusted(trust.signers);
  }
  if (raised == floor_ && written_) return Ok();
  if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) return FromErrno(errno, directory_);
  RW_RETURN_IF_ERROR(files_.Write(raised));
  written_ = true;
  floor_ = std::move(raised);
  NoteNewest();
  return Ok();
}

void StateSeal::NoteNewest() {
  const auto trust = TrustNow();
  newest_ = trust.ok() ? Top(floor_, trust->signers) : Floor::Mark();
}

}  // namespace railwright
