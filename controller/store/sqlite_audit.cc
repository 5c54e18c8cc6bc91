// The audit: who did what, in a chain.
#include "controller/store/sqlite_store.h"

namespace railwright {
namespace {

std::int64_t Signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

Status SqliteStore::AddAudit(const AuditRow& row) {
  std::lock_guard lock(writing_);
  RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  RW_RETURN_IF_ERROR(AppendAudit(*writer_, row));
  return transaction.Commit();
}

Result<std::vector<AuditRow>> SqliteStore::Audit(std::size_t limit) const {
  RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
  RW_ASSIGN_OR_RETURN(
      Statement select,
      reader->Prepare("SELECT id, at_us, who, origin, serial, action, subject, detail, outcome, hash, digest "
                      "FROM audit ORDER BY id DESC LIMIT ?"));
  select.Bind(Signed(limit));
  std::vector<AuditRow> rows;
  while (true) {
    RW_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return rows;
    RW_ASSIGN_OR_RETURN(AuditRow audit, ReadAudit(*reader, select));
    rows.push_back(std::move(audit));
  }
}

Result<AuditPage> SqliteStore::AuditChain(std::uint64_t after, std::size_t limit) const {
  RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
  return ReadAuditPage(*reader, after, limit);
}

}  // namespace railwright
