#include "agent/machine/firmware_tool.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "agent/tools/tools.h"

namespace railwright::machine {
namespace {

// Errors are "-E- Failed to …", mostly on standard error, some on standard output.
std::string Said(const ToolResult& result) {
  for (const std::string* text : {&result.err, &result.out}) {
    const auto error = text->find("-E-");
    if (error == std::string::npos) continue;
    return text->substr(error, text->find('\n', error) - error);
  }
  const std::string& text = result.err.empty() ? result.out : result.err;
  return text.substr(0, text.find('\n'));
}

}  // namespace

Result<std::string> InstalledOf(const std::vector<std::string>& programs, std::string_view names) {
  for (const std::string& program : programs)
    if (::access(program.c_str(), X_OK) == 0) return program;
  return Status(Code::kUnimplemented,
                "neither " + std::string(names) + " is installed; install the package mstflint");
}

Result<std::string> OutputOf(const std::vector<std::string>& argv) {
  constexpr std::chrono::seconds kDeadline{20};
  RW_ASSIGN_OR_RETURN(ToolResult result, RunTool(argv, {}, kDeadline));
  if (result.exit_code == 0) return std::move(result.out);
  return Status(Code::kInternal,
                argv.front() + " ended with " + std::to_string(result.exit_code) + ": " + Said(result));
}

std::string PresenceOf(const std::string& root, std::string_view bdf) {
  const std::string device = root + "/sys/bus/pci/devices/" + std::string(bdf);
  struct stat facts {};
  if (::stat(device.c_str(), &facts) != 0) return {};
  std::string presence = std::to_string(facts.st_ino);
  if (::lstat((device + "/driver").c_str(), &facts) == 0) presence += " " + std::to_string(facts.st_ino);
  return presence;
}

}  // namespace railwright::machine
