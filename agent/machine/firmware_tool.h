// What the programs that talk to a card's firmware (mstconfig, mstreg) have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright::machine {

/// The first of `programs` that is there. Unimplemented: none is; `names` are told.
Result<std::string> InstalledOf(const std::vector<std::string>& programs, std::string_view names);

/// What `argv` prints. Internal with the program's own "-E- …" sentence when it ends otherwise than with 0;
/// the errors of RunTool. A query takes one to two seconds of a healthy card; one whose firmware hangs does
/// not answer at all, and is given up after twenty.
Result<std::string> OutputOf(const std::vector<std::string>& argv);

/// Changes when the function goes and comes, or its driver is bound anew, as a firmware reset does: sysfs
/// makes new inodes below `root`. "" when there is no such function.
std::string PresenceOf(const std::string& root, std::string_view bdf);

}  // namespace railwright::machine
