// StateSeal: whether a desired state may be taken at all, before anything of it is parsed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agent/identity/identity_files.h"
#include "agent/loop/floor_files.h"
#include "core/identity/envelope.h"
#include "core/identity/floor.h"
#include "core/identity/statement_number.h"
#include "railwright/result.h"
#include "railwright/v1/state.pb.h"

namespace railwright {

/// The signatures, the addressee, the floor, the time and the payload of a desired state. It reads the
/// envelope and compares bytes; what the payload says is no concern of it. One thread uses it.
///
/// The order of a state on this node: Check → Raise (durable) → parsed → in force → kept → acknowledged. A
/// crash between Raise and the last leaves a floor above what is in force: the same state comes again and is
/// taken; nothing older is.
class StateSeal {
 public:
  /// Asked anew for every state, so that a changed trust counts at once. NotFound: this node has not joined.
  using Trust = std::function<Result<NodeTrust>()>;

  /// `state_dir`: the floor is kept in its folder `trust`, which is made when there is none. Without `trust`
  /// every state is refused.
  StateSeal(const std::string& state_dir, Trust trust);

  /// Reads the floor. A damaged one is no error here: until it is reset, every new state is refused, and the
  /// kept one goes on being enforced. What was damaged, or Ok.
  const Status& Open();

  /// A state that has just come. Besides what Open and Floor refuse: InvalidArgument: too large, a hash that
  /// is none; Unauthenticated: not signed, or generation or hash are not the signed ones; FailedPrecondition:
  /// no trust, a schema of a newer build; DataLoss: the floor is damaged.
  Result<identity::OpenedEnvelope> Check(const v1::DesiredState& message, identity::Time now) const;
  /// The state that this node accepted before; also when it has expired. Its number is the floor's, if the
  /// files had none.
  Result<identity::OpenedEnvelope> CheckKept(const v1::DesiredState& message);
  /// For a dry run, which nobody signs: that this node has joined, and that the message is no larger than a
  /// state may be. It proves nothing, and nothing is kept of it.
  Status CheckDryRun(const v1::DesiredState& message) const;
  /// Durable when Ok, and nothing older is taken from then on.
  Status Raise(const identity::OpenedEnvelope& opened);

  /// Of the newest statement that was accepted here, of the lines whose keys count; generation 0: none.
  const identity::Floor::Mark& newest() const { return newest_; }

 private:
  Result<identity::OpenedEnvelope> Opened(const v1::DesiredState& message, const NodeTrust& trust) const;
  Status AboveFloor(const identity::OpenedEnvelope& opened, const identity::TrustedSigners& signers) const;
  void NoteNewest();
  Result<NodeTrust> TrustNow() const;

  const std::string directory_;
  const Trust trust_;
  FloorFiles files_;
  identity::Floor floor_;
  Status damage_;
  bool written_ = false;  // the files hold `floor_`
  identity::Floor::Mark newest_;
};

}  // namespace railwright
