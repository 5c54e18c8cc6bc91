#include "controller/cli/sources.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <iterator>

namespace railwright::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{8} << 20;  // the loader's own limit

Status TooBig(const std::string& path) {
  return {Code::kInvalidArgument, path + ": over 8 MiB; no document is that long"};
}

Result<std::string> ReadFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FromErrno(errno, path);
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      close(fd);
      return FromErrno(error, path);
    }
    if (got == 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > kMostBytes) {
      close(fd);
      return TooBig(path);
    }
  }
  close(fd);
  return text;
}

Result<std::vector<std::string>> YamlFilesOf(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    const std::filesystem::path& path = at->path();
    const std::string extension = path.extension().string();
    if ((extension == ".yaml" || extension == ".yml") && path.filename().string().front() != '.')
      files.push_back(path.string());
  }
  if (error) return FromErrno(error.value(), directory);
  if (files.empty()) return Status(Code::kNotFound, directory + ": no *.yaml or *.yml in this directory");
  std::sort(files.begin(), files.end());
  return files;
}

// "site.yaml:14:5: …" → file, line, column; line 0 when the text is no place.
struct PlaceText {
  std::string_view file;
  int line = 0, column = 0;
};
PlaceText PlaceOf(std::string_view text) {
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    PlaceText place{text.substr(0, colon), 0, 0};
    const char* end = text.data() + text.size();
    const auto line = std::from_chars(text.data() + colon + 1, end, place.line);
    if (line.ec != std::errc() || line.ptr == end || *line.ptr != ':') continue;
    const auto column = std::from_chars(line.ptr + 1, end, place.column);
    if (column.ec == std::errc() && column.ptr != end && *column.ptr == ':') return place;
  }
  return {};
}

std::string_view LineOf(std::string_view text, int line) {
  for (; line > 1; --line) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// "  14 | prioritys: 3", as the loader writes below a problem.
bool IsExcerpt(std::string_view line) {
  const auto digit = line.find_first_not_of(' ');
  if (digit == 0 || digit == std::string_view::npos) return false;
  const auto bar = line.find_first_not_of("0123456789", digit);
  return bar != digit && bar != std::string_view::npos && line.substr(bar).starts_with(" |");
}

}  // namespace

Result<std::vector<v1::SourceFile>> ReadSources(const std::vector<std::string>& paths, std::istream& in) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    struct stat info {};
    if (path == "-") {
      files.push_back(path);
    } else if (stat(path.c_str(), &info) != 0) {
      return FromErrno(errno, path);
    } else if (S_ISDIR(info.st_mode)) {
      RW_ASSIGN_OR_RETURN(auto found, YamlFilesOf(path));
      files.insert(files.end(), found.begin(), found.end());
    } else {
      files.push_back(path);
    }
  }
  std::vector<v1::SourceFile> sources;
  for (const std::string& path : files) {
    // The same file twice would only give "declared twice" for each of its documents.
    const auto same = [&](const v1::SourceFile& one) { return one.name() == (path == "-" ? "stdin" : path); };
    if (std::any_of(sources.begin(), sources.end(), same)) continue;
    v1::SourceFile source;
    if (path == "-") {
      source.set_name("stdin");
      std::string text;
      char buffer[65536];
      while (in.read(buffer, sizeof buffer) || in.gcount() > 0) {
        text.append(buffer, static_cast<std::size_t>(in.gcount()));
        if (text.size() > kMostBytes) return TooBig("stdin");
      }
      source.set_text(std::move(text));
    } else {
      source.set_name(path);
      RW_ASSIGN_OR_RETURN(*source.mutable_text(), ReadFile(path));
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

std::vector<Problem> CheckSources(const std::vector<v1::SourceFile>& sources) {
  std::vector<Problem> problems;
  std::size_t documents = 0;
  for (const v1::SourceFile& source : sources) {
    Loaded loaded = LoadDocuments(source.name(), source.text());
    documents += loaded.documents.size();
    std::move(loaded.problems.begin(), loaded.problems.end(), std::back_inserter(problems));
  }
  if (documents == 0 && problems.empty())
    problems.push_back({.file = sources.empty() ? "" : sources.front().name(),
                        .message = "holds no document; one begins with `kind: Cluster` or `kind: Profile`",
                        .excerpt = ""});
  return problems;
}

std::string ProblemsText(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    text += problem.ToString() + "\n";
    if (!problem.excerpt.empty()) text += problem.excerpt + (problem.excerpt.ends_with('\n') ? "" : "\n");
  }
  return text;
}

std::string WithExcerpts(std::string_view message, const std::vector<v1::SourceFile>& sources) {
  std::string out;
  while (!message.empty()) {
    const auto end = std::min(message.find('\n'), message.size());
    const std::string_view line = message.substr(0, end);
    message.remove_prefix(std::min(end + 1, message.size()));
    out += std::string(line) + "\n";
    const PlaceText place = PlaceOf(line);
    if (place.line < 1 || IsExcerpt(message.substr(0, message.find('\n')))) continue;
    for (const v1::SourceFile& source : sources) {
      if (source.name() != place.file) continue;
      const std::string_view text = LineOf(source.text(), place.line);
      if (text.empty() || text.size() > 200) continue;
      const std::string number = std::to_string(place.line);
      out += "  " + number + " | " + std::string(text) + "\n";
      const auto before = static_cast<std::size_t>(std::max(0, place.column - 1));
      out += "  " + std::string(number.size(), ' ') + " | " + std::string(before, ' ') + "^\n";
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

}  // namespace railwright::cli
