// Tokens and members: who may join, and who has.
#include "controller/store/identity_rows.h"
#include "controller/store/sqlite_store.h"

namespace railwright {
namespace {

std::string What(MemberKind kind, const std::string& name) {
  return (kind == MemberKind::kNode ? "node \"" : "operator \"") + name + "\"";
}

Status Unknown(MemberKind kind, const std::string& name) {
  return Status(Code::kNotFound, What(kind, name) + " has not joined");
}

Result<std::optional<TokenRecord>> FindToken(Database& database, const std::string& id) {
  RW_ASSIGN_OR_RETURN(
      Statement select,
      database.Prepare("SELECT id, secret_digest, kind, name, authority, origin, uses_left, created_us, "
                       "expires_us, by, digest FROM tokens WHERE id = ?"));
  RW_ASSIGN_OR_RETURN(const bool found, select.BindText(id).Step());
  if (!found) return std::optional<TokenRecord>();
  RW_ASSIGN_OR_RETURN(TokenRecord token, ReadToken(database, select));
  return std::optional<TokenRecord>(std::move(token));
}

Result<std::optional<MemberRecord>> FindMember(Database& database, MemberKind kind, const std::string& name) {
  RW_ASSIGN_OR_RETURN(
      Statement select,
      database.Prepare("SELECT kind, name, uuid, key_digest, serial, not_after_us, renewals, authority, "
                       "standing, reason, by, changed_us, digest FROM members WHERE kind = ? AND name = ?"));
  RW_ASSIGN_OR_RETURN(const bool found, select.Bind(static_cast<std::int64_t>(kind)).BindText(name).Step());
  if (!found) return std::optional<MemberRecord>();
  RW_ASSIGN_OR_RETURN(MemberRecord member, ReadMember(database, select));
  return std::optional<MemberRecord>(std::move(member));
}

Status DeleteToken(Database& database, const std::string& id) {
  RW_ASSIGN_OR_RETURN(Statement drop, database.Prepare("DELETE FROM tokens WHERE id = ?"));
  return drop.BindText(id).Run();
}

}  // namespace

Status SqliteStore::AddToken(const TokenRecord& token, const AuditRow& audit) {
  std::lock_guard lock(writing_);
  RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  RW_ASSIGN_OR_RETURN(const auto there, FindToken(*writer_, token.token.id));
  if (there) return Status(Code::kAlreadyExists, "there is a token " + token.token.id + " already");
  RW_RETURN_IF_ERROR(PutToken(*writer_, token));
  RW_RETURN_IF_ERROR(AppendAudit(*writer_, audit));
  return transaction.Commit();
}

Status SqliteStore::DropToken(const std::string& id, const AuditRow& audit) {
  std::lock_guard lock(writing_);
  RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  RW_RETURN_IF_ERROR(DeleteToken(*writer_, id));
  if (writer_->Changed() == 0)
    return Status(Code::kNotFound, "there is no token " + id + ": it was used up, dropped, or never made");
  RW_RETURN_IF_ERROR(AppendAudit(*writer_, audit));
  return transaction.Commit();
}

Result<std::vector<TokenRecord>> SqliteStore::Tokens() const {
  RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
  RW_ASSIGN_OR_RETURN(
      Statement select,
      reader->Prepare("SELECT id, secret_digest, kind, name, authority, origin, uses_left, created_us, "
                      "expires_us, by, digest FROM tokens ORDER BY position"));
  std::vector<TokenRecord> tokens;
  while (true) {
    RW_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return tokens;
    RW_ASSIGN_OR_RETURN(TokenRecord token, ReadToken(*reader, select));
    tokens.push_back(std::move(token));
  }
}

Status SqliteStore::Join(const std::string& token_id, const MemberRecord& member, const AuditRow& audit) {
  std::lock_guard lock(writing_);
  RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  RW_ASSIGN_OR_RETURN(auto token, FindToken(*writer_, token_id));
  if (!token || token->uses_left == 0)
    return Status(Code::kNotFound, "there is no token " + token_id + ", or it was used up");
  if (member.changed >= token->expires)
    return Status(Code::kFailedPrecondition, "the token " + token_id + " has expired");
  RW_ASSIGN_OR_RETURN(const auto before, FindMember(*writer_, member.kind, member.name));
  if (before && before->standing == Standing::kBanned)
    return Status(Code::kPermissionDenied, What(member.kind, member.name) + " is banned");
  if (!member.uuid.empty()) {
    RW_ASSIGN_OR_RETURN(
        Statement select,
        writer_->Prepare("SELECT name FROM members WHERE uuid = ? AND NOT (kind = ? AND name = ?)"));
    RW_ASSIGN_OR_RETURN(const bool taken, select.BindText(member.uuid)
                                              .Bind(static_cast<std::int64_t>(member.kind))
                                              .BindText(member.name)
                                              .Step());
    if (taken)
      return Status(Code::kAlreadyExists,
                    "the UUID " + member.uuid + " is that of \"" + select.Text(0) + "\"");
  }
  if (--token->uses_left == 0)
    RW_RETURN_IF_ERROR(DeleteToken(*writer_, token_id));
  else
    RW_RETURN_IF_ERROR(PutToken(*writer_, *token));
  RW_RETURN_IF_ERROR(PutMember(*writer_, member));
  RW_RETURN_IF_ERROR(AppendAudit(*writer_, audit));
  return transaction.Commit();
}

Status SqliteStore::Renew(MemberKind kind, const std::string& name, std::uint64_t renewals,
                          const std::string& serial, std::chrono::system_clock::time_point not_after,
                          const AuditRow& audit) {
  std::lock_guard lock(writing_);
  RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  RW_ASSIGN_OR_RETURN(auto member, FindMember(*writer_, kind, name));
  if (!member) return Unknown(kind, name);
  if (member->standing != Standing::kActive)
    return Status(Code::kAborted, What(kind, name) + " is " + std::string(Name(member->standing)));
  if (member->renewals != renewals)
    return Status(Code::kAborted, What(kind, name) + " has had " + std::to_string(member->renewals) +
                                      " certificates, not " + std::to_string(renewals));
  ++member->renewals;
  member->serial = serial;
  member->not_after = not_after;
  RW_RETURN_IF_ERROR(PutMember(*writer_, *member));
  RW_RETURN_IF_ERROR(AppendAudit(*writer_, audit));
  return transaction.Commit();
}

Status SqliteStore::SetStanding(MemberKind kind, const std::string& name, Standing standing,
                                const std::string& reason, const AuditRow& audit) {
  std::lock_guard lock(writing_);
  RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  RW_ASSIGN_OR_RETURN(auto member, FindMember(*writer_, kind, name));
  if (!member) return Unknown(kind, name);
  member->standing = standing;
  member->reason = reason;
  member->by = audit.who;
  member->changed = audit.at;
  RW_RETURN_IF_ERROR(PutMember(*writer_, *member));
  RW_RETURN_IF_ERROR(AppendAudit(*writer_, audit));
  return transaction.Commit();
}

Status SqliteStore::DropMember(MemberKind kind, const std::string& name, const AuditRow& audit) {
  std::lock_guard lock(writing_);
  RW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*writer_));
  RW_ASSIGN_OR_RETURN(const auto member, FindMember(*writer_, kind, name));
  if (!member) return Unknown(kind, name);
  if (member->standing == Standing::kBanned)
    return Status(Code::kFailedPrecondition,
                  What(kind, name) + " is banned: dropped, it could join again; lift the ban first");
  {
    RW_ASSIGN_OR_RETURN(Statement drop, writer_->Prepare("DELETE FROM members WHERE kind = ? AND name = ?"));
    RW_RETURN_IF_ERROR(drop.Bind(static_cast<std::int64_t>(kind)).BindText(name).Run());
  }
  RW_RETURN_IF_ERROR(AppendAudit(*writer_, audit));
  return transaction.Commit();
}

Result<std::vector<MemberRecord>> SqliteStore::Members() const {
  RW_ASSIGN_OR_RETURN(const Reader reader, Lend());
  RW_ASSIGN_OR_RETURN(
      Statement select,
      reader->Prepare("SELECT kind, name, uuid, key_digest, serial, not_after_us, renewals, authority, "
                      "standing, reason, by, changed_us, digest FROM members ORDER BY kind, name"));
  std::vector<MemberRecord> members;
  while (true) {
    RW_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return members;
    RW_ASSIGN_OR_RETURN(MemberRecord member, ReadMember(*reader, select));
    members.push_back(std::move(member));
  }
}

std::string_view Name(Standing standing) {
  switch (standing) {
    case Standing::kActive: return "active";
    case Standing::kHeld: return "held";
    case Standing::kEvicted: return "evicted";
    case Standing::kBanned: return "banned";
  }
  return "unknown";
}

}  // namespace railwright
