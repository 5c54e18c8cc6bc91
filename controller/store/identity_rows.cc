#include "controller/store/identity_rows.h"

#include "controller/store/record.h"
#include "controller/store/rows.h"
#include "railwright/unix_time.h"

namespace railwright {
namespace {

std::int64_t Signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

std::string AuthorityText(const std::optional<identity::Authority>& authority) {
  return authority ? authority->Text() : "";
}

/// False: a text that no Authority has.
bool ReadAuthority(const std::string& text, std::optional<identity::Authority>& authority) {
  if (text.empty()) return true;
  auto parsed = identity::Authority::Parse(text);
  if (!parsed.ok()) return false;
  authority = std::move(*parsed);
  return true;
}

bool ReadDigest(const std::string& bytes, identity::Digest& digest) {
  if (bytes.size() != digest.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) digest[i] = static_cast<std::uint8_t>(bytes[i]);
  return true;
}

std::string TokenDigest(const TokenRecord& t, std::int64_t created_us, std::int64_t expires_us,
                        std::string_view authority) {
  RecordWriter record;
  record.Text(t.token.id).Text(identity::Bytes(t.token.secret_digest));
  record.Number(static_cast<std::uint64_t>(t.kind)).Text(t.name).Text(authority).Text(t.from);
  record.Number(t.uses_left).Signed(created_us).Signed(expires_us).Text(t.by);
  return RowDigest("tokens", record.bytes());
}

std::string MemberDigest(const MemberRecord& m, std::int64_t not_after_us, std::int64_t changed_us,
                         std::string_view authority) {
  RecordWriter record;
  record.Number(static_cast<std::uint64_t>(m.kind)).Text(m.name).Text(m.uuid);
  record.Text(identity::Bytes(m.key.digest())).Text(m.serial).Signed(not_after_us).Number(m.renewals);
  record.Text(authority).Number(static_cast<std::uint64_t>(m.standing)).Text(m.reason).Text(m.by);
  record.Signed(changed_us);
  return RowDigest("members", record.bytes());
}

bool InRange(std::int64_t value, std::int64_t last) { return value >= 0 && value <= last; }

}  // namespace

Result<TokenRecord> ReadToken(const Database& database, const Statement& row) {
  TokenRecord t;
  t.token.id = row.Text(0);
  const bool secret = ReadDigest(row.Blob(1), t.token.secret_digest);
  const bool numbers = InRange(row.Int(2), static_cast<std::int64_t>(MemberKind::kOperator)) &&
                       InRange(row.Int(6), UINT32_MAX);
  t.kind = static_cast<MemberKind>(row.Int(2) & 0xff);
  t.name = row.Text(3);
  const std::string authority = row.Text(4);
  t.from = row.Text(5);
  t.uses_left = static_cast<std::uint32_t>(row.Int(6));
  t.created = NearestToUnixMicros(row.Int(7));
  t.expires = NearestToUnixMicros(row.Int(8));
  t.by = row.Text(9);
  if (!secret || !numbers || row.Blob(10) != TokenDigest(t, row.Int(7), row.Int(8), authority) ||
      !ReadAuthority(authority, t.authority))
    return DamagedRow(database, "tokens", t.token.id);
  return t;
}

Result<MemberRecord> ReadMember(const Database& database, const Statement& row) {
  MemberRecord m;
  const bool numbers = InRange(row.Int(0), static_cast<std::int64_t>(MemberKind::kOperator)) &&
                       InRange(row.Int(8), static_cast<std::int64_t>(Standing::kBanned));
  m.kind = static_cast<MemberKind>(row.Int(0) & 0xff);
  m.name = row.Text(1);
  m.uuid = row.Text(2);
  identity::Digest key{};
  const bool pinned = ReadDigest(row.Blob(3), key);
  m.key = identity::Pin(key);
  m.serial = row.Text(4);
  m.not_after = NearestToUnixMicros(row.Int(5));
  m.renewals = static_cast<std::uint64_t>(row.Int(6));
  const std::string authority = row.Text(7);
  m.standing = static_cast<Standing>(row.Int(8) & 0xff);
  m.reason = row.Text(9);
  m.by = row.Text(10);
  m.changed = NearestToUnixMicros(row.Int(11));
  if (!numbers || !pinned || row.Blob(12) != MemberDigest(m, row.Int(5), row.Int(11), authority) ||
      !ReadAuthority(authority, m.authority))
    return DamagedRow(database, "members", m.name);
  return m;
}

Status PutToken(Database& database, const TokenRecord& t) {
  const std::string authority = AuthorityText(t.authority);
  const std::int64_t created = ToUnixMicros(t.created), expires = ToUnixMicros(t.expires);
  RW_ASSIGN_OR_RETURN(
      Statement put,
      database.Prepare(
          "INSERT INTO tokens (id, secret_digest, kind, name, authority, origin, uses_left, created_us, "
          "expires_us, by, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
          "secret_digest = excluded.secret_digest, kind = excluded.kind, name = excluded.name, "
          "authority = excluded.authority, origin = excluded.origin, uses_left = excluded.uses_left, "
          "created_us = excluded.created_us, expires_us = excluded.expires_us, by = excluded.by, "
          "digest = excluded.digest"));
  put.BindText(t.token.id).BindBlob(identity::Bytes(t.token.secret_digest));
  put.Bind(static_cast<std::int64_t>(t.kind)).BindText(t.name).BindText(authority).BindText(t.from);
  put.Bind(t.uses_left).Bind(created).Bind(expires).BindText(t.by);
  return put.BindBlob(TokenDigest(t, created, expires, authority)).Run();
}

Status PutMember(Database& database, const MemberRecord& m) {
  const std::string authority = AuthorityText(m.authority);
  const std::int64_t not_after = ToUnixMicros(m.not_after), changed = ToUnixMicros(m.changed);
  RW_ASSIGN_OR_RETURN(
      Statement put,
      database.Prepare(
          "INSERT INTO members (kind, name, uuid, key_digest, serial, not_after_us, renewals, authority, "
          "standing, reason, by, changed_us, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
          "ON CONFLICT (kind, name) DO UPDATE SET uuid = excluded.uuid, key_digest = excluded.key_digest, "
          "serial = excluded.serial, not_after_us = excluded.not_after_us, renewals = excluded.renewals, "
          "authority = excluded.authority, standing = excluded.standing, reason = excluded.reason, "
          "by = excluded.by, changed_us = excluded.changed_us, digest = excluded.digest"));
  put.Bind(static_cast<std::int64_t>(m.kind)).BindText(m.name).BindText(m.uuid);
  put.BindBlob(identity::Bytes(m.key.digest())).BindText(m.serial).Bind(not_after).Bind(Signed(m.renewals));
  put.BindText(authority).Bind(static_cast<std::int64_t>(m.standing)).BindText(m.reason).BindText(m.by);
  return put.Bind(changed).BindBlob(MemberDigest(m, not_after, changed, authority)).Run();
}

}  // namespace railwright
