// Members and tokens as JSON and tables. Pure.
#pragma once

#include <chrono>
#include <string>

#include "controller/cli/context.h"
#include "core/text/table.h"

namespace railwright::cli {

using Wall = std::chrono::system_clock::time_point;

Json ToJson(const v1::MemberInfo& member);
Json MembersJson(const v1::MembersResponse& answer);
std::string MembersTable(const v1::MembersResponse& answer, const Terminal& terminal, Wall now);
Json TokensJson(const v1::TokensResponse& answer);
std::string TokensTable(const v1::TokensResponse& answer, const Terminal& terminal, Wall now);
/// "in 23 h", "3 min ago".
std::string WhenText(std::int64_t unix_us, Wall now);

}  // namespace railwright::cli
