#include "controller/store/rollout_rows.h"

namespace railwright {
namespace {

constexpr std::uint64_t kFormat = 1;

template <class Enum>
bool ReadEnum(RecordReader& in, Enum last, Enum& value) {
  const std::uint64_t number = in.Number();
  if (number > static_cast<std::uint64_t>(last)) return false;
  value = static_cast<Enum>(number);
  return true;
}

bool ReadTime(RecordReader& in, std::chrono::system_clock::time_point& at) {
  const auto time = FromUnixMicros(in.Signed());
  if (!time) return false;
  at = *time;
  return true;
}

std::uint32_t Small(RecordReader& in) { return static_cast<std::uint32_t>(in.Number()); }

}  // namespace

std::string EncodeRollout(const RolloutRecord& r) {
  RecordWriter out;
  out.Number(kFormat).Number(r.generation.value).Number(r.base.value).Text(r.author);
  out.Signed(ToUnixMicros(r.created)).Text(r.policy).Text(r.policy_name);
  out.Number(static_cast<std::uint64_t>(r.phase)).Text(r.reason).Text(r.by);
  out.Number(r.wave).Number(r.finished ? 1 : 0).Number(r.approvals_needed).Number(r.approved ? 1 : 0);
  out.Number(r.policy_changed ? 1 : 0);
  out.Number(r.members).Number(r.failed).Number(r.approvals.size());
  for (const RolloutApproval& a : r.approvals)
    out.Text(a.who).Text(a.from).Text(a.reason).Signed(ToUnixMicros(a.at));
  return out.bytes();
}

bool DecodeRollout(std::string_view bytes, RolloutRecord& r) {
  RecordReader in(bytes);
  if (in.Number() != kFormat) return false;
  r.generation.value = in.Number();
  r.base.value = in.Number();
  r.author = in.Text();
  if (!ReadTime(in, r.created)) return false;
  r.policy = in.Text();
  r.policy_name = in.Text();
  if (!ReadEnum(in, RolloutPhase::kSuperseded, r.phase)) return false;
  r.reason = in.Text();
  r.by = in.Text();
  r.wave = Small(in);
  r.finished = in.Number() != 0;
  r.approvals_needed = Small(in);
  r.approved = in.Number() != 0;
  r.policy_changed = in.Number() != 0;
  r.members = Small(in);
  r.failed = Small(in);
  r.approvals.clear();
  r.approvals.resize(in.Count());
  for (RolloutApproval& a : r.approvals) {
    a.who = in.Text();
    a.from = in.Text();
    a.reason = in.Text();
    if (!ReadTime(in, a.at)) return false;
  }
  return in.Done();
}

std::string EncodeMember(const RolloutMember& m) {
  RecordWriter out;
  out.Number(kFormat).Text(m.node).Number(m.wave).Number(static_cast<std::uint64_t>(m.phase));
  out.Number(m.on_the_way ? 1 : 0).Text(m.why).Number(m.was_known ? 1 : 0).Signed(ToUnixMicros(m.since));
  out.Number(m.ailed.size());
  for (const KeyTarget& what : m.ailed) out.Text(what.key).Text(what.target);
  return out.bytes();
}

bool DecodeMember(std::string_view bytes, RolloutMember& m) {
  RecordReader in(bytes);
  if (in.Number() != kFormat) return false;
  m.node = in.Text();
  m.wave = Small(in);
  if (!ReadEnum(in, MemberPhase::kAccepted, m.phase)) return false;
  m.on_the_way = in.Number() != 0;
  m.why = in.Text();
  m.was_known = in.Number() != 0;
  if (!ReadTime(in, m.since)) return false;
  m.ailed.clear();
  m.ailed.resize(in.Count());
  for (KeyTarget& what : m.ailed) {
    what.key = in.Text();
    what.target = in.Text();
  }
  return in.Done();
}

std::string EncodeBreaker(const BreakerRecord& b) {
  RecordWriter out;
  out.Number(kFormat).Number(b.tripped ? 1 : 0).Text(b.reason).Signed(ToUnixMicros(b.since));
  return out.bytes();
}

bool DecodeBreaker(std::string_view bytes, BreakerRecord& b) {
  RecordReader in(bytes);
  if (in.Number() != kFormat) return false;
  b.tripped = in.Number() != 0;
  b.reason = in.Text();
  return ReadTime(in, b.since) && in.Done();
}

std::string RolloutDigest(std::uint64_t generation, std::string_view record) {
  RecordWriter all;
  all.Number(generation).Text(record);
  return RowDigest("rollouts", all.bytes());
}

std::string RolloutMemberDigest(std::string_view node, std::uint64_t generation, std::string_view record) {
  RecordWriter all;
  all.Text(node).Number(generation).Text(record);
  return RowDigest("rollout_members", all.bytes());
}

std::string BreakerDigest(std::string_view record) { return RowDigest("breaker", record); }

Result<RolloutRecord> ReadRollout(const Database& database, const Statement& row) {
  RolloutRecord record;
  const std::string bytes = row.Blob(1);
  const auto generation = static_cast<std::uint64_t>(row.Int(0));
  if (row.Blob(2) != RolloutDigest(generation, bytes) || !DecodeRollout(bytes, record) ||
      record.generation.value != generation)
    return DamagedRow(database, "rollouts", std::to_string(row.Int(0)));
  return record;
}

Result<RolloutMember> ReadRolloutMember(const Database& database, const Statement& row) {
  RolloutMember member;
  const std::string node = row.Text(0), bytes = row.Blob(2);
  if (row.Blob(3) != RolloutMemberDigest(node, static_cast<std::uint64_t>(row.Int(1)), bytes) ||
      !DecodeMember(bytes, member) || member.node != node)
    return DamagedRow(database, "rollout_members", node);
  return member;
}

Result<BreakerRecord> ReadBreaker(const Database& database, const Statement& row) {
  BreakerRecord breaker;
  const std::string bytes = row.Blob(0);
  if (row.Blob(1) != BreakerDigest(bytes) || !DecodeBreaker(bytes, breaker))
    return DamagedRow(database, "breaker", "1");
  return breaker;
}

Status VerifyRollouts(Database& database) {
  const auto all = [&](const char* sql, auto read) -> Status {
    RW_ASSIGN_OR_RETURN(Statement select, database.Prepare(sql));
    while (true) {
      RW_ASSIGN_OR_RETURN(const bool row, select.Step());
      if (!row) return Ok();
      RW_RETURN_IF_ERROR(read(database, select).status());
    }
  };
  RW_RETURN_IF_ERROR(all("SELECT generation, record, digest FROM rollouts", ReadRollout));
  RW_RETURN_IF_ERROR(all("SELECT node, generation, record, digest FROM rollout_members", ReadRolloutMember));
  return all("SELECT record, digest FROM breaker", ReadBreaker);
}

}  // namespace railwright
