// A saved plan: what `plan --out` writes and `apply --plan` applies exactly, or not at all.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "railwright/result.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

struct PlanFile {
  std::string plan_id, plan_hash;
  std::uint64_t base_generation = 0;
  std::string created;     ///< RFC 3339
  std::string controller;  ///< the address it was made with; for people
  std::string summary;     ///< the verdict sentence, shown again before it is applied
  bool prune = false, restore = false, allow_empty = false;
  std::chrono::milliseconds try_for{0};
  std::vector<v1::SourceFile> sources;
};

/// {"kind":"railwright/plan/v1", …}, by a file beside it and a rename, readable by its owner only: documents
/// may hold what others need not see.
Status WritePlanFile(const std::string& path, const PlanFile& plan);
/// InvalidArgument says what is wrong with the file: not JSON, another kind, a newer version, a field
/// missing.
Result<PlanFile> ReadPlanFile(const std::string& path);

}  // namespace railwright::cli
