#include "agent/machine/paths.h"

#include <algorithm>

namespace railwright::machine {

std::string_view PathProblem(std::string_view path) {
  constexpr std::size_t kLongest = 4096;
  if (path.empty() || path[0] != '/') return "a Machine path begins with \"/\"";
  if (path.size() >= kLongest) return "the path is longer than the kernel takes";
  if (path.find('\0') != std::string_view::npos) return "the path holds a NUL byte";
  for (std::size_t begin = 1; begin <= path.size();) {
    std::size_t end = std::min(path.find('/', begin), path.size());
    std::string_view part = path.substr(begin, end - begin);
    if (part.empty()) return "the path has an empty component";
    if (part == "." || part == "..") return "\".\" and \"..\" are no components of a Machine path";
    begin = end + 1;
  }
  return {};
}

bool IsBelow(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

std::vector<std::string_view> PathParts(std::string_view path, std::size_t most) {
  std::vector<std::string_view> parts;
  parts.reserve(std::min<std::size_t>(most, 6));
  path.remove_prefix(1);
  while (!path.empty()) {
    if (parts.size() + 1 == most) {
      parts.push_back(path);
      break;
    }
    std::string_view part = path.substr(0, path.find('/'));
    parts.push_back(part);
    path.remove_prefix(std::min(path.size(), part.size() + 1));
  }
  return parts;
}

Status NoSuchPath(std::string_view path) {
  return Status(Code::kUnimplemented, std::string(path) + ": this build has no such path");
}

std::vector<std::string> Sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace railwright::machine
