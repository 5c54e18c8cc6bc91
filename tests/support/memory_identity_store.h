// MemoryIdentityStore: an IdentityStore that remembers, and that a test can make full.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/identity_store.h"

namespace railwright {

class MemoryIdentityStore final : public IdentityStore {
 public:
  /// Every write and read fails with this until it is Ok again.
  void SetFailure(Status failure) {
    std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
  }
  /// Oldest first.
  std::vector<AuditRow> audits() const {
    std::lock_guard lock(mutex_);
    return audits_;
  }

  Status AddToken(const TokenRecord& token, const AuditRow& audit) override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    if (FindToken(token.token.id) != tokens_.end()) return Status(Code::kAlreadyExists, token.token.id);
    tokens_.push_back(token);
    return Audited(audit);
  }
  Status DropToken(const std::string& id, const AuditRow& audit) override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    const auto found = FindToken(id);
    if (found == tokens_.end()) return Status(Code::kNotFound, "no token " + id);
    tokens_.erase(found);
    return Audited(audit);
  }
  Result<std::vector<TokenRecord>> Tokens() const override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    return tokens_;
  }

  Status Join(const std::string& token_id, const MemberRecord& member, const AuditRow& audit) override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    const auto token = FindToken(token_id);
    if (token == tokens_.end()) return Status(Code::kNotFound, "no token " + token_id);
    if (member.changed >= token->expires) return Status(Code::kFailedPrecondition, "expired");
    const Key key{member.kind, member.name};
    const auto before = members_.find(key);
    if (before != members_.end() && before->second.standing == Standing::kBanned)
      return Status(Code::kPermissionDenied, member.name + " is banned");
    const bool taken = std::any_of(members_.begin(), members_.end(), [&](const auto& one) {
      return !member.uuid.empty() && one.second.uuid == member.uuid && one.first != key;
    });
    if (taken) return Status(Code::kAlreadyExists, "the UUID " + member.uuid);
    if (--token->uses_left == 0) tokens_.erase(token);
    members_[key] = member;
    return Audited(audit);
  }
  Status Renew(MemberKind kind, const std::string& name, std::uint64_t renewals, const std::string& serial,
               std::chrono::system_clock::time_point not_after, const AuditRow& audit) override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    const auto member = members_.find({kind, name});
    if (member == members_.end()) return Status(Code::kNotFound, name);
    if (member->second.renewals != renewals || member->second.standing != Standing::kActive)
      return Status(Code::kAborted, name);
    ++member->second.renewals;
    member->second.serial = serial;
    member->second.not_after = not_after;
    return Audited(audit);
  }
  Status SetStanding(MemberKind kind, const std::string& name, Standing standing, const std::string& reason,
                     const AuditRow& audit) override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    const auto member = members_.find({kind, name});
    if (member == members_.end()) return Status(Code::kNotFound, name);
    member->second.standing = standing;
    member->second.reason = reason;
    member->second.by = audit.who;
    member->second.changed = audit.at;
    return Audited(audit);
  }
  Status DropMember(MemberKind kind, const std::string& name, const AuditRow& audit) override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    const auto member = members_.find({kind, name});
    if (member == members_.end()) return Status(Code::kNotFound, name);
    if (member->second.standing == Standing::kBanned) return Status(Code::kFailedPrecondition, name);
    members_.erase(member);
    return Audited(audit);
  }
  Result<std::vector<MemberRecord>> Members() const override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    std::vector<MemberRecord> list;
    for (const auto& [key, member] : members_) list.push_back(member);
    return list;
  }

 private:
  using Key = std::pair<MemberKind, std::string>;
  std::vector<TokenRecord>::iterator FindToken(const std::string& id) {
    return std::find_if(tokens_.begin(), tokens_.end(),
                        [&](const TokenRecord& token) { return token.token.id == id; });
  }
  Status Audited(AuditRow audit) {
    audit.id = audits_.size() + 1;
    audits_.push_back(std::move(audit));
    return Ok();
  }

  mutable std::mutex mutex_;
  Status failure_;
  std::vector<TokenRecord> tokens_;
  std::map<Key, MemberRecord> members_;
  std::vector<AuditRow> audits_;
};

}  // namespace railwright
