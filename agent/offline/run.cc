#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "agent/offline/commands.h"

namespace railwright::offline {

ExitCode BecomeRun(const std::vector<std::string>& words, const Console& console) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return console.Fail(FromErrno(error.value(), "/proc/self/exe"));
  const std::filesystem::path folder = self.parent_path();
  const std::array<std::filesystem::path, 2> places{
      folder / "railwright-agent-run",
      folder.parent_path() / "libexec" / "railwright" / "railwright-agent-run"};
  std::vector<char*> argv;
  static std::string name = "railwright-agent";
  argv.push_back(name.data());
  std::vector<std::string> copies(words.begin() + 1, words.end());  // without "run"
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  for (const auto& place : places) {
    ::execv(place.c_str(), argv.data());
    if (errno != ENOENT) return console.Fail(FromErrno(errno, place.string()));
  }
  return console.Fail(
      Status(Code::kNotFound, "the half that talks to the controller is not installed: neither " +
                                  places[0].string() + " nor " + places[1].string() +
                                  " is there; install the railwright-agent package whole"));
}

}  // namespace railwright::offline
