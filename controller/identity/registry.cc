#include "controller/identity/registry.h"

#include <algorithm>

#include "controller/identity/peer_range.h"
#include "core/identity/time_words.h"
#include "railwright/utf8.h"

namespace railwright {

using identity::Utc;

namespace {

Status No(Code code, std::string why) { return Status(code, std::move(why)); }

std::string Called(MemberKind kind, const std::string& name) {
  return (kind == MemberKind::kNode ? "node " : "operator ") + name;
}

std::string_view Word(Standing standing) {
  switch (standing) {
    case Standing::kActive: return "active";
    case Standing::kHeld: return "held";
    case Standing::kEvicted: return "evicted";
    case Standing::kBanned: return "banned";
  }
  return "?";
}

// "node gpu-007 was evicted by operator alice at 2026-12-01T10:00:00Z: laptop stolen".
std::string Sentence(const MemberRecord& member) {
  return Called(member.kind, member.name) + " was " + std::string(Word(member.standing)) + " by " +
         member.by + " at " + Utc(member.changed) +
         (member.reason.empty() ? "" : ": " + Brief(member.reason));
}

std::string NextStep(const MemberRecord& member) {
  switch (member.standing) {
    case Standing::kActive: return {};
    case Standing::kHeld:
      return "; next: find the second holder, then evict it and let the right machine join with a new token";
    case Standing::kEvicted: return "; it may join again with a new token";
    case Standing::kBanned: return "; it may not join again until the ban is lifted";
  }
  return {};
}

}  // namespace

Status Registry::Load() {
  const std::lock_guard writing(write_);
  return ReadAll();
}

Status Registry::ReadAll() {
  RW_ASSIGN_OR_RETURN(const auto members, store_.Members());
  RW_ASSIGN_OR_RETURN(const auto tokens, store_.Tokens());
  const std::unique_lock lock(mutex_);
  members_.clear();
  by_uuid_.clear();
  tokens_.clear();
  for (const MemberRecord& one : members) {
    members_[{one.kind, one.name}].record = one;
    if (!one.uuid.empty()) by_uuid_[one.uuid] = one.name;
  }
  for (const TokenRecord& one : tokens) tokens_.emplace(one.token.id, one);
  return Ok();
}

const Registry::Member* Registry::Of(MemberKind kind, const std::string& name) const {
  const auto at = members_.find({kind, name});
  return at == members_.end() ? nullptr : &at->second;
}

Status Registry::JudgeMember(const identity::Peer& peer, const Member& member, bool& adopt) const {
  const MemberRecord& record = member.record;
  if (record.standing != Standing::kActive)
    return No(Code::kUnauthenticated, "revoked: " + Sentence(record) + NextStep(record));
  if (peer.pin != record.key)
    return No(Code::kUnauthenticated, Called(record.kind, record.name) + " joined with another key (" +
                                          record.key.Text() + ") than this certificate's (" +
                                          peer.pin.Text() + ")");
  if (clock_.WallNow() >= peer.not_after)
    return No(Code::kUnauthenticated, "the certificate of " + Called(record.kind, record.name) +
                                          " expired at " + Utc(peer.not_after));
  if (record.kind == MemberKind::kOperator && peer.authority != record.authority)
    return No(Code::kUnauthenticated, "the roles of " + Called(record.kind, record.name) +
                                          " were changed after this certificate was made; log in again");
  if (peer.serial == record.serial) {
    member.newest_seen.store(true, std::memory_order_relaxed);
    return Ok();
  }
  if (member.previous && peer.serial == *member.previous) return Ok();
  adopt = !member.previous && peer.not_after < record.not_after;
  if (adopt) return Ok();
  return No(Code::kUnauthenticated, "the certificate (serial " + peer.serial + ") of " +
                                        Called(record.kind, record.name) +
                                        " was replaced by a newer one (serial " + record.serial + ")");
}

Result<Caller> Registry::Judge(const identity::Peer& peer) const {
  Caller caller;
  MemberKind kind = MemberKind::kOperator;
  caller.serial = peer.serial;
  switch (peer.id.party()) {
    case identity::Party::kController:
      return No(Code::kUnauthenticated, "a controller's certificate is for being dialled, not for dialling");
    case identity::Party::kNode:
      caller.kind = Caller::Kind::kNode;
      caller.uuid = peer.id.name();
      kind = MemberKind::kNode;
      break;
    case identity::Party::kOperator:
      caller.kind = Caller::Kind::kOperator;
      caller.name = peer.id.name();
      if (peer.authority) {
        caller.roles = peer.authority->roles;
        caller.scope = peer.authority->scope;
      }
  }
  bool adopt = false;
  {
    const std::shared_lock lock(mutex_);
    if (kind == MemberKind::kNode)
      if (const auto at = by_uuid_.find(caller.uuid); at != by_uuid_.end()) caller.name = at->second;
    const Member* member = caller.name.empty() ? nullptr : Of(kind, caller.name);
    if (member == nullptr)
      return No(Code::kUnauthenticated,
                kind == MemberKind::kNode
                    ? "no node with the UUID " + caller.uuid +
                          " has joined: it was forgotten, or joined again since; it may join with a new token"
                    : "no operator " + Brief(caller.name) + " has logged in here; ask for a token");
    RW_RETURN_IF_ERROR(JudgeMember(peer, *member, adopt));
  }
  if (!adopt) return caller;
  const std::unique_lock lock(mutex_);
  Member& member = members_[{kind, caller.name}];
  RW_RETURN_IF_ERROR(JudgeMember(peer, member, adopt));  // what was true may have changed between the locks
  if (adopt) member.previous = peer.serial;
  return caller;
}

Result<MemberRecord> Registry::Find(MemberKind kind, const std::string& name_or_uuid) const {
  const std::shared_lock lock(mutex_);
  const auto uuid = by_uuid_.find(name_or_uuid);
  const std::string& name = kind == MemberKind::kNode && uuid != by_uuid_.end() ? uuid->second : name_or_uuid;
  const Member* member = Of(kind, name);
  if (member != nullptr) return member->record;
  return No(Code::kNotFound, "no " + Called(kind, Brief(name_or_uuid)) +
                                 " has joined here: it was forgotten, or joined again since; it may join "
                                 "with a new token");
}

Result<identity::Certificate> Registry::Certify(const MemberRecord& member,
                                                const identity::PublicKey& key) const {
  const auto now = clock_.WallNow();
  if (member.kind == MemberKind::kNode) {
    RW_ASSIGN_OR_RETURN(const auto uuid, identity::NodeUuid::Parse(member.uuid));
    return issuer_.Node(key, uuid, now);
  }
  if (!member.authority) return No(Code::kDataLoss, "an operator without an authority is stored");
  RW_ASSIGN_OR_RETURN(const auto name, identity::OperatorName::Parse(member.name));
  return issuer_.Operator(key, name, *member.authority, now);
}

void Registry::Put(const MemberRecord& record, std::optional<std::string> previous) {
  const std::unique_lock lock(mutex_);
  Member& member = members_[{record.kind, record.name}];
  if (member.record.uuid != record.uuid) by_uuid_.erase(member.record.uuid);
  if (!record.uuid.empty()) by_uuid_[record.uuid] = record.name;
  if (member.record.serial != record.serial) {
    member.newest_seen = false;
    member.any_counter = false;
  }
  member.record = record;
  member.previous = std::move(previous);
}

Result<Issued> Registry::Renew(MemberKind kind, const std::string& name, const identity::PublicKey& key,
                               std::uint64_t renewals) {
  std::optional<Cut> cut;
  Result<Issued> issued = [&] {
    const std::lock_guard writing(write_);
    return RenewNow(kind, name, key, renewals, cut);
  }();
  Tell(cut);
  if (issued.ok()) return issued;
  return Refused(issued.status(), Called(kind, Brief(name)), "identity.renew", key.pin().Text());
}

Result<Issued> Registry::RenewNow(MemberKind kind, const std::string& name, const identity::PublicKey& key,
                                  std::uint64_t renewals, std::optional<Cut>& cut) {
  MemberRecord record;
  bool seen = false, any_counter = false;
  {
    const std::shared_lock lock(mutex_);
    const Member* member = Of(kind, name);
    if (member == nullptr)
      return No(Code::kPermissionDenied,
                "no " + Called(kind, Brief(name)) + " has joined here; it may join with a new token");
    record = member->record;
    seen = member->newest_seen;
    any_counter = member->any_counter;
  }
  const std::string called = Called(kind, name);
  if (record.standing != Standing::kActive)
    return No(Code::kPermissionDenied, Sentence(record) + NextStep(record));
  if (key.pin() != record.key)
    return No(Code::kPermissionDenied, called + " joined with another key (" + record.key.Text() +
                                           ") than the one shown (" + key.pin().Text() + ")");
  const auto now = clock_.WallNow();
  if (kind == MemberKind::kOperator && now >= record.changed + kOperatorSession)
    return No(Code::kPermissionDenied, called + " logged in at " + Utc(record.changed) + ", more than " +
                                           identity::Span(std::chrono::seconds(kOperatorSession)) +
                                           " ago; log in again with a new token");
  const bool answer_lost = renewals + 1 == record.renewals && !seen;
  if (renewals != record.renewals && !answer_lost && !any_counter) {
    record.standing = Standing::kHeld;
    record.reason = "it showed certificate " + std::to_string(renewals) + ", the newest is " +
                    std::to_string(record.renewals) + ": two machines hold its key";
    record.by = "the controller";
    record.changed = now;
    const Status stored = store_.SetStanding(kind, name, Standing::kHeld, record.reason,
                                             Row("the controller", "identity.hold", called, record.reason));
    // Held in memory also when the store cannot say so: a copy must not go on because a disk is full.
    std::optional<std::string> previous;
    Put(record, std::move(previous));
    cut = Cut{kind, name, Sentence(record)};
    return No(Code::kAborted,
              Sentence(record) + NextStep(record) + (stored.ok() ? "" : " (" + stored.message() + ")"));
  }
  RW_ASSIGN_OR_RETURN(auto certificate, Certify(record, key));
  const Status stored = store_.Renew(
      kind, name, record.renewals, certificate.serial(), certificate.not_after(),
      Row(called, "identity.renew", called,
          "serial " + certificate.serial() + (answer_lost ? ", again: the last answer may be lost" : "")));
  if (!stored.ok())
    return stored.code() == Code::kAborted
               ? stored
               : No(Code::kUnavailable, "the controller cannot write its store: " + stored.message());
  std::string previous = std::exchange(record.serial, certificate.serial());
  record.not_after = certificate.not_after();
  ++record.renewals;
  Put(record, std::move(previous));
  return Issued{std::move(certificate), std::move(record)};
}

Status Registry::SetStanding(MemberKind kind, const std::string& name, Standing standing,
                             const std::string& reason, const Caller& by) {
  std::optional<Cut> cut;
  {
    const std::lock_guard writing(write_);
    RW_ASSIGN_OR_RETURN(MemberRecord record, Find(kind, name));
    const std::string called = Called(kind, record.name);
    const Standing was = record.standing;
    const bool taken_back = was == Standing::kEvicted || was == Standing::kBanned;
    if (taken_back && (standing == Standing::kActive || standing == Standing::kHeld))
      return No(Code::kFailedPrecondition,
                Sentence(record) + ", and its certificates do not come back; " +
                    (was == Standing::kBanned ? "to lift the ban, evict it; then it joins with a new token"
                                              : "it joins again with a new token"));
    RW_RETURN_IF_ERROR(
        store_.SetStanding(kind, record.name, standing, reason,
                           Row(by.Text(), "identity." + std::string(Word(standing)), called, Brief(reason))));
    record.standing = standing;
    record.reason = reason;
    record.by = by.Text();
    record.changed = clock_.WallNow();
    std::optional<std::string> previous;
    {
      const std::shared_lock lock(mutex_);
      previous = Of(kind, record.name)->previous;
    }
    Put(record, std::move(previous));
    if (was == Standing::kHeld && standing == Standing::kActive) {
      const std::unique_lock lock(mutex_);
      members_[{kind, record.name}].any_counter = true;
    }
    if (was == Standing::kActive && standing != Standing::kActive)
      cut = Cut{kind, record.name, Sentence(record)};
  }
  Tell(cut);
  return Ok();
}

Status Registry::Forget(MemberKind kind, const std::string& name, const Caller& by) {
  std::optional<Cut> cut;
  {
    const std::lock_guard writing(write_);
    RW_ASSIGN_OR_RETURN(const MemberRecord record, Find(kind, name));
    const std::string called = Called(kind, record.name);
    RW_RETURN_IF_ERROR(
        store_.DropMember(kind, record.name, Row(by.Text(), "identity.forget", called, record.uuid)));
    const std::unique_lock lock(mutex_);
    by_uuid_.erase(record.uuid);
    members_.erase({kind, record.name});
    cut = Cut{kind, record.name, called + " was forgotten by " + by.Text()};
  }
  Tell(cut);
  return Ok();
}

std::vector<MemberRecord> Registry::Members() const {
  const std::shared_lock lock(mutex_);
  std::vector<MemberRecord> all;
  for (const auto& [key, member] : members_) all.push_back(member.record);
  return all;
}

void Registry::OnCut(std::function<void(MemberKind, const std::string&, const std::string&)> cut) {
  cut_ = std::move(cut);
}
void Registry::OnRefused(std::function<void(const AuditRow&)> write) { write_refused_ = std::move(write); }

void Registry::Tell(const std::optional<Cut>& cut) const {
  if (cut && cut_) cut_(cut->kind, cut->name, cut->why);
}

AuditRow Registry::Row(std::string who, std::string action, std::string subject, std::string detail) const {
  AuditRow row;
  row.at = clock_.WallNow();
  row.who = std::move(who);
  row.action = std::move(action);
  row.subject = std::move(subject);
  row.detail = std::move(detail);
  return row;
}

Status Registry::Refused(Status status, const std::string& who, const std::string& action,
                         const std::string& subject) {
  if (!write_refused_) return status;
  std::string more;
  {
    const std::lock_guard lock(refusals_);
    constexpr double kBurst = 20, kPerSecond = 0.1;
    const auto now = clock_.Now();
    if (counted_ != Clock::Steady{})
      allowance_ =
          std::min(kBurst, allowance_ + kPerSecond * std::chrono::duration<double>(now - counted_).count());
    counted_ = now;
    if (allowance_ < 1) {
      ++untold_;
      return status;
    }
    allowance_ -= 1;
    if (untold_ > 0) more = " (and " + std::to_string(untold_) + " refusals before it that have no row)";
    untold_ = 0;
  }
  write_refused_(Row(who, action + ".refused", subject, status.message() + more));
  return status;
}

}  // namespace railwright
