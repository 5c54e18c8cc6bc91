// sqlite: a thin, checked wrapper; the only code that calls the SQLite library.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "railwright/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace railwright {

class Database;

/// A prepared statement on loan from its Database: reset when it goes out of scope. Parameters are bound in
/// order by Bind; columns count from 0. A text or blob that is NULL reads as "".
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& Bind(std::int64_t value);
  Statement& BindText(std::string_view value);
  Statement& BindBlob(std::string_view value);
  /// True: a row is there. False: no more.
  Result<bool> Step();
  /// Steps to the end, and is ready to be bound anew.
  Status Run();

  std::int64_t Int(int column) const;
  std::string Text(int column) const;
  std::string Blob(int column) const;

 private:
  friend class Database;
  Statement(Database* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  Database* database_;
  sqlite3_stmt* statement_;
  int next_ = 1;
  int bind_error_ = 0;
};

/// One connection; used by one thread at a time.
class Database {
 public:
  enum class Access { kReadOnly, kReadWrite, kCreate };
  /// Busy waits end after 2 s. Never writes to the file by itself, not even a checkpoint on close unless it
  /// was opened to write.
  static Result<std::unique_ptr<Database>> Open(const std::string& path, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Several statements; their rows are ignored.
  Status Execute(const char* sql);
  /// Prepared once per connection and text.
  Result<Statement> Prepare(const char* sql);
  /// The first column of the first row, as text ("" when there is none).
  Result<std::string> Value(const char* sql);
  /// PRAGMA quick_check: Ok, or DataLoss with the first finding.
  Status QuickCheck();
  /// Rows changed by the last statement.
  std::int64_t Changed() const;
  /// Everything of this database into `target`, in one read transaction.
  Status CopyInto(Database& target);

  /// The library's last error, with errno where the system had one. Full disks are ResourceExhausted, damage
  /// is DataLoss, locks are Unavailable.
  Status Error(int result, std::string_view doing) const;
  const std::string& path() const { return path_; }

 private:
  friend class Transaction;
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  std::string path_;
  sqlite3* handle_;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

/// BEGIN IMMEDIATE … COMMIT; rolls back when it goes out of scope uncommitted.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(other.database_) { other.database_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}
  Database* database_;
};

}  // namespace railwright
