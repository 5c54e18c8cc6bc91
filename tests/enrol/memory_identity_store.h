// MemoryIdentityStore: an IdentityStore that remembers, and can be told to fail.
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
  Status AddToken(const TokenRecord& token, const AuditRow& audit) override {
    const std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    if (!tokens_.emplace(token.token.id, token).second) return Status(Code::kAlreadyExists, "that token");
    return Audited(audit);
  }
  Status DropToken(const std::string& id, const AuditRow& audit) override {
    const std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    if (tokens_.erase(id) == 0) return Status(Code::kNotFound, "no such token");
    return Audited(audit);
  }
  Result<std::vector<TokenRecord>> Tokens() const override {
    const std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    std::vector<TokenRecord> all;
    for (const auto& [id, token] : tokens_) all.push_back(token);
    return all;
  }
  Status Join(const std::string& id, const MemberRecord& member, const AuditRow& audit) override {
    const std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    const auto at = tokens_.find(id);
    if (at == tokens_.end()) return Status(Code::kNotFound, "no such token");
    if (at->second.expires <= member.changed) return Status(Code::kFailedPrecondition, "it has expired");
    for (const auto& [key, one] : members_)
      if (!one.uuid.empty() && one.uuid == member.uuid) return Status(Code::kAlreadyExists, "that uuid");
    if (--at->second.uses_left == 0) tokens_.erase(at);
    members_[{member.kind, member.name}] = member;
    return Audited(audit);
  }
  Status Renew(MemberKind kind, const std::string& name, std::uint64_t renewals, const std::string& serial,
               std::chrono::system_clock::time_point not_after, const AuditRow& audit) override {
    const std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    const auto at = members_.find({kind, name});
    if (at == members_.end() || at->second.renewals != renewals || at->second.standing != Standing::kActive)
      return Status(Code::kAborted, "another counter");
    at->second.serial = serial;
    at->second.not_after = not_after;
    ++at->second.renewals;
    return Audited(audit);
  }
  Status SetStanding(MemberKind kind, const std::string& name, Standing standing, const std::string& reason,
                     const AuditRow& audit) override {
    const std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    const auto at = members_.find({kind, name});
    if (at == members_.end()) return Status(Code::kNotFound, "no such member");
    at->second.standing = standing;
    at->second.reason = reason;
    at->second.by = audit.who;
    at->second.changed = audit.at;
    return Audited(audit);
  }
  Status DropMember(MemberKind kind, const std::string& name, const AuditRow& audit) override {
    const std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    const auto at = members_.find({kind, name});
    if (at == members_.end()) return Status(Code::kNotFound, "no such member");
    if (at->second.standing == Standing::kBanned) return Status(Code::kFailedPrecondition, "it is banned");
    members_.erase(at);
    return Audited(audit);
  }
  Result<std::vector<MemberRecord>> Members() const override {
    const std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    std::vector<MemberRecord> all;
    for (const auto& [key, member] : members_) all.push_back(member);
    return all;
  }

  /// What every call returns from now on; Ok ends it.
  void Fail(Status status) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(status);
  }
  std::vector<AuditRow> audit() const {
    const std::lock_guard lock(mutex_);
    return audit_;
  }
  /// As main() writes what was refused.
  void Write(const AuditRow& row) {
    const std::lock_guard lock(mutex_);
    audit_.push_back(row);
  }
  std::size_t Count(const std::string& action) const {
    const auto rows = audit();
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [&](const AuditRow& row) { return row.action == action; }));
  }

 private:
  Status Audited(const AuditRow& row) {
    audit_.push_back(row);
    return Ok();
  }

  mutable std::mutex mutex_;
  Status failure_;
  std::map<std::string, TokenRecord> tokens_;
  std::map<std::pair<MemberKind, std::string>, MemberRecord> members_;
  std::vector<AuditRow> audit_;
};

}  // namespace railwright
