// The programs that may be run: private to agent/tools; tests widen it here and nowhere else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace railwright {

/// Whether RunTool may run this absolute path: it stands in the compiled-in list, or a test added it.
bool MayRun(std::string_view program);
/// The compiled-in list joined by ", ", for messages.
std::string AllowedPrograms();

/// For tests: also allows `program`, in this process only.
void AllowInTests(std::string_view program);
/// For tests: bytes of standard output that are taken before the tool is killed. Returns the bound before.
std::size_t LimitOutputInTests(std::size_t bytes);
/// What a tool may print: 64 MiB, unless a test has changed it.
std::size_t OutputLimit();

}  // namespace railwright
