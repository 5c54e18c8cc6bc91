#include "controller/store/rows.h"

#include <algorithm>
#include <cstdint>

#include "controller/store/audit_rows.h"
#include "controller/store/identity_rows.h"
#include "controller/store/rollout_rows.h"

namespace railwright {
namespace {

std::string NumberText(std::int64_t value) { return std::to_string(value); }

}  // namespace

Status DamagedRow(const Database& database, std::string_view table, std::string_view row) {
  return Status(Code::kDataLoss, database.path() + ": table " + std::string(table) + ", row " +
                                     std::string(row) + ": the row does not match its digest");
}

std::string GenerationDigest(const StoredGeneration& g) {
  RecordWriter record;
  record.Number(g.generation.value).Signed(ToUnixMicros(g.created)).Text(g.author).Text(g.comment);
  record.Number(g.rolled_back_from.value).Number(g.nodes).Number(g.settings);
  record.Text(EncodeRestores(g.restores, static_cast<std::uint64_t>(g.try_for.count())))
      .Number(g.documents.size());
  return RowDigest("generations", record.bytes());
}

Result<StoredGeneration> ReadGeneration(const Database& database, const Statement& row,
                                        std::size_t& documents) {
  StoredGeneration g;
  g.generation.value = static_cast<std::uint64_t>(row.Int(0));
  g.created = NearestToUnixMicros(row.Int(1));
  g.author = row.Text(2);
  g.comment = row.Text(3);
  g.rolled_back_from.value = static_cast<std::uint64_t>(row.Int(4));
  g.nodes = static_cast<std::uint64_t>(row.Int(5));
  g.settings = static_cast<std::uint64_t>(row.Int(6));
  const std::string restores = row.Blob(7);
  std::uint64_t try_ms = 0;
  documents = static_cast<std::size_t>(row.Int(8));
  RecordWriter record;
  record.Number(g.generation.value).Signed(row.Int(1)).Text(g.author).Text(g.comment);
  record.Number(g.rolled_back_from.value).Number(g.nodes).Number(g.settings).Text(restores).Number(documents);
  if (row.Blob(9) != RowDigest("generations", record.bytes()) ||
      !DecodeRestores(restores, g.restores, &try_ms))
    return DamagedRow(database, "generations", NumberText(row.Int(0)));
  g.try_for = std::chrono::milliseconds(static_cast<std::int64_t>(try_ms));
  return g;
}

std::string DocumentDigest(std::uint64_t generation, std::size_t position, const StoredDocument& document,
                           std::string_view text_digest) {
  RecordWriter record;
  record.Number(generation).Number(position).Text(document.kind).Text(document.name).Text(document.file);
  record.Signed(document.line).Text(text_digest);
  return RowDigest("documents", record.bytes());
}

Result<StoredDocument> ReadDocument(const Database& database, const Statement& row, bool with_text) {
  StoredDocument d;
  d.kind = row.Text(2);
  d.name = row.Text(3);
  d.file = row.Text(4);
  d.line = static_cast<int>(row.Int(5));
  const std::string text_digest = row.Blob(6);
  const std::string digest = DocumentDigest(static_cast<std::uint64_t>(row.Int(0)),
                                            static_cast<std::size_t>(row.Int(1)), d, text_digest);
  const std::string name = NumberText(row.Int(0)) + "/" + NumberText(row.Int(1));
  if (row.Blob(8) != digest) return DamagedRow(database, "documents", name);
  if (with_text) {
    d.text = row.Text(7);
    if (TextDigest(d.text) != text_digest)
      return DamagedRow(database, "texts", name + " " + d.kind + "/" + d.name);
  }
  return d;
}

std::string ReportDigest(const StoredReport& r, std::string_view findings) {
  RecordWriter record;
  record.Text(r.report.node).Number(r.report.generation.value).Text(r.report.state_hash);
  record.Number(static_cast<std::uint64_t>(r.report.verdict)).Number(r.report.settled ? 1 : 0);
  record.Text(r.report_hash).Signed(ToUnixMicros(r.at)).Number(r.stored_change).Number(r.corrected);
  record.Text(r.agent_version).Text(r.boot_id).Text(findings);
  return RowDigest("reports", record.bytes());
}

Result<StoredReport> ReadReport(const Database& database, const Statement& row) {
  StoredReport r;
  r.report.node = row.Text(0);
  r.report.generation.value = static_cast<std::uint64_t>(row.Int(1));
  r.report.state_hash = row.Text(2);
  r.report.verdict = static_cast<Verdict>(row.Int(3) & 0xff);
  r.report.settled = row.Int(4) != 0;
  r.report_hash = row.Text(5);
  r.at = NearestToUnixMicros(row.Int(6));
  r.stored_change = static_cast<std::uint64_t>(row.Int(7));
  r.corrected = static_cast<std::uint64_t>(row.Int(8));
  r.agent_version = row.Text(9);
  r.boot_id = row.Text(10);
  const std::string findings = row.Blob(11);
  if (row.Blob(12) != ReportDigest(r, findings) || !DecodeFindings(findings, r.report.findings))
    return DamagedRow(database, "reports", r.report.node);
  return r;
}

std::string ChangeDigest(std::string_view node, std::uint64_t sequence, std::int64_t at_us,
                         std::string_view key, std::string_view record) {
  RecordWriter all;
  all.Text(node).Number(sequence).Signed(at_us).Text(key).Text(record);
  return RowDigest("changes", all.bytes());
}

Result<std::pair<std::string, ChangeRecord>> ReadChange(const Database& database, const Statement& row) {
  std::pair<std::string, ChangeRecord> change{row.Text(0), {}};
  const std::string record = row.Blob(4);
  const auto sequence = static_cast<std::uint64_t>(row.Int(1));
  if (row.Blob(5) != ChangeDigest(change.first, sequence, row.Int(2), row.Text(3), record) ||
      !DecodeChange(record, change.second))
    return DamagedRow(database, "changes", change.first + "/" + NumberText(row.Int(1)));
  return change;
}

std::string PauseDigest(std::size_t position, const Pause& pause) {
  RecordWriter record;
  record.Number(position).Text(pause.node).Text(pause.key).Text(pause.by).Text(pause.reason);
  return RowDigest("pauses", record.bytes());
}

Result<Pause> ReadPause(const Database& database, const Statement& row) {
  Pause pause{row.Text(1), row.Text(2), row.Text(3), row.Text(4)};
  if (row.Blob(5) != PauseDigest(static_cast<std::size_t>(row.Int(0)), pause))
    return DamagedRow(database, "pauses", NumberText(row.Int(0)));
  return pause;
}

Result<std::vector<StoredDocument>> ReadDocuments(Database& database, std::uint64_t generation,
                                                  std::size_t expected, bool with_text) {
  RW_ASSIGN_OR_RETURN(
      Statement select,
      database.Prepare("SELECT d.generation, d.position, d.kind, d.name, d.file, d.line, t.digest, "
                       "t.text, d.digest FROM documents d JOIN texts t ON t.id = d.text_id "
                       "WHERE d.generation = ? ORDER BY d.position"));
  select.Bind(static_cast<std::int64_t>(generation));
  std::vector<StoredDocument> documents;
  while (true) {
    RW_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) break;
    RW_ASSIGN_OR_RETURN(StoredDocument document, ReadDocument(database, select, with_text));
    documents.push_back(std::move(document));
  }
  if (documents.size() != expected)
    return Status(Code::kDataLoss, database.path() + ": table documents, generation " +
                                       std::to_string(generation) + ": " + std::to_string(documents.size()) +
                                       " rows where " + std::to_string(expected) + " were written");
  return documents;
}

