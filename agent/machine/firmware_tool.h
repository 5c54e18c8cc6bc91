// What the programs that talk to a card's firmware (mstconfig, mstreg) have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/tools/tools.h"
#include "railwright/result.h"

namespace railwright::machine {

/// The first of `programs` that is there. Unimplemented: none is; `names` are told.
Result<std::string> InstalledOf(const std::vector<std::string>& programs, std::string_view names);

/// A program's refusal, with its "-E- …" sentence.
Status Refused(const std::string& program, const ToolResult& result);

/// Changes when the function goes and comes, or its driver is bound anew, as a firmware reset does: sysfs
/// makes new inodes below `root`. "" when there is no such function.
std::string PresenceOf(const std::string& root, std::string_view bdf);

}  // namespace railwright::machine
