// Reports and history: what the agents said.
#include <algorithm>
#include <unordered_set>

#include "controller/store/sqlite_store.h"

namespace railwright {
namespace {

std::int64_t Signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// Rows dropped at a time once the bound is passed, so that not every commit has to delete.
constexpr std::size_t kDropSlack = 1000;

}  // namespace

Status SqliteStore::PutReports(const std::vector<NodeWrite>& writes) {
  if (writes.empty()) return Ok();
  std::lock_guard lock(writing_);
  RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  std::size_t added = 0;
  for (const NodeWrite& write : writes) RW_RETURN_IF_ERROR(PutReport(write, added));
  RW_RETURN_IF_ERROR(transaction.Commit());
  changes_ += added;
  // The reports are durable by now; what could not be dropped is dropped another time.
  if (changes_ > changes_kept_ + std::min(kDropSlack, changes_kept_ / 10)) (void)DropOldChanges();
  return Ok();
}

Status SqliteStore::PutReport(const NodeWrite& write, std::size_t& added) {
  StoredReport row = write.report;
  std::uint64_t stored = 0;
  {
    RW_ASSIGN_OR_RETURN(Statement select,
                        writer_->Prepare("SELECT stored_change FROM reports WHERE node = ?"));
    RW_ASSIGN_OR_RETURN(const bool known, select.BindText(row.report.node).Step());
    if (known) stored = static_cast<std::uint64_t>(select.Int(0));
  }
  row.stored_change = std::max(row.stored_change, stored);
  for (const ChangeRecord& change : write.changes) {
    if (change.sequence <= stored) continue;
    const std::string record = EncodeChange(change);
    RW_ASSIGN_OR_RETURN(Statement insert,
                        writer_->Prepare("INSERT OR IGNORE INTO changes (node, sequence, at_us, "
                                         "key, record, digest) VALUES (?, ?, ?, ?, ?, ?)"));
    insert.BindText(row.report.node)
        .Bind(Signed(change.sequence))
        .Bind(ToUnixMicros(change.at))
        .BindText(change.key);
    insert.BindBlob(record).BindBlob(
        ChangeDigest(row.report.node, change.sequence, ToUnixMicros(change.at), change.key, record));
    RW_RETURN_IF_ERROR(insert.Run());
    added += static_cast<std::size_t>(writer_->Changed());
    row.stored_change = std::max(row.stored_change, change.sequence);
  }
  const std::string findings = EncodeFindings(row.report.findings);
  RW_ASSIGN_OR_RETURN(
      Statement upsert,
      writer_->Prepare(
          "INSERT INTO reports (node, generation, state_hash, verdict, settled, report_hash, at_us, "
          "stored_change, "
          "corrected, agent_version, boot_id, findings, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
          "?) "
          "ON CONFLICT (node) DO UPDATE SET generation = excluded.generation, state_hash = "
          "excluded.state_hash, "
          "verdict = excluded.verdict, settled = excluded.settled, report_hash = excluded.report_hash, "
          "at_us = excluded.at_us, stored_change = excluded.stored_change, corrected = excluded.corrected, "
          "agent_version = excluded.agent_version, boot_id = excluded.boot_id, findings = excluded.findings, "
          "digest = excluded.digest"));
  upsert.BindText(row.report.node).Bind(Signed(row.report.generation.value)).BindText(row.report.state_hash);
  upsert.Bind(static_cast<std::int64_t>(row.report.verdict)).Bind(row.report.settled ? 1 : 0);
  upsert.BindText(row.report_hash)
      .Bind(ToUnixMicros(row.at))
      .Bind(Signed(row.stored_change))
      .Bind(Signed(row.corrected));
  upsert.BindText(row.agent_version).BindText(row.boot_id).BindBlob(findings);
  return upsert.BindBlob(ReportDigest(row, findings)).Run();
}

Status SqliteStore::DropOldChanges() {
  RW_ASSIGN_OR_RETURN(Statement drop,
                      writer_->Prepare("DELETE FROM changes WHERE id IN (SELECT id FROM changes "
                                       "ORDER BY id LIMIT ?)"));
  RW_RETURN_IF_ERROR(drop.Bind(Signed(changes_ - changes_kept_)).Run());
  changes_ -= static_cast<std::size_t>(writer_->Changed());
  return Ok();
}

Result<std::vector<StoredReport>> SqliteStore::Reports() const {
  RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
  RW_ASSIGN_OR_RETURN(
      Statement select,
      reader->Prepare("SELECT node, generation, state_hash, verdict, settled, report_hash, at_us, "
                      "stored_change, corrected, agent_version, boot_id, findings, digest "
                      "FROM reports ORDER BY node"));
  std::vector<StoredReport> reports;
  while (true) {
    RW_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return reports;
    RW_ASSIGN_OR_RETURN(StoredReport report, ReadReport(*reader, select));
    reports.push_back(std::move(report));
  }
}

Result<std::vector<std::pair<std::string, ChangeRecord>>> SqliteStore::Changes(
    const ChangeQuery& query) const {
  RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
  // One node uses its index; several are sifted here while walking back in time.
  const std::string one = query.nodes.size() == 1 ? query.nodes.front() : "";
  const std::unordered_set<std::string> several(query.nodes.begin(), query.nodes.end());
  RW_ASSIGN_OR_RETURN(
      Statement select,
      reader->Prepare(one.empty()
                          ? "SELECT node, sequence, at_us, key, record, digest FROM changes WHERE ?1 = '' "
                            "AND (?2 = '' OR key = ?2) AND at_us >= ?3 ORDER BY at_us DESC, id DESC"
                          : "SELECT node, sequence, at_us, key, record, digest FROM changes WHERE node = ?1 "
                            "AND (?2 = '' OR key = ?2) AND at_us >= ?3 ORDER BY at_us DESC, id DESC"));
  select.BindText(one).BindText(query.key).Bind(ToUnixMicros(query.since));
  std::vector<std::pair<std::string, ChangeRecord>> changes;
  while (changes.size() < query.limit) {
    RW_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) break;
    if (!several.empty() && !several.contains(select.Text(0))) continue;
    RW_ASSIGN_OR_RETURN(auto change, ReadChange(*reader, select));
    changes.push_back(std::move(change));
  }
  return changes;
}

Status SqliteStore::ForgetNode(const std::string& node, const AuditRow& audit) {
  std::lock_guard lock(writing_);
  RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  std::int64_t changes = 0, others = 0;
  {
    RW_ASSIGN_OR_RETURN(Statement drop, writer_->Prepare("DELETE FROM reports WHERE node = ?"));
    RW_RETURN_IF_ERROR(drop.BindText(node).Run());
    others += writer_->Changed();
  }
  {
    RW_ASSIGN_OR_RETURN(Statement drop, writer_->Prepare("DELETE FROM pauses WHERE node = ?"));
    RW_RETURN_IF_ERROR(drop.BindText(node).Run());
    others += writer_->Changed();
  }
  {
    RW_ASSIGN_OR_RETURN(Statement drop, writer_->Prepare("DELETE FROM changes WHERE node = ?"));
    RW_RETURN_IF_ERROR(drop.BindText(node).Run());
    changes = writer_->Changed();
  }
  if (others == 0 && changes == 0)
    return Status(Code::kNotFound, "node \"" + node + "\" has left nothing in the store");
  RW_RETURN_IF_ERROR(AppendAudit(*writer_, audit));
  RW_RETURN_IF_ERROR(transaction.Commit());
  changes_ -= std::min(changes_, static_cast<std::size_t>(changes));
  return Ok();
}

}  // namespace railwright
