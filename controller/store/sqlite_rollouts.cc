// How generations spread, on SQLite.
#include "controller/store/rollout_rows.h"
#include "controller/store/sqlite_store.h"

namespace railwright {
namespace {

std::int64_t Signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

bool IsOpen(const RolloutRecord& record) {
  return !record.finished && record.phase != RolloutPhase::kAborted &&
         record.phase != RolloutPhase::kSuperseded;
}

Status PutRecord(Database& writer, const RolloutRecord& record) {
  const std::string bytes = EncodeRollout(record);
  RW_ASSIGN_OR_RETURN(Statement put,
                      writer.Prepare("INSERT INTO rollouts (generation, record, digest) VALUES (?, ?, ?) ON "
                                     "CONFLICT (generation) DO UPDATE SET record = excluded.record, digest = "
                                     "excluded.digest"));
  put.Bind(Signed(record.generation.value)).BindBlob(bytes);
  return put.BindBlob(RolloutDigest(record.generation.value, bytes)).Run();
}

Result<std::optional<RolloutRecord>> Newest(Database& database) {
  RW_ASSIGN_OR_RETURN(Statement select, database.Prepare("SELECT generation, record, digest FROM rollouts "
                                                         "ORDER BY generation DESC LIMIT 1"));
  RW_ASSIGN_OR_RETURN(const bool there, select.Step());
  if (!there) return std::optional<RolloutRecord>();
  RW_ASSIGN_OR_RETURN(RolloutRecord record, ReadRollout(database, select));
  RW_RETURN_IF_ERROR(select.Run());
  return std::optional<RolloutRecord>(std::move(record));
}

}  // namespace

// Within the caller's transaction.
Status SqliteStore::WriteRollout(const RolloutWrite& rollout) {
  if (!rollout.record) return Ok();
  const std::uint64_t generation = rollout.record->generation.value;
  RW_RETURN_IF_ERROR(PutRecord(*writer_, *rollout.record));
  if (rollout.anew) RW_RETURN_IF_ERROR(writer_->Execute("DELETE FROM rollout_members"));
  for (const RolloutMember& member : rollout.members) {
    const std::string bytes = EncodeMember(member);
    RW_ASSIGN_OR_RETURN(
        Statement put,
        writer_->Prepare("INSERT INTO rollout_members (node, generation, record, digest) VALUES (?, ?, ?, ?) "
                         "ON CONFLICT (node) DO UPDATE SET generation = excluded.generation, record = "
                         "excluded.record, digest = excluded.digest"));
    put.BindText(member.node).Bind(Signed(generation)).BindBlob(bytes);
    RW_RETURN_IF_ERROR(put.BindBlob(RolloutMemberDigest(member.node, generation, bytes)).Run());
  }
  return Ok();
}

Status SqliteStore::AddRollout(const RolloutWrite& rollout) {
  if (!rollout.record) return Ok();
  RW_ASSIGN_OR_RETURN(auto before, Newest(*writer_));
  if (before && IsOpen(*before)) {
    before->phase = RolloutPhase::kSuperseded;
    before->reason = "generation " + std::to_string(rollout.record->generation.value) + " took its place";
    before->by = rollout.record->author;
    RW_RETURN_IF_ERROR(PutRecord(*writer_, *before));
  }
  return WriteRollout(rollout);
}

Status SqliteStore::PutRollout(const RolloutWrite& rollout, const std::optional<AuditRow>& audit) {
  std::lock_guard lock(writing_);
  RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  if (rollout.record) {
    RW_ASSIGN_OR_RETURN(Statement find, writer_->Prepare("SELECT 1 FROM rollouts WHERE generation = ?"));
    RW_ASSIGN_OR_RETURN(const bool there, find.Bind(Signed(rollout.record->generation.value)).Step());
    if (!there)
      return Status(Code::kNotFound, "no rollout of generation " +
                                         std::to_string(rollout.record->generation.value) + " is stored");
    RW_RETURN_IF_ERROR(find.Run());
  }
  RW_RETURN_IF_ERROR(WriteRollout(rollout));
  if (audit) RW_RETURN_IF_ERROR(AppendAudit(*writer_, *audit));
  return transaction.Commit();
}

Status SqliteStore::PutBreaker(const BreakerRecord& breaker, const RolloutWrite& rollout,
                               const AuditRow& audit) {
  std::lock_guard lock(writing_);
  RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  {
    const std::string bytes = EncodeBreaker(breaker);
    RW_ASSIGN_OR_RETURN(
        Statement put,
        writer_->Prepare("INSERT INTO breaker (id, record, digest) VALUES (1, ?, ?) ON CONFLICT "
                         "(id) DO UPDATE SET record = excluded.record, digest = excluded.digest"));
    RW_RETURN_IF_ERROR(put.BindBlob(bytes).BindBlob(BreakerDigest(bytes)).Run());
  }
  RW_RETURN_IF_ERROR(WriteRollout(rollout));
  RW_RETURN_IF_ERROR(AppendAudit(*writer_, audit));
  return transaction.Commit();
}

Result<std::optional<StoredRollout>> SqliteStore::LatestRollout() const {
  RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
  RW_ASSIGN_OR_RETURN(auto record, Newest(*reader));
  if (!record) return std::optional<StoredRollout>();
  StoredRollout stored;
  stored.record = std::move(*record);
  RW_ASSIGN_OR_RETURN(Statement select,
                      reader->Prepare("SELECT node, generation, record, digest FROM rollout_members WHERE "
                                      "generation = ? ORDER BY node"));
  select.Bind(Signed(stored.record.generation.value));
  while (true) {
    RW_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return std::optional<StoredRollout>(std::move(stored));
    RW_ASSIGN_OR_RETURN(RolloutMember member, ReadRolloutMember(*reader, select));
    stored.members.push_back(std::move(member));
  }
}

Result<std::vector<RolloutRecord>> SqliteStore::Rollouts(std::size_t limit) const {
  RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
  RW_ASSIGN_OR_RETURN(Statement select,
                      reader->Prepare("SELECT generation, record, digest FROM rollouts ORDER "
                                      "BY generation DESC LIMIT ?"));
  select.Bind(Signed(limit));
  std::vector<RolloutRecord> records;
  while (true) {
    RW_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return records;
    RW_ASSIGN_OR_RETURN(RolloutRecord record, ReadRollout(*reader, select));
    records.push_back(std::move(record));
  }
}

Result<BreakerRecord> SqliteStore::Breaker() const {
  RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
  RW_ASSIGN_OR_RETURN(Statement select, reader->Prepare("SELECT record, digest FROM breaker WHERE id = 1"));
  RW_ASSIGN_OR_RETURN(const bool there, select.Step());
  if (!there) return BreakerRecord();
  return ReadBreaker(*reader, select);
}

}  // namespace railwright
