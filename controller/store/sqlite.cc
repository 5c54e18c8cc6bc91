#include "controller/store/sqlite.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

namespace railwright {

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      next_(other.next_),
      bind_error_(other.bind_error_) {}

Statement::~Statement() {
  if (!statement_) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Statement& Statement::Bind(std::int64_t value) {
  bind_error_ |= sqlite3_bind_int64(statement_, next_++, value);
  return *this;
}

Statement& Statement::BindText(std::string_view value) {
  bind_error_ |= sqlite3_bind_text64(statement_, next_++, value.data() ? value.data() : "", value.size(),
                                     SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::BindBlob(std::string_view value) {
  bind_error_ |= sqlite3_bind_blob64(statement_, next_++, value.data() ? value.data() : "", value.size(),
                                     SQLITE_TRANSIENT);
  return *this;
}

Result<bool> Statement::Step() {
  if (bind_error_ != SQLITE_OK)
    return Status(Code::kInvalidArgument, database_->path() + ": a value is too large to be stored");
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  Status status = database_->Error(result, "");
  sqlite3_reset(statement_);
  return status;
}

Status Statement::Run() {
  while (true) {
    RW_ASSIGN_OR_RETURN(const bool row, Step());
    if (!row) break;
  }
  sqlite3_reset(statement_);
  next_ = 1;
  return Ok();
}

std::int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_, column); }

std::string Statement::Text(int column) const {
  const auto* text = sqlite3_column_text(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return text ? std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)) : "";
}

std::string Statement::Blob(int column) const {
  const void* blob = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return blob ? std::string(static_cast<const char*>(blob), static_cast<std::size_t>(size)) : "";
}

Result<std::unique_ptr<Database>> Database::Open(const std::string& path, Access access) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= access == Access::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (access == Access::kCreate) flags |= SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int result = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  auto database = std::unique_ptr<Database>(new Database(path, handle));
  if (result != SQLITE_OK) return database->Error(result, "open");
  sqlite3_busy_timeout(handle, 2000);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  if (access == Access::kReadOnly) sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // A damaged file must be found out, not followed into nonsense.
  RW_RETURN_IF_ERROR(database->Execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"));
  return database;
}

Database::~Database() {
  for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close_v2(handle_);
}

Status Database::Execute(const char* sql) {
  const int result = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  return result == SQLITE_OK ? Ok() : Error(result, "");
}

Result<Statement> Database::Prepare(const char* sql) {
  const auto found = statements_.find(std::string_view(sql));
  if (found != statements_.end()) return Statement(this, found->second);
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (result != SQLITE_OK) return Error(result, "");
  statements_.emplace(sql, statement);
  return Statement(this, statement);
}

Result<std::string> Database::Value(const char* sql) {
  RW_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  RW_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Text(0) : std::string();
}

Status Database::QuickCheck() {
  RW_ASSIGN_OR_RETURN(const std::string first, Value("PRAGMA quick_check(1)"));
  if (first == "ok") return Ok();
  return Status(Code::kDataLoss, path_ + ": " + (first.empty() ? "the check gave no answer" : first));
}

std::int64_t Database::Changed() const { return sqlite3_changes64(handle_); }

Status Database::CopyInto(Database& target) {
  sqlite3_backup* backup = sqlite3_backup_init(target.handle_, "main", handle_, "main");
  if (!backup) return target.Error(sqlite3_extended_errcode(target.handle_), "copy");
  // All pages in one step: one read transaction, so a busy writer cannot make it start again.
  int result = SQLITE_OK;
  for (int attempt = 0; attempt < 20; ++attempt) {
    result = sqlite3_backup_step(backup, -1);
    if (result != SQLITE_BUSY && result != SQLITE_LOCKED) break;
    sqlite3_sleep(100);
  }
  sqlite3_backup_finish(backup);
  return result == SQLITE_DONE ? Ok() : target.Error(result, "copy");
}

Status Database::Error(int result, std::string_view doing) const {
  const int system = handle_ ? sqlite3_system_errno(handle_) : 0;
  std::string message = path_;
  if (!doing.empty()) message += ": " + std::string(doing);
  message += ": ";
  message += sqlite3_errstr(result);
  const char* detail = handle_ ? sqlite3_errmsg(handle_) : nullptr;
  if (detail && message.find(detail) == std::string::npos && std::strcmp(detail, "not an error") != 0)
    message += std::string(" (") + detail + ")";
  auto with_errno = [&](Code code, int number) {
    if (number) message += std::string(": ") + std::strerror(number);
    return Status(code, message, number);
  };
  switch (result & 0xff) {
    case SQLITE_FULL: return with_errno(Code::kResourceExhausted, ENOSPC);
    case SQLITE_NOMEM: return with_errno(Code::kResourceExhausted, ENOMEM);
    case SQLITE_IOERR:
      // errno may be of an earlier call; only the two that mean "full" change what the caller does.
      if (system == ENOSPC || system == EDQUOT) return with_errno(Code::kResourceExhausted, system);
      return with_errno(Code::kInternal, system);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Status(Code::kDataLoss, message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Status(Code::kUnavailable, message + ": another program holds it", EBUSY);
    case SQLITE_READONLY: return with_errno(Code::kPermissionDenied, system ? system : EACCES);
    case SQLITE_CANTOPEN:
      return system ? with_errno(CodeOf(system), system) : Status(Code::kInternal, message);
    case SQLITE_PERM: return with_errno(Code::kPermissionDenied, EACCES);
    case SQLITE_CONSTRAINT: return Status(Code::kAborted, message);
    case SQLITE_TOOBIG: return Status(Code::kInvalidArgument, message);
    default: return Status(Code::kInternal, message);
  }
}

Result<Transaction> Transaction::Begin(Database& database) {
  RW_RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Transaction::~Transaction() {
  // Some errors (a full disk among them) have rolled back already.
  if (database_ && !sqlite3_get_autocommit(database_->handle_))
    (void)sqlite3_exec(database_->handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

Status Transaction::Commit() {
  RW_RETURN_IF_ERROR(database_->Execute("COMMIT"));
  database_ = nullptr;
  return Ok();
}

}  // namespace railwright
