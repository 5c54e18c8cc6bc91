// audit_rows: the audit's rows, each chained to the one before, and the head that is kept beside them.
#pragma once

#include <string>

#include "controller/store/sqlite.h"
#include "controller/store/store.h"

namespace railwright {

/// The store version that chained the audit.
inline constexpr int kChainedVersion = 3;
inline constexpr const char* kAuditColumns =
    "id, at_us, who, origin, serial, action, subject, detail, outcome, hash, digest";

/// Columns: kAuditColumns. DataLoss when the digest does not fit.
Result<AuditRow> ReadAudit(const Database& database, const Statement& row);
/// The same columns as they lie there.
ChainedAudit ReadChained(const Statement& row);
/// A row of store version 2. Columns: id, at_us, who, action, subject, detail, digest.
Result<AuditRow> ReadUnchainedAudit(const Database& database, const Statement& row);

/// DataLoss when it is missing or damaged.
Result<audit::Head> ReadAuditHead(Database& database);

/// Store::AuditChain, of any connection.
Result<AuditPage> ReadAuditPage(Database& database, std::int64_t from, std::size_t limit);

/// Within the caller's transaction: the next row of the chain, and the head that stands for it. The row's own
/// id is ignored.
Status AppendAudit(Database& database, const AuditRow& row);

/// Within the migration's transaction: the rows of store version 2, in their order, as a chain. A row that
/// does not fit its digest, or comes after missing ones, is taken over and says so in its outcome: nothing is
/// dropped and nothing is whitewashed.
Status ChainOldAudit(Database& database);

}  // namespace railwright
