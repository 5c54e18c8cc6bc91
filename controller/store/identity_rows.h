// identity_rows: tokens and members ⇄ rows, each checked against its digest.
#pragma once

#include <string>

#include "controller/store/identity_store.h"
#include "controller/store/sqlite.h"

namespace railwright {

inline constexpr const char* kTokenColumns =
    "id, secret_digest, kind, name, authority, origin, uses_left, created_us, expires_us, by, digest";
inline constexpr const char* kMemberColumns =
    "kind, name, uuid, key_digest, serial, not_after_us, renewals, authority, standing, reason, by, "
    "changed_us, digest";

/// Columns: kTokenColumns. DataLoss when the digest does not fit.
Result<TokenRecord> ReadToken(const Database& database, const Statement& row);
/// Columns: kMemberColumns. DataLoss when the digest does not fit.
Result<MemberRecord> ReadMember(const Database& database, const Statement& row);

/// Inserts it, or writes over the one of its id. Within the caller's transaction.
Status PutToken(Database& database, const TokenRecord& token);
/// Inserts it, or writes over the one of its kind and name. Within the caller's transaction.
Status PutMember(Database& database, const MemberRecord& member);

}  // namespace railwright
