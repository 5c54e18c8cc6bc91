// MemoryStatements: a StatementStore that remembers, and that a test can make full.
#pragma once

#include <map>

#include "controller/store/statement_store.h"

namespace railwright {

class MemoryStatements final : public StatementStore {
 public:
  Status PutStatements(const std::vector<StatementRow>& rows) override {
    if (!failure.ok()) return failure;
    ++commits;
    for (const StatementRow& row : rows) rows_.insert_or_assign(row.node, row);
    return Ok();
  }
  Result<std::vector<StatementRow>> Statements() const override {
    std::vector<StatementRow> list;
    for (const auto& [node, row] : rows_) list.push_back(row);
    return list;
  }

  Status failure;  ///< of every write until it is Ok again
  int commits = 0;

 private:
  std::map<std::string, StatementRow> rows_;
};

}  // namespace railwright
