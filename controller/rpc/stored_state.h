// stored_state: a stored generation, resolved by this build. Pure.
#pragma once

#include "controller/rpc/desired.h"
#include "railwright/catalog.h"

namespace railwright {

/// Every document of `stored`, parsed again: its text and its places are those of the file that it came from,
/// in problems too.
std::variant<std::vector<Document>, std::vector<Problem>> ParseStored(const StoredGeneration& stored);
/// Never fails: what cannot be parsed or resolved (an older catalogue knew a key) becomes
/// FleetState::problem.
std::shared_ptr<const FleetState> ResolveStored(StoredGeneration stored, const CatalogDeclarations& catalog);

/// One problem a line, "file:line:col: message", with its excerpt below.
std::string Text(const std::vector<Problem>& problems);

}  // namespace railwright
