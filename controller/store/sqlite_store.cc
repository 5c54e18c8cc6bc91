#include "controller/store/sqlite_store.h"

#include <unistd.h>

namespace railwright {
namespace {

// Measured on 1 KiB rows: 2.5 times the rows a second of SQLite's defaults (tests/bench).
constexpr const char* kWriterSettings =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = "
    "-65536;"
    "PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;";
constexpr std::size_t kReadersKept = 4;

std::int64_t Signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(const std::string& directory,
                                                       std::size_t changes_kept) {
  RW_ASSIGN_OR_RETURN(DirectoryLock lock, DirectoryLock::Take(directory));
  const std::string path = directory + "/" + kStoreFile;
  if (access(path.c_str(), F_OK) != 0) RW_RETURN_IF_ERROR(MakeStoreFile(path));
  RW_RETURN_IF_ERROR(RewriteLog(path));
  const auto version = CheckStoreFile(path, RestoreHint(directory));
  if (!version.ok()) return version.status();
  RW_ASSIGN_OR_RETURN(auto writer, Database::Open(path, Database::Access::kReadWrite));
  RW_RETURN_IF_ERROR(writer->Execute(kWriterSettings));
  RW_RETURN_IF_ERROR(Migrate(*writer));
  auto store =
      std::unique_ptr<SqliteStore>(new SqliteStore(std::move(lock), path, std::move(writer), changes_kept));
  RW_ASSIGN_OR_RETURN(const std::string count, store->writer_->Value("SELECT count(*) FROM changes"));
  store->changes_ = static_cast<std::size_t>(std::atoll(count.c_str()));
  return store;
}

SqliteStore::~SqliteStore() {
  readers_.clear();  // before the writer, whose close then empties the log into the file
}

SqliteStore::Reader::~Reader() {
  if (!database_) return;
  std::lock_guard lock(store_.mutex_);
  if (store_.readers_.size() < kReadersKept) store_.readers_.push_back(std::move(database_));
}

Result<SqliteStore::Reader> SqliteStore::Lend() const {
  {
    std::lock_guard lock(mutex_);
    if (!readers_.empty()) {
      Reader reader(*this, std::move(readers_.back()));
      readers_.pop_back();
      return reader;
    }
  }
  RW_ASSIGN_OR_RETURN(auto database, Database::Open(path_, Database::Access::kReadOnly));
  return Reader(*this, std::move(database));
}

Result<std::int64_t> SqliteStore::TextId(const StoredDocument& document, const std::string& digest) {
  {
    RW_ASSIGN_OR_RETURN(Statement find, writer_->Prepare("SELECT id FROM texts WHERE digest = ?"));
    RW_ASSIGN_OR_RETURN(const bool found, find.BindBlob(digest).Step());
    if (found) return find.Int(0);
  }
  RW_ASSIGN_OR_RETURN(Statement insert,
                      writer_->Prepare("INSERT INTO texts (digest, text) VALUES (?, ?) RETURNING id"));
  RW_ASSIGN_OR_RETURN(const bool row, insert.BindBlob(digest).BindText(document.text).Step());
  const std::int64_t id = row ? insert.Int(0) : 0;
  RW_RETURN_IF_ERROR(insert.Run());
  return id;
}

Status SqliteStore::AddGeneration(const StoredGeneration& g, const AuditRow& audit,
                                  const RolloutWrite& rollout) {
  std::lock_guard lock(writing_);
  RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  {
    RW_ASSIGN_OR_RETURN(const std::string latest, writer_->Value("SELECT max(generation) FROM generations"));
    const std::uint64_t newest = std::strtoull(latest.c_str(), nullptr, 10);
    if (g.generation.value <= newest)
      return Status(Code::kAborted, "generation " + std::to_string(g.generation.value) +
                                        " cannot follow generation " + std::to_string(newest));
    RW_ASSIGN_OR_RETURN(Statement insert,
                        writer_->Prepare("INSERT INTO generations (generation, created_us, author, comment, "
                                         "rolled_back_from, nodes, settings, restores, documents, digest) "
                                         "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    insert.Bind(Signed(g.generation.value))
        .Bind(ToUnixMicros(g.created))
        .BindText(g.author)
        .BindText(g.comment);
    insert.Bind(Signed(g.rolled_back_from.value)).Bind(Signed(g.nodes)).Bind(Signed(g.settings));
    insert.BindBlob(EncodeRestores(g.restores, static_cast<std::uint64_t>(g.try_for.count())))
        .Bind(Signed(g.documents.size()))
        .BindBlob(GenerationDigest(g));
    RW_RETURN_IF_ERROR(insert.Run());
  }
  for (std::size_t i = 0; i < g.documents.size(); ++i) {
    const StoredDocument& d = g.documents[i];
    const std::string text_digest = TextDigest(d.text);
    RW_ASSIGN_OR_RETURN(const std::int64_t text, TextId(d, text_digest));
    RW_ASSIGN_OR_RETURN(
        Statement insert,
        writer_->Prepare("INSERT INTO documents (generation, position, kind, name, file, line, "
                         "text_id, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
    insert.Bind(Signed(g.generation.value))
        .Bind(Signed(i))
        .BindText(d.kind)
        .BindText(d.name)
        .BindText(d.file);
    insert.Bind(d.line).Bind(text).BindBlob(DocumentDigest(g.generation.value, i, d, text_digest));
    RW_RETURN_IF_ERROR(insert.Run());
  }
  RW_RETURN_IF_ERROR(AddRollout(rollout));
  RW_RETURN_IF_ERROR(AppendAudit(*writer_, audit));
  return transaction.Commit();
}

Result<std::optional<StoredGeneration>> SqliteStore::LatestGeneration() const {
  std::uint64_t newest = 0;
  {
    RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
    RW_ASSIGN_OR_RETURN(const std::string text, reader->Value("SELECT max(generation) FROM generations"));
    newest = std::strtoull(text.c_str(), nullptr, 10);
  }
  if (newest == 0) return std::optional<StoredGeneration>();
  RW_ASSIGN_OR_RETURN(StoredGeneration generation, GetGeneration({newest}));
  return std::optional<StoredGeneration>(std::move(generation));
}

Result<StoredGeneration> SqliteStore::GetGeneration(Generation wanted) const {
  RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
  std::size_t documents = 0;
  StoredGeneration generation;
  {
    RW_ASSIGN_OR_RETURN(
        Statement select,
        reader->Prepare("SELECT generation, created_us, author, comment, rolled_back_from, nodes, "
                        "settings, restores, documents, digest FROM generations "
                        "WHERE generation = ?"));
    RW_ASSIGN_OR_RETURN(const bool found, select.Bind(Signed(wanted.value)).Step());
    if (!found) {
      RW_ASSIGN_OR_RETURN(
          const std::string range,
          reader->Value("SELECT CASE count(*) WHEN 0 THEN 'none yet' ELSE min(generation) || ' to ' || "
                        "max(generation) END FROM generations"));
      return Status(Code::kNotFound,
                    "generation " + std::to_string(wanted.value) + " is not stored; stored: " + range);
    }
    RW_ASSIGN_OR_RETURN(generation, ReadGeneration(*reader, select, documents));
  }
  RW_ASSIGN_OR_RETURN(generation.documents, ReadDocuments(*reader, wanted.value, documents, true));
  return generation;
}

Result<std::vector<StoredGeneration>> SqliteStore::Generations(std::size_t limit) const {
  RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
  RW_ASSIGN_OR_RETURN(
      Statement select,
      reader->Prepare("SELECT generation, created_us, author, comment, rolled_back_from, nodes, "
                      "settings, restores, documents, digest FROM generations "
                      "ORDER BY generation DESC LIMIT ?"));
  select.Bind(Signed(limit));
  std::vector<StoredGeneration> generations;
  while (true) {
    RW_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return generations;
    std::size_t documents = 0;
    RW_ASSIGN_OR_RETURN(StoredGeneration generation, ReadGeneration(*reader, select, documents));
    RW_ASSIGN_OR_RETURN(generation.documents,
                        ReadDocuments(*reader, generation.generation.value, documents, false));
    generations.push_back(std::move(generation));
  }
}

Status SqliteStore::SetPauses(const std::vector<Pause>& pauses, const AuditRow& audit) {
  std::lock_guard lock(writing_);
  RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  RW_RETURN_IF_ERROR(writer_->Execute("DELETE FROM pauses"));
  for (std::size_t i = 0; i < pauses.size(); ++i) {
    RW_ASSIGN_OR_RETURN(Statement insert,
                        writer_->Prepare("INSERT INTO pauses (position, node, key, by, reason, "
                                         "digest) VALUES (?, ?, ?, ?, ?, ?)"));
    insert.Bind(Signed(i)).BindText(pauses[i].node).BindText(pauses[i].key).BindText(pauses[i].by);
    insert.BindText(pauses[i].reason).BindBlob(PauseDigest(i, pauses[i]));
    RW_RETURN_IF_ERROR(insert.Run());
  }
  RW_RETURN_IF_ERROR(AppendAudit(*writer_, audit));
  return transaction.Commit();
}

Result<std::vector<Pause>> SqliteStore::Pauses() const {
  RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
  RW_ASSIGN_OR_RETURN(Statement select, reader->Prepare("SELECT position, node, key, by, reason, digest "
                                                        "FROM pauses ORDER BY position"));
  std::vector<Pause> pauses;
  while (true) {
    RW_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return pauses;
    RW_ASSIGN_OR_RETURN(Pause pause, ReadPause(*reader, select));
    pauses.push_back(std::move(pause));
  }
}

Status SqliteStore::Probe() {
  std::lock_guard lock(writing_);
  // 64 KiB, so that a disk with one free page is not called healed.
  RW_ASSIGN_OR_RETURN(
      Statement write,
      writer_->Prepare("INSERT INTO probe (id, at_us, pad) VALUES (1, ?, zeroblob(65536)) ON "
                       "CONFLICT (id) DO UPDATE SET at_us = excluded.at_us, pad = excluded.pad"));
  return write.Bind(ToUnixMicros(std::chrono::system_clock::now())).Run();
}

Result<std::unique_ptr<Store>> OpenSqliteStore(const std::string& directory) {
  RW_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, SqliteStore::Open(directory));
  return store;
}

Result<std::unique_ptr<StateStore>> OpenStateStore(const std::string& directory) {
  RW_ASSIGN_OR_RETURN(std::unique_ptr<StateStore> store, SqliteStore::Open(directory));
  return store;
}

}  // namespace railwright
