// SqliteStore: the Store and the IdentityStore on one SQLite file.
#pragma once

#include <mutex>

#include "controller/store/audit_rows.h"
#include "controller/store/identity_store.h"
#include "controller/store/rows.h"
#include "controller/store/store_file.h"

namespace railwright {

/// One writing connection, taken by one thread at a time; reading connections are lent to whoever asks.
/// Every write is one transaction in the write-ahead log, synchronous=FULL.
class SqliteStore final : public StateStore {
 public:
  static Result<std::unique_ptr<SqliteStore>> Open(const std::string& directory,
                                                   std::size_t changes_kept = kChangesKept);
  ~SqliteStore() override;

  Status AddGeneration(const StoredGeneration& generation, const AuditRow& audit,
                       const RolloutWrite& rollout) override;
  Result<std::optional<StoredGeneration>> LatestGeneration() const override;
  Result<StoredGeneration> GetGeneration(Generation generation) const override;
  Result<std::vector<StoredGeneration>> Generations(std::size_t limit) const override;
  Status PutReports(const std::vector<NodeWrite>& writes) override;
  Result<std::vector<StoredReport>> Reports() const override;
  Result<std::vector<std::pair<std::string, ChangeRecord>>> Changes(const ChangeQuery& query) const override;
  Status ForgetNode(const std::string& node, const AuditRow& audit) override;
  Status SetPauses(const std::vector<Pause>& pauses, const AuditRow& audit) override;
  Result<std::vector<Pause>> Pauses() const override;
  Status PutRollout(const RolloutWrite& rollout, const std::optional<AuditRow>& audit) override;
  Result<std::optional<StoredRollout>> LatestRollout() const override;
  Result<std::vector<RolloutRecord>> Rollouts(std::size_t limit) const override;
  Status PutBreaker(const BreakerRecord& breaker, const RolloutWrite& rollout,
                    const AuditRow& audit) override;
  Result<BreakerRecord> Breaker() const override;
  Status AddAudit(const AuditRow& row) override;
  Result<std::vector<AuditRow>> Audit(std::size_t limit) const override;
  Result<AuditPage> AuditChain(std::int64_t from, std::size_t limit) const override;
  Status Probe() override;

  Status AddToken(const TokenRecord& token, const AuditRow& audit) override;
  Status DropToken(const std::string& id, const AuditRow& audit) override;
  Result<std::vector<TokenRecord>> Tokens() const override;
  Status Join(const std::string& token_id, const MemberRecord& member, const AuditRow& audit) override;
  Status Renew(MemberKind kind, const std::string& name, std::uint64_t renewals, const std::string& serial,
               std::chrono::system_clock::time_point not_after, const AuditRow& audit) override;
  Status SetStanding(MemberKind kind, const std::string& name, Standing standing, const std::string& reason,
                     const AuditRow& audit) override;
  Status DropMember(MemberKind kind, const std::string& name, const AuditRow& audit) override;
  Result<std::vector<MemberRecord>> Members() const override;

 private:
  SqliteStore(DirectoryLock lock, std::string path, std::unique_ptr<Database> writer,
              std::size_t changes_kept)
      : lock_(std::move(lock)),
        path_(std::move(path)),
        writer_(std::move(writer)),
        changes_kept_(changes_kept) {}

  /// A reading connection on loan; back on the shelf when it goes out of scope.
  class Reader {
   public:
    Reader(const SqliteStore& store, std::unique_ptr<Database> database)
        : store_(store), database_(std::move(database)) {}
    Reader(Reader&&) = default;
    Reader& operator=(Reader&&) = delete;
    ~Reader();
    Database& operator*() const { return *database_; }
    Database* operator->() const { return database_.get(); }

   private:
    const SqliteStore& store_;
    std::unique_ptr<Database> database_;
  };
  Result<Reader> Lend() const;

  Result<std::int64_t> TextId(const StoredDocument& document, const std::string& digest);
  Status PutReport(const NodeWrite& write, std::size_t& added);
  Status DropOldChanges();
  Status AddRollout(const RolloutWrite& rollout);
  Status WriteRollout(const RolloutWrite& rollout);

  DirectoryLock lock_;
  std::string path_;
  std::mutex writing_;  // held from BEGIN to COMMIT
  std::unique_ptr<Database> writer_;
  std::size_t changes_kept_;
  std::size_t changes_ = 0;  // rows in the table; the writer's
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Database>> readers_;
};

}  // namespace railwright
