#include "core/decode/config_file.h"

#include <algorithm>
#include <array>

#include "core/decode/sysctl_names.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

// "*" stands for any characters but "/". Files of ours only: a name with "railwright" in it, or our own
// folder.
constexpr std::array<std::string_view, 5> kKnown{
    "/etc/modprobe.d/*railwright*.conf", "/etc/modules-load.d/*railwright*.conf",
    "/etc/udev/rules.d/*railwright*.rules", "/etc/sysctl.d/*railwright*.conf", "/etc/railwright/files.d/*"};

constexpr std::array<std::string_view, 12> kForbiddenFolders{
    "/etc/ssh/",    "/etc/pam.d/", "/etc/sudoers.d/", "/etc/ld.so.conf.d/",
    "/etc/cron.d/", "/etc/ssl/",   "/etc/security/",  "/root/",
    "/proc/",       "/sys/",       "/dev/",           "/boot/"};
constexpr std::array<std::string_view, 9> kForbiddenFiles{
    "/etc/passwd",  "/etc/shadow",  "/etc/group",         "/etc/gshadow",   "/etc/sudoers",
    "/etc/crontab", "/etc/profile", "/etc/ld.so.preload", "/etc/ld.so.conf"};

Status RefuseLine(int line, std::string_view text, std::string_view why) {
  return Status(Code::kInvalidArgument,
                "line " + std::to_string(line) + ", " + Quoted(text) + ": " + std::string(why));
}

// Lines joined where one ends with "\\", each with the number of its first line. kmod and udev both join
// before they look at words, and neither puts a blank in between; udev drops the blanks that begin the next
// line.
std::vector<std::pair<int, std::string>> JoinedLines(std::string_view text, bool drop_indent) {
  std::vector<std::pair<int, std::string>> joined;
  bool goes_on = false;
  int number = 0;
  for (std::string_view line : Lines(text)) {
    ++number;
    if (goes_on && drop_indent) line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!goes_on) joined.emplace_back(number, std::string());
    goes_on = line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    joined.back().second += line;
  }
  return joined;
}

// modprobe.d(5): "install" and "remove" name a command that modprobe hands to a shell.
Status CheckModprobe(std::string_view text) {
  for (const auto& [number, line] : JoinedLines(text, false)) {
    const auto words = Words(line);
    if (!words.empty() && (words.front() == "install" || words.front() == "remove"))
      return RefuseLine(number, line, "runs a program; allowed: alias, blacklist, options, softdep");
  }
  return Ok();
}

// udev(7): keys that run something. Its reader knows no separators that must stand between keys, and comments
// end differently from version to version, so the words may not stand anywhere.
Status CheckUdev(std::string_view text) {
  for (const bool drop_indent : {false, true}) {
    for (const auto& [number, line] : JoinedLines(text, drop_indent))
      for (const std::string_view word : {"RUN", "PROGRAM", "IMPORT{program"})
        if (line.find(word) != std::string::npos)
          return RefuseLine(number, line,
                            "\"" + std::string(word) + "\" runs a program and may not stand here");
  }
  return Ok();
}

// sysctl.d(5): "key = value", a "-" in front lets it fail. kernel.core_pattern and others name programs.
Status CheckSysctls(std::string_view text) {
  int number = 0;
  for (std::string_view whole : Lines(text)) {
    ++number;
    std::string_view line = Trimmed(whole);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.starts_with('-')) line.remove_prefix(1);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) return RefuseLine(number, whole, "has no \"=\"");
    const auto name = SysctlName::ParsePattern(Trimmed(line.substr(0, equals)));
    if (!name.ok()) return RefuseLine(number, whole, name.status().message());
    if (FindKnownSysctl(*name) == nullptr)
      return RefuseLine(number, whole, "sysctl " + name->Text() + " is not on the list of this build");
  }
  return Ok();
}

}  // namespace

Status CheckConfigPath(std::string_view path) {
  const auto refuse = [&](std::string_view why) {
    return Status(Code::kInvalidArgument, "file path " + Quoted(path) + " " + std::string(why));
  };
  if (path.size() < 2 || path.size() > 200) return refuse("must have 2…200 characters");
  if (path.front() != '/') return refuse("must begin with \"/\"");
  if (path.back() == '/') return refuse("names a folder, not a file");
  if (std::any_of(path.begin(), path.end(), [](char c) {
        return static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) == 0x7f || c == '*';
      }))
    return refuse("holds a blank, a control character or \"*\"");
  if (path.find("//") != std::string_view::npos) return refuse("holds \"//\"");
  for (const std::string_view component : Words(path, "/"))
    if (component == "." || component == "..") return refuse("holds \".\" or \"..\"");
  return Ok();
}

bool IsKnownConfigPath(std::string_view path) {
  return std::any_of(kKnown.begin(), kKnown.end(),
                     [&](std::string_view pattern) { return FitsPattern(pattern, path); });
}

bool IsForbiddenConfigPath(std::string_view path) {
  if (path.starts_with("/etc/railwright/")) return !path.starts_with("/etc/railwright/files.d/");
  return std::any_of(kForbiddenFolders.begin(), kForbiddenFolders.end(),
                     [&](std::string_view folder) { return path.starts_with(folder); }) ||
         std::find(kForbiddenFiles.begin(), kForbiddenFiles.end(), path) != kForbiddenFiles.end();
}

std::string KnownConfigPaths() {
  std::vector<std::string> all(kKnown.begin(), kKnown.end());
  return Joined(all, ", ");
}

Result<std::string> CanonicalConfigText(std::string_view path, std::string_view text) {
  if (text.size() > kConfigTextLimit)
    return Status(Code::kInvalidArgument, "content of " + std::to_string(text.size()) +
                                              " bytes; allowed: at most " + std::to_string(kConfigTextLimit));
  if (text.find('\0') != std::string_view::npos)
    return Status(Code::kInvalidArgument, "content holds a NUL byte, so it is no text file");
  // A CR before the line break is part of the value for all of these programs.
  if (text.find('\r') != std::string_view::npos)
    return Status(Code::kInvalidArgument, "content holds a CR; end its lines with LF alone");
  if (path.starts_with("/etc/modprobe.d/")) RW_RETURN_IF_ERROR(CheckModprobe(text));
  if (path.starts_with("/etc/udev/")) RW_RETURN_IF_ERROR(CheckUdev(text));
  if (path.starts_with("/etc/sysctl.d/")) RW_RETURN_IF_ERROR(CheckSysctls(text));
  std::string canonical(text);
  if (!canonical.empty() && canonical.back() != '\n') canonical += '\n';
  return canonical;
}

}  // namespace railwright
