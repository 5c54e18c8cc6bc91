// StatementStore: what was signed for each node, and what waits for signatures. Rows of the same file as
// Store's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/identity/envelope.h"
#include "railwright/result.h"

namespace railwright {

/// Of one node.
struct StatementRow {
  std::string node;      ///< its name in the inventory
  std::string envelope;  ///< the newest that is complete (core/identity/envelope.h); "" = none
  std::string
      pending;  ///< a statement that more signatures are needed for (core/identity/statement.h); "" = none
  std::vector<identity::StatementSignature> signatures;  ///< of `pending`, so far
};

/// Used by the thread that writes the Store.
class StatementStore {
 public:
  virtual ~StatementStore() = default;
  /// Puts each in the place of its node's, all in one durable transaction.
  virtual Status PutStatements(const std::vector<StatementRow>& rows) = 0;
  /// Sorted by node. DataLoss names a row that does not match its digest.
  virtual Result<std::vector<StatementRow>> Statements() const = 0;
};

/// Upon the store of `directory`, which somebody in this process has opened by OpenSqliteStore: that one
/// holds the lock and has brought the file to the newest version.
Result<std::unique_ptr<StatementStore>> OpenSqliteStatements(const std::string& directory);

}  // namespace railwright
