// MemoryStore: a Store that remembers, and that a test can make full.
#pragma once

#include <algorithm>
#include <mutex>

#include "controller/store/store.h"

namespace railwright {

class MemoryStore final : public Store {
 public:
  /// Every write fails with this until it is Ok again.
  void SetFailure(Status failure) {
    std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
  }
  std::size_t commits() const {
    std::lock_guard lock(mutex_);
    return commits_;
  }
  std::size_t rows() const {
    std::lock_guard lock(mutex_);
    return rows_;
  }

  Status AddGeneration(const StoredGeneration& generation, const AuditRow& audit,
                       const RolloutWrite& rollout) override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    if (!generations_.empty() && generation.generation <= generations_.rbegin()->first)
      return Status(Code::kAborted, "not greater than the latest");
    generations_[generation.generation] = generation;
    if (rollout.record && !rollouts_.empty()) {
      RolloutRecord& before = rollouts_.rbegin()->second;
      if (!before.finished && before.phase != RolloutPhase::kAborted &&
          before.phase != RolloutPhase::kSuperseded) {
        before.phase = RolloutPhase::kSuperseded;
        before.reason = "generation " + std::to_string(generation.generation.value) + " took its place";
        before.by = rollout.record->author;
      }
    }
    Write(rollout);
    Append(audit);
    return Ok();
  }
  Status PutRollout(const RolloutWrite& rollout, const std::optional<AuditRow>& audit) override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    if (rollout.record && !rollouts_.contains(rollout.record->generation))
      return Status(Code::kNotFound, "no such rollout");
    Write(rollout);
    if (audit) Append(*audit);
    return Ok();
  }
  Result<std::optional<StoredRollout>> LatestRollout() const override {
    std::lock_guard lock(mutex_);
    if (rollouts_.empty()) return std::optional<StoredRollout>();
    StoredRollout stored;
    stored.record = rollouts_.rbegin()->second;
    for (const auto& [node, member] : members_)
      if (member.first == stored.record.generation) stored.members.push_back(member.second);
    return std::optional<StoredRollout>(std::move(stored));
  }
  Result<std::vector<RolloutRecord>> Rollouts(std::size_t limit) const override {
    std::lock_guard lock(mutex_);
    std::vector<RolloutRecord> list;
    for (auto it = rollouts_.rbegin(); it != rollouts_.rend() && list.size() < limit; ++it)
      list.push_back(it->second);
    return list;
  }
  Status PutBreaker(const BreakerRecord& breaker, const RolloutWrite& rollout,
                    const AuditRow& audit) override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    Write(rollout);
    breaker_ = breaker;
    Append(audit);
    return Ok();
  }
  Result<BreakerRecord> Breaker() const override {
    std::lock_guard lock(mutex_);
    return breaker_;
  }
  Result<std::optional<StoredGeneration>> LatestGeneration() const override {
    std::lock_guard lock(mutex_);
    if (generations_.empty()) return std::optional<StoredGeneration>();
    return std::optional<StoredGeneration>(generations_.rbegin()->second);
  }
  Result<StoredGeneration> GetGeneration(Generation generation) const override {
    std::lock_guard lock(mutex_);
    const auto found = generations_.find(generation);
    if (found == generations_.end()) return Status(Code::kNotFound, "no such generation");
    return found->second;
  }
  Result<std::vector<StoredGeneration>> Generations(std::size_t limit) const override {
    std::lock_guard lock(mutex_);
    std::vector<StoredGeneration> list;
    for (auto it = generations_.rbegin(); it != generations_.rend() && list.size() < limit; ++it)
      list.push_back(it->second);
    return list;
  }
  Status PutReports(const std::vector<NodeWrite>& writes) override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    ++commits_;
    rows_ += writes.size();
    for (const NodeWrite& write : writes) {
      StoredReport& row = reports_[write.report.report.node];
      const std::uint64_t stored = row.stored_change;
      row = write.report;
      row.stored_change = stored;
      for (const ChangeRecord& change : write.changes) {
        if (change.sequence <= stored) continue;
        changes_.emplace_back(row.report.node, change);
        row.stored_change = std::max(row.stored_change, change.sequence);
      }
    }
    return Ok();
  }
  Result<std::vector<StoredReport>> Reports() const override {
    std::lock_guard lock(mutex_);
    std::vector<StoredReport> list;
    for (const auto& [name, report] : reports_) list.push_back(report);
    return list;
  }
  Result<std::vector<std::pair<std::string, ChangeRecord>>> Changes(const ChangeQuery& query) const override {
    std::lock_guard lock(mutex_);
    std::vector<std::pair<std::string, ChangeRecord>> list;
    for (auto it = changes_.rbegin(); it != changes_.rend() && list.size() < query.limit; ++it)
      if ((query.key.empty() || query.key == it->second.key) &&
          (query.nodes.empty() ||
           std::find(query.nodes.begin(), query.nodes.end(), it->first) != query.nodes.end()))
        list.push_back(*it);
    return list;
  }
  Status ForgetNode(const std::string& node, const AuditRow& audit) override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    std::size_t gone = std::erase_if(changes_, [&](const auto& change) { return change.first == node; });
    gone += std::erase_if(pauses_, [&](const Pause& pause) { return pause.node == node; });
    gone += reports_.erase(node);
    if (gone == 0) return Status(Code::kNotFound, node);
    Append(audit);
    return Ok();
  }
  Status SetPauses(const std::vector<Pause>& pauses, const AuditRow& audit) override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    pauses_ = pauses;
    Append(audit);
    return Ok();
  }
  Result<std::vector<Pause>> Pauses() const override {
    std::lock_guard lock(mutex_);
    return pauses_;
  }
  Status AddAudit(const AuditRow& row) override {
    std::lock_guard lock(mutex_);
    if (!failure_.ok()) return failure_;
    Append(row);
    return Ok();
  }
  Result<std::vector<AuditRow>> Audit(std::size_t limit) const override {
    std::lock_guard lock(mutex_);
    std::vector<AuditRow> list(audit_.rbegin(), audit_.rend());
    if (list.size() > limit) list.resize(limit);
    return list;
  }
  Result<AuditPage> AuditChain(std::int64_t from, std::size_t limit) const override {
    std::lock_guard lock(mutex_);
    AuditPage page;
    const std::size_t begin = from < 1 ? 0 : static_cast<std::size_t>(from - 1);
    for (std::size_t i = begin; i < audit_.size() && page.rows.size() < limit; ++i)
      page.rows.push_back({ToChain(audit_[i]), hashes_[i]});
    page.last = page.rows.size() < limit;
    page.next = static_cast<std::int64_t>(begin + page.rows.size()) + 1;
    page.head = head_;
    return page;
  }
  Status Probe() override {
    std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  void Write(const RolloutWrite& rollout) {
    if (!rollout.record) return;
    rollouts_[rollout.record->generation] = *rollout.record;
    if (rollout.anew) members_.clear();
    for (const RolloutMember& member : rollout.members)
      members_[member.node] = {rollout.record->generation, member};
  }
  void Append(AuditRow row) {
    row.id = audit_.size() + 1;
    head_ = {row.id, *audit::Next(head_.hash, ToChain(row))};
    hashes_.emplace_back(identity::Bytes(head_.hash));
    audit_.push_back(std::move(row));
  }

  mutable std::mutex mutex_;
  Status failure_;
  std::size_t commits_ = 0, rows_ = 0;
  std::map<Generation, StoredGeneration> generations_;
  std::map<std::string, StoredReport> reports_;
  std::vector<std::pair<std::string, ChangeRecord>> changes_;
  std::vector<Pause> pauses_;
  std::map<Generation, RolloutRecord> rollouts_;
  std::map<std::string, std::pair<Generation, RolloutMember>> members_;
  BreakerRecord breaker_;
  std::vector<AuditRow> audit_;
  std::vector<std::string> hashes_;
  audit::Head head_{0, *audit::Genesis()};
};

}  // namespace railwright
