// rollout_rows: rollouts, their members and the breaker ⇄ rows, each checked against its digest.
#pragma once

#include "controller/store/rows.h"

namespace railwright {

/// The first version of the store that has the tables.
inline constexpr int kRolloutVersion = 5;

std::string EncodeRollout(const RolloutRecord& record);
bool DecodeRollout(std::string_view bytes, RolloutRecord& record);
std::string EncodeMember(const RolloutMember& member);
bool DecodeMember(std::string_view bytes, RolloutMember& member);
std::string EncodeBreaker(const BreakerRecord& breaker);
bool DecodeBreaker(std::string_view bytes, BreakerRecord& breaker);

std::string RolloutDigest(std::uint64_t generation, std::string_view record);
std::string RolloutMemberDigest(std::string_view node, std::uint64_t generation, std::string_view record);
std::string BreakerDigest(std::string_view record);

/// Columns: generation, record, digest.
Result<RolloutRecord> ReadRollout(const Database& database, const Statement& row);
/// Columns: node, generation, record, digest.
Result<RolloutMember> ReadRolloutMember(const Database& database, const Statement& row);
/// Columns: record, digest.
Result<BreakerRecord> ReadBreaker(const Database& database, const Statement& row);

/// Reads every row of the three tables.
Status VerifyRollouts(Database& database);

}  // namespace railwright