namespace {

template <class Read>
Status ReadAll(Database& database, const char* sql, Read read) {
  RW_ASSIGN_OR_RETURN(Statement select, database.Prepare(sql));
  while (true) {
    RW_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return Ok();
    const auto value = read(select);
    if (!value.ok()) return value.status();
  }
}

}  // namespace

Status VerifyRows(Database& database) {
  std::vector<std::pair<std::uint64_t, std::size_t>> generations;
  RW_RETURN_IF_ERROR(
      ReadAll(database,
              "SELECT generation, created_us, author, comment, rolled_back_from, nodes, settings, "
              "restores, documents, digest FROM generations",
              [&](const Statement& row) {
                std::size_t documents = 0;
                auto generation = ReadGeneration(database, row, documents);
                if (generation.ok()) generations.emplace_back(generation->generation.value, documents);
                return generation;
              }));
  for (const auto& [generation, documents] : generations) {
    const auto read = ReadDocuments(database, generation, documents, true);
    if (!read.ok()) return read.status();
  }
  RW_RETURN_IF_ERROR(
      ReadAll(database,
              "SELECT node, generation, state_hash, verdict, settled, report_hash, at_us, "
              "stored_change, corrected, agent_version, boot_id, findings, digest FROM reports",
              [&](const Statement& row) { return ReadReport(database, row); }));
  RW_RETURN_IF_ERROR(ReadAll(database, "SELECT node, sequence, at_us, key, record, digest FROM changes",
                             [&](const Statement& row) { return ReadChange(database, row); }));
  RW_RETURN_IF_ERROR(ReadAll(database, "SELECT position, node, key, by, reason, digest FROM pauses",
                             [&](const Statement& row) { return ReadPause(database, row); }));
  // A backup keeps the version that it was made with.
  RW_ASSIGN_OR_RETURN(const std::string version, database.Value("PRAGMA user_version"));
  const int at = std::atoi(version.c_str());
  if (at < 2) return Ok();
  if (at < kChainedVersion)
    return ReadAll(database, "SELECT id, at_us, who, action, subject, detail, digest FROM audit",
                   [&](const Statement& row) { return ReadUnchainedAudit(database, row); });
  RW_RETURN_IF_ERROR(ReadAll(database, (std::string("SELECT ") + kAuditColumns + " FROM audit").c_str(),
                             [&](const Statement& row) { return ReadAudit(database, row); }));
  RW_RETURN_IF_ERROR(ReadAll(database, (std::string("SELECT ") + kTokenColumns + " FROM tokens").c_str(),
                             [&](const Statement& row) { return ReadToken(database, row); }));
  RW_RETURN_IF_ERROR(ReadAll(database, (std::string("SELECT ") + kMemberColumns + " FROM members").c_str(),
                             [&](const Statement& row) { return ReadMember(database, row); }));
  if (at >= kSignedVersion) RW_RETURN_IF_ERROR(VerifyStatements(database));
  if (at >= kRolloutVersion) RW_RETURN_IF_ERROR(VerifyRollouts(database));
  return ReadAuditHead(database).status();
}

}  // namespace railwright
