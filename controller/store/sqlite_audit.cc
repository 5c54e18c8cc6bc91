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

Result<AuditPage> SqliteStore::AuditChain(std::int64_t from, std::size_t limit) const {
  RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
  return ReadAuditPage(*reader, from, limit);
}

Result<audit::ChainCheck> CheckStoredAudit(const std::string& directory,
                                           std::optional<audit::Head> expected) {
  const std::string path = directory + "/" + kStoreFile;
  RW_ASSIGN_OR_RETURN(const int version, CheckStoreFile(path, RestoreHint(directory)));
  if (version < kChainedVersion)
    return Status(Code::kFailedPrecondition,
                  path +
                      ": its audit has no chain yet; this version of railwright-controller makes it when it "
                      "opens the store");
  RW_ASSIGN_OR_RETURN(const auto database, Database::Open(path, Database::Access::kReadOnly));
  RW_ASSIGN_OR_RETURN(audit::ChainCheck check, audit::ChainCheck::Begin(expected));
  constexpr std::size_t kPage = 500;
  std::int64_t from = kAuditBegin;
  while (true) {
    RW_ASSIGN_OR_RETURN(const AuditPage page, ReadAuditPage(*database, from, kPage));
    for (const ChainedAudit& one : page.rows) {
      RW_ASSIGN_OR_RETURN(const bool fits, check.Take(one.row, one.hash));
      if (!fits) return check;
    }
    if (page.last) {
      (void)check.Finish(page.head);
      return check;
    }
    from = page.next;
  }
}

}  // namespace railwright
