// Store: what the controller must not lose, in domain terms; no SQL in any signature.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/rollout_store.h"
#include "core/audit/chain.h"
#include "railwright/result.h"
#include "railwright/state.h"

namespace railwright {

/// A document as stored: its YAML text as written.
struct StoredDocument {
  std::string kind, name, file;
  int line = 1;  ///< where it began in `file`, so that origins keep their place
  std::string text;
  friend bool operator==(const StoredDocument&, const StoredDocument&) = default;
};

struct StoredGeneration {
  Generation generation;
  std::chrono::system_clock::time_point created;
  std::string author, comment;
  Generation rolled_back_from;
  std::vector<StoredDocument> documents;
  std::vector<std::pair<std::string, KeyTarget>> restores;  ///< (node, key/target) to be put back, cumulative
  std::uint64_t nodes = 0, settings = 0;                    ///< counted when it was made
  std::chrono::milliseconds try_for{0};  ///< of GroupPayload: what agents get is the same after a restart
};

/// A node's last report, as last acknowledged.
struct StoredReport {
  NodeReport report;
  std::string report_hash;
  std::chrono::system_clock::time_point at;
  std::uint64_t stored_change = 0;  ///< highest change sequence stored
  std::uint64_t corrected = 0;      ///< corrective changes of this node so far, also those no longer kept
  std::string agent_version, boot_id;
};

/// Changes kept for the whole fleet; the oldest go first. At 300 bytes each about 30 MB of disk.
inline constexpr std::size_t kChangesKept = 100'000;

/// Who did what, and what came of it. Times are kept in whole microseconds, texts as valid UTF-8.
struct AuditRow {
  std::uint64_t id = 0;  ///< the store's, from 1, without gaps; ignored when a row is written
  std::chrono::system_clock::time_point at{};
  std::string who{}, action{}, subject{}, detail{};
  std::string from{};            ///< the peer's address, as Caller::from; "" when the controller did it
  std::string serial{};          ///< of the caller's certificate; "" of a local one
  std::string outcome = "done";  ///< or "refused: …"
  friend bool operator==(const AuditRow&, const AuditRow&) = default;
};
/// What is hashed of it.
audit::Row ToChain(const AuditRow& row);

/// A row as it lies in the store, not held against its digest: whoever asks checks the chain himself.
struct ChainedAudit {
  audit::Row row;
  std::string hash;  ///< 32 bytes, unless somebody has changed them
};
/// Below every id: one under 1 can only have been put in by hand, and is to be found.
inline constexpr std::int64_t kAuditBegin = INT64_MIN;
struct AuditPage {
  std::vector<ChainedAudit> rows;     ///< oldest first
  std::int64_t next = kAuditBegin;    ///< where the next page begins
  bool last = false;                  ///< no row was behind these when they were read
  std::optional<audit::Head> head{};  ///< read together with them; none when it is missing or damaged
};

/// Any thread may call anything. Writes are taken one after the other, each one durable transaction; the
/// fleet's reports come from one thread (the controller's core), which groups them.
///
/// A write that a person causes takes its audit row and writes it in the same transaction: what is not
/// audited has not happened. What was refused is told by AddAudit.
class Store {
 public:
  virtual ~Store() = default;

  /// Durable (synchronous=FULL) when it returns. Aborted when `generation` is not greater than the latest (a
  /// gap is allowed: agents may remember higher numbers than a restored backup does).
  /// `rollout` is how it spreads, in the same transaction.
  virtual Status AddGeneration(const StoredGeneration& generation, const AuditRow& audit,
                               const RolloutWrite& rollout) = 0;
  virtual Result<std::optional<StoredGeneration>> LatestGeneration() const = 0;
  virtual Result<StoredGeneration> GetGeneration(
      Generation generation) const = 0;  ///< NotFound names the range
  /// Newest first, without documents' text.
  virtual Result<std::vector<StoredGeneration>> Generations(std::size_t limit) const = 0;

  struct NodeWrite {
    StoredReport report;
    std::vector<ChangeRecord> changes;  ///< those at or below the stored sequence are dropped
  };
  /// All of them in one durable transaction (group commit).
  virtual Status PutReports(const std::vector<NodeWrite>& writes) = 0;
  virtual Result<std::vector<StoredReport>> Reports() const = 0;

  struct ChangeQuery {
    std::vector<std::string> nodes;  ///< none = all
    std::string key;                 ///< "" = all
    std::chrono::system_clock::time_point since{};
    std::size_t limit = 1000;
  };
  /// Newest first.
  virtual Result<std::vector<std::pair<std::string, ChangeRecord>>> Changes(
      const ChangeQuery& query) const = 0;
  /// Drops the report, the history and the pauses of a node. NotFound when there is none of them; nothing is
  /// audited then.
  virtual Status ForgetNode(const std::string& node, const AuditRow& audit) = 0;

  virtual Status SetPauses(const std::vector<Pause>& pauses, const AuditRow& audit) = 0;
  virtual Result<std::vector<Pause>> Pauses() const = 0;

  /// How far a rollout has got. `audit`: of the order or the event that moved it; none when it went on by
  /// itself. NotFound when `rollout.record`'s generation is not stored.
  virtual Status PutRollout(const RolloutWrite& rollout, const std::optional<AuditRow>& audit) = 0;
  /// The newest, with its members; none when no generation was ever stored with one.
  virtual Result<std::optional<StoredRollout>> LatestRollout() const = 0;
  virtual Result<std::vector<RolloutRecord>> Rollouts(std::size_t limit) const = 0;  ///< newest first
  /// With `rollout` (may be empty) in the same transaction: a breaker that trips halts what runs.
  virtual Status PutBreaker(const BreakerRecord& breaker, const RolloutWrite& rollout,
                            const AuditRow& audit) = 0;
  virtual Result<BreakerRecord> Breaker() const = 0;  ///< never tripped: all empty

  virtual Status AddAudit(const AuditRow& row) = 0;
  virtual Result<std::vector<AuditRow>> Audit(std::size_t limit) const = 0;  ///< newest first
  /// At most `limit` (1 or more) rows with the id `from` or a greater one, in one read.
  virtual Result<AuditPage> AuditChain(std::int64_t from, std::size_t limit) const = 0;

  /// Tries a small durable write: Ok when the store takes writes (again).
  virtual Status Probe() = 0;
};

/// The store's file within its directory.
inline constexpr const char* kStoreFile = "railwright.db";

/// Opens or creates `<directory>/railwright.db`; the directory must exist. Errors say what to do next: the
/// directory is not writable, the file is no database or is damaged (DataLoss; the file is left untouched),
/// it is of a newer version, it is locked by another controller.
Result<std::unique_ptr<Store>> OpenSqliteStore(const std::string& directory);
/// Whether a directory holds a store, never did, or did once: a lock or an older store lies there, but no
/// store.
enum class StoreTrace { kNone, kThere, kLost };
StoreTrace LookForStore(const std::string& directory);

/// A consistent copy of a store (also of one in use) at `file`; refuses to overwrite. The copy is one file,
/// checked before it gets its name.
Status BackupStore(const std::string& directory, const std::string& file);
/// Puts a checked backup in place of the store; the old one is kept beside it with a dated name. Refuses
/// while a controller has it open, and when `file` is damaged or newer than this program; nothing is changed
/// then.
Status RestoreStore(const std::string& directory, const std::string& file);

/// Goes along the audit of a directory's store, also of one in use, and changes nothing. FailedPrecondition:
/// its audit is of a version before the chain.
Result<audit::ChainCheck> CheckStoredAudit(const std::string& directory, std::optional<audit::Head> expected);

}  // namespace railwright
