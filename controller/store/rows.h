// rows: stored rows ⇄ domain values, each checked against its digest.
#pragma once

#include "controller/store/record.h"
#include "controller/store/sqlite.h"
#include "controller/store/store.h"
#include "railwright/unix_time.h"

namespace railwright {

// The columns that each reader below expects, in order; the digest is the last.
inline constexpr const char* kGenerationColumns =
    "generation, created_us, author, comment, rolled_back_from, nodes, settings, restores, documents, digest";
inline constexpr const char* kReportColumns =
    "node, generation, state_hash, verdict, settled, report_hash, at_us, stored_change, corrected, "
    "agent_version, "
    "boot_id, findings, digest";

// Each returns DataLoss that names the file, the table and the row when the digest does not fit the row.

/// Without documents; `documents` is how many there must be.
Result<StoredGeneration> ReadGeneration(const Database& database, const Statement& row,
                                        std::size_t& documents);
/// Columns: generation, position, kind, name, file, line, texts.digest, texts.text, digest.
Result<StoredDocument> ReadDocument(const Database& database, const Statement& row, bool with_text);
Result<StoredReport> ReadReport(const Database& database, const Statement& row);
/// Columns: node, sequence, at_us, key, record, digest.
Result<std::pair<std::string, ChangeRecord>> ReadChange(const Database& database, const Statement& row);
/// Columns: position, node, key, by, reason, digest.
Result<Pause> ReadPause(const Database& database, const Statement& row);

/// DataLoss: "FILE: table T, row R: the row does not match its digest".
Status DamagedRow(const Database& database, std::string_view table, std::string_view row);

std::string GenerationDigest(const StoredGeneration& generation);
std::string DocumentDigest(std::uint64_t generation, std::size_t position, const StoredDocument& document,
                           std::string_view text_digest);
std::string ReportDigest(const StoredReport& report, std::string_view findings);
std::string ChangeDigest(std::string_view node, std::uint64_t sequence, std::int64_t at_us,
                         std::string_view key, std::string_view record);
std::string PauseDigest(std::size_t position, const Pause& pause);

/// The documents of one generation, in order. DataLoss when one is missing.
Result<std::vector<StoredDocument>> ReadDocuments(Database& database, std::uint64_t generation,
                                                  std::size_t expected, bool with_text);
/// The first version of the store that has the table.
inline constexpr int kSignedVersion = 4;
/// Reads every row of `statements`.
Status VerifyStatements(Database& database);
/// Reads every row of every table that this database has.
Status VerifyRows(Database& database);

}  // namespace railwright
