#include "controller/store/audit_rows.h"

#include "controller/store/record.h"
#include "controller/store/rows.h"
#include "railwright/unix_time.h"
#include "railwright/utf8.h"

namespace railwright {
namespace {

std::int64_t Signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

std::string AuditDigest(const audit::Row& row, std::string_view hash) {
  return RowDigest("audit", RecordWriter().Text(audit::Canonical(row)).Text(hash).bytes());
}

std::string HeadDigest(std::uint64_t last, std::string_view hash) {
  return RowDigest("audit_head", RecordWriter().Number(last).Text(hash).bytes());
}

std::string UnchainedDigest(std::uint64_t id, std::int64_t at_us, const AuditRow& row) {
  RecordWriter record;
  record.Number(id).Signed(at_us).Text(row.who).Text(row.action).Text(row.subject).Text(row.detail);
  return RowDigest("audit", record.bytes());
}

AuditRow Unchained(const Statement& row) {
  AuditRow a;
  a.id = static_cast<std::uint64_t>(row.Int(0));
  a.at = NearestToUnixMicros(row.Int(1));
  a.who = row.Text(2);
  a.action = row.Text(3);
  a.subject = row.Text(4);
  a.detail = row.Text(5);
  return a;
}

Status PutHead(Database& database, const audit::Head& head) {
  const std::string_view hash = identity::Bytes(head.hash);
  RW_ASSIGN_OR_RETURN(
      Statement put,
      database.Prepare("INSERT INTO audit_head (id, last, hash, digest) VALUES (1, ?, ?, ?) ON CONFLICT (id) "
                       "DO UPDATE SET last = excluded.last, hash = excluded.hash, digest = excluded.digest"));
  return put.Bind(Signed(head.id)).BindBlob(hash).BindBlob(HeadDigest(head.id, hash)).Run();
}

/// The row after `head`, which then is the head.
Status Append(Database& database, const AuditRow& wanted, audit::Head& head) {
  audit::Row row = ToChain(wanted);
  row.id = head.id + 1;
  // Protobuf, which carries them to who checks the chain, takes no other texts.
  for (std::string* text :
       {&row.who, &row.from, &row.serial, &row.action, &row.subject, &row.detail, &row.outcome})
    *text = ValidUtf8(*text);
  RW_ASSIGN_OR_RETURN(const audit::Digest next, audit::Next(head.hash, row));
  const std::string_view hash = identity::Bytes(next);
  RW_ASSIGN_OR_RETURN(
      Statement insert,
      database.Prepare("INSERT INTO audit (id, at_us, who, origin, serial, action, subject, detail, outcome, "
                       "hash, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  insert.Bind(Signed(row.id)).Bind(row.at_us).BindText(row.who).BindText(row.from).BindText(row.serial);
  insert.BindText(row.action).BindText(row.subject).BindText(row.detail).BindText(row.outcome);
  RW_RETURN_IF_ERROR(insert.BindBlob(hash).BindBlob(AuditDigest(row, hash)).Run());
  head = {row.id, next};
  return Ok();
}

/// One view of the file for several statements; nothing is ever written in it.
class ReadTransaction {
 public:
  static Result<ReadTransaction> Begin(Database& database) {
    RW_RETURN_IF_ERROR(database.Execute("BEGIN"));
    return ReadTransaction(&database);
  }
  ReadTransaction(ReadTransaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  ReadTransaction& operator=(ReadTransaction&&) = delete;
  ~ReadTransaction() {
    if (database_) (void)database_->Execute("ROLLBACK");
  }

 private:
  explicit ReadTransaction(Database* database) : database_(database) {}
  Database* database_;
};

}  // namespace

audit::Row ToChain(const AuditRow& row) {
  return {row.id,     ToUnixMicros(row.at), row.who,    row.from,   row.serial,
          row.action, row.subject,          row.detail, row.outcome};
}

ChainedAudit ReadChained(const Statement& row) {
  ChainedAudit chained;
  audit::Row& r = chained.row;
  r.id = static_cast<std::uint64_t>(row.Int(0));
  r.at_us = row.Int(1);
  int column = 2;
  for (std::string* text : {&r.who, &r.from, &r.serial, &r.action, &r.subject, &r.detail, &r.outcome})
    *text = row.Text(column++);
  chained.hash = row.Blob(column);
  return chained;
}

Result<AuditRow> ReadAudit(const Database& database, const Statement& row) {
  const ChainedAudit chained = ReadChained(row);
  const audit::Row& r = chained.row;
  if (row.Blob(10) != AuditDigest(r, chained.hash))
    return DamagedRow(database, "audit", std::to_string(row.Int(0)));
  AuditRow a{r.id, NearestToUnixMicros(r.at_us), r.who, r.action, r.subject, r.detail};
  a.from = r.from;
  a.serial = r.serial;
  a.outcome = r.outcome;
  return a;
}

Result<AuditRow> ReadUnchainedAudit(const Database& database, const Statement& row) {
  AuditRow a = Unchained(row);
  if (row.Blob(6) != UnchainedDigest(a.id, row.Int(1), a))
    return DamagedRow(database, "audit", std::to_string(row.Int(0)));
  return a;
}

Result<audit::Head> ReadAuditHead(Database& database) {
  RW_ASSIGN_OR_RETURN(Statement select, database.Prepare("SELECT last, hash, digest FROM audit_head"));
  RW_ASSIGN_OR_RETURN(const bool found, select.Step());
  if (!found) return Status(Code::kDataLoss, database.path() + ": table audit_head: its row is missing");
  audit::Head head;
  head.id = static_cast<std::uint64_t>(select.Int(0));
  const std::string hash = select.Blob(1);
  if (select.Blob(2) != HeadDigest(head.id, hash) || hash.size() != head.hash.size())
    return DamagedRow(database, "audit_head", "1");
  for (std::size_t i = 0; i < hash.size(); ++i) head.hash[i] = static_cast<std::uint8_t>(hash[i]);
  return head;
}

Result<AuditPage> ReadAuditPage(Database& database, std::int64_t from, std::size_t limit) {
  RW_ASSIGN_OR_RETURN(const ReadTransaction view, ReadTransaction::Begin(database));
  AuditPage page;
  {
    RW_ASSIGN_OR_RETURN(
        Statement select,
        database.Prepare("SELECT id, at_us, who, origin, serial, action, subject, detail, outcome, hash "
                         "FROM audit WHERE id >= ? ORDER BY id LIMIT ?"));
    select.Bind(from).Bind(Signed(limit));
    while (page.rows.size() < limit) {
      RW_ASSIGN_OR_RETURN(const bool row, select.Step());
      if (!row) break;
      page.rows.push_back(ReadChained(select));
    }
  }
  const std::int64_t end = page.rows.empty() ? from : static_cast<std::int64_t>(page.rows.back().row.id);
  page.last = page.rows.size() < limit || end == INT64_MAX;
  page.next = page.last ? end : end + 1;
  const auto head = ReadAuditHead(database);
  if (head.ok())
    page.head = *head;
  else if (head.status().code() != Code::kDataLoss)
    return head.status();
  return page;
}

Status AppendAudit(Database& database, const AuditRow& row) {
  RW_ASSIGN_OR_RETURN(audit::Head head, ReadAuditHead(database));
  RW_RETURN_IF_ERROR(Append(database, row, head));
  return PutHead(database, head);
}

Status ChainOldAudit(Database& database) {
  audit::Head head;
  RW_ASSIGN_OR_RETURN(head.hash, audit::Genesis());
  {
    RW_ASSIGN_OR_RETURN(Statement select,
                        database.Prepare("SELECT id, at_us, who, action, subject, detail, digest "
                                         "FROM audit_unchained ORDER BY id"));
    std::int64_t before = 0;
    while (true) {
      RW_ASSIGN_OR_RETURN(const bool found, select.Step());
      if (!found) break;
      AuditRow row = Unchained(select);
      const bool fits = ReadUnchainedAudit(database, select).ok();
      if (!fits) row.outcome = "done; the row did not fit its digest when the chain was begun";
      if (select.Int(0) != before + 1)
        row.outcome += "; it was row " + std::to_string(select.Int(0)) +
                       ", and the one before it was missing, when the chain was begun";
      before = select.Int(0);
      RW_RETURN_IF_ERROR(Append(database, row, head));
    }
  }
  RW_RETURN_IF_ERROR(database.Execute("DROP TABLE audit_unchained"));
  return PutHead(database, head);
}

}  // namespace railwright
