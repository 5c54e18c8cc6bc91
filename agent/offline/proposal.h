// What a machine's ports could be, for a person to decide.
#pragma once

#include <string>
#include <vector>

#include "railwright/machine.h"
#include "railwright/result.h"
#include "railwright/state.h"

namespace railwright::offline {

/// A few lines with the --port words for the likely fabric ports (agent/reconcile/survey.h), or "". Only
/// reads.
std::string ProposePorts(const Machine& machine);

std::string HostName();
Result<std::vector<Port>> ParsePorts(const std::vector<std::string>& texts);

}  // namespace railwright::offline
