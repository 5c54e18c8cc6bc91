// The command line of railwright-agent.
#pragma once

#include <string>
#include <vector>

#include "agent/offline/console.h"

namespace railwright::offline {

/// Does what `words` (without the program's name) say.
ExitCode Main(const std::vector<std::string>& words, const Console& console);

}  // namespace railwright::offline
