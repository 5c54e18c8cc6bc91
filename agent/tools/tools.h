// Tools: programs run by absolute path with an argument vector, never a shell, from a compiled-in allow-list.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

struct ToolResult {
  int exit_code = 0;  ///< or 128 + signal
  std::string out;    ///< at most 64 MiB
  std::string err;    ///< at most 64 KiB
};

/// Runs `argv[0]`, an absolute path of the allow-list (FailedPrecondition otherwise; NotFound when it is not
/// installed), with `input` on its standard input, a minimal environment and no inherited descriptors.
/// DeadlineExceeded kills its process group. A non-zero exit is not an error here: look at exit_code.
Result<ToolResult> RunTool(const std::vector<std::string>& argv, std::string_view input,
                           std::chrono::milliseconds deadline);

/// Asks every tool that runs now to end (SIGTERM to its process group, once), for a process that is about to:
/// a query of a card's firmware may take 20 s. Their RunTool returns when they have.
void EndRunningTools();

/// Programs spawned by this process so far.
std::uint64_t ProgramsSpawned();
/// Whether `pid` is a program that RunTool started (running or ended within the last minute).
bool IsOurTool(int pid);

}  // namespace railwright
