// StatementStore on the store's SQLite file, by a connection of its own.
#include "controller/store/rows.h"
#include "controller/store/sqlite.h"
#include "controller/store/statement_store.h"
#include "controller/store/store.h"
#include "core/files/whole_file.h"
#include "core/identity/digest.h"

namespace railwright {
namespace {

constexpr std::size_t kPinBytes = 32, kSignatureBytes = 64;

// Pin and signature, one after the other.
std::string Packed(const std::vector<identity::StatementSignature>& signatures) {
  std::string bytes;
  for (const auto& one : signatures) {
    bytes += identity::Bytes(one.key.digest());
    bytes += one.bytes;
  }
  return bytes;
}

bool Unpack(std::string_view bytes, std::vector<identity::StatementSignature>& signatures) {
  if (bytes.size() % (kPinBytes + kSignatureBytes) != 0) return false;
  for (; !bytes.empty(); bytes.remove_prefix(kPinBytes + kSignatureBytes)) {
    identity::Digest pin{};
    for (std::size_t i = 0; i < kPinBytes; ++i) pin[i] = static_cast<std::uint8_t>(bytes[i]);
    signatures.push_back({identity::Pin(pin), std::string(bytes.substr(kPinBytes, kSignatureBytes))});
  }
  return true;
}

std::string DigestOf(const StatementRow& row, std::string_view signatures) {
  RecordWriter record;
  record.Text(row.node).Text(row.envelope).Text(row.pending).Text(signatures);
  return RowDigest("statements", record.bytes());
}

Result<std::vector<StatementRow>> ReadStatements(Database& database) {
  RW_ASSIGN_OR_RETURN(
      Statement select,
      database.Prepare("SELECT node, envelope, pending, signatures, digest FROM statements ORDER BY node"));
  std::vector<StatementRow> rows;
  while (true) {
    RW_ASSIGN_OR_RETURN(const bool there, select.Step());
    if (!there) return rows;
    StatementRow row{select.Text(0), select.Blob(1), select.Blob(2), {}};
    const std::string signatures = select.Blob(3);
    if (DigestOf(row, signatures) != select.Blob(4) || !Unpack(signatures, row.signatures))
      return DamagedRow(database, "statements", row.node);
    rows.push_back(std::move(row));
  }
}

class SqliteStatements final : public StatementStore {
 public:
  explicit SqliteStatements(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  Status PutStatements(const std::vector<StatementRow>& rows) override {
    if (rows.empty()) return Ok();
    RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
    for (const StatementRow& row : rows) {
      RW_ASSIGN_OR_RETURN(
          Statement upsert,
          database_->Prepare("INSERT INTO statements (node, envelope, pending, signatures, digest) "
                             "VALUES (?, ?, ?, ?, ?) ON CONFLICT (node) DO UPDATE SET envelope = "
                             "excluded.envelope, pending = excluded.pending, signatures = "
                             "excluded.signatures, digest = excluded.digest"));
      const std::string signatures = Packed(row.signatures);
      upsert.BindText(row.node).BindBlob(row.envelope).BindBlob(row.pending).BindBlob(signatures);
      RW_RETURN_IF_ERROR(upsert.BindBlob(DigestOf(row, signatures)).Run());
    }
    return transaction.Commit();
  }

  Result<std::vector<StatementRow>> Statements() const override { return ReadStatements(*database_); }

 private:
  std::unique_ptr<Database> database_;
};

}  // namespace

Status VerifyStatements(Database& database) { return ReadStatements(database).status(); }

Result<std::unique_ptr<StatementStore>> OpenSqliteStatements(const std::string& directory) {
  RW_ASSIGN_OR_RETURN(auto database,
                      Database::Open(directory + "/" + kStoreFile, Database::Access::kReadWrite));
  // As the Store's own writer: what is handed out signed must be remembered over a power cut.
  RW_RETURN_IF_ERROR(database->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"));
  // The log is made by whichever connection reads or writes first, and SQLite makes its name durable only
  // when that same one writes. If it is this one, what the Store's writer syncs into it would be lost with
  // its name (found by the simulation, seed 88): it is made here, and the folder synced.
  RW_RETURN_IF_ERROR(database->Value("SELECT count(*) FROM statements").status());
  RW_RETURN_IF_ERROR(SyncFolder(directory));
  return std::unique_ptr<StatementStore>(std::make_unique<SqliteStatements>(std::move(database)));
}

}  // namespace railwright
