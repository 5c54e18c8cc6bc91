#include "agent/machine/snapshot_tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "agent/machine/paths.h"
#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "INCOMPLETE";
constexpr std::string_view kGet = "get", kErr = "err", kList = "list", kListErr = "list-err";

Status WriteFile(const fs::path& file, std::string_view bytes) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) return FromErrno(error.value(), file.parent_path().string());
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << bytes;
  out.close();
  return out ? Ok() : FromErrno(errno != 0 ? errno : EIO, file.string());
}

/// Texts end with a newline on disk, for whoever reads them; /file is exact bytes.
bool IsExact(std::string_view path) { return IsBelow(path, "/file"); }

fs::path Place(const std::string& directory, std::string_view kind, std::string_view path) {
  return fs::path(directory) / (std::string(kind) + EncodePath(path)) / "@";
}

std::string JoinNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += EncodeComponent(name) + "\n";
  return text;
}

constexpr std::array kCodes = {Code::kUnknown,           Code::kInvalidArgument,    Code::kDeadlineExceeded,
                               Code::kNotFound,          Code::kAlreadyExists,      Code::kPermissionDenied,
                               Code::kResourceExhausted, Code::kFailedPrecondition, Code::kAborted,
                               Code::kUnimplemented,     Code::kInternal,           Code::kUnavailable,
                               Code::kDataLoss};

}  // namespace

std::string EncodeComponent(std::string_view component) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string name;
  for (std::size_t i = 0; i < component.size(); ++i) {
    const auto byte = static_cast<unsigned char>(component[i]);
    const bool escape = byte == '%' || byte == '/' || byte < 0x20 || byte == 0x7f ||
                        (i == 0 && byte == '.') || component == "@";
    if (!escape) {
      name += component[i];
      continue;
    }
    name += '%';
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

std::string DecodeComponent(std::string_view name) {
  std::string component;
  for (std::size_t i = 0; i < name.size(); ++i) {
    unsigned value = 0;
    const auto digits = name.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (name[i] == '%' && digits.size() == 2 && error == std::errc() && end == digits.data() + 2) {
      component += static_cast<char>(value);
      i += 2;
    } else {
      component += name[i];
    }
  }
  return component;
}

std::string EncodePath(std::string_view path) {
  std::string encoded;
  for (std::string_view part : PathParts(path)) encoded += "/" + EncodeComponent(part);
  return encoded;
}

std::string ErrorText(const Status& status) {
  std::string message = status.message();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return std::string(Name(status.code())) + " " + std::to_string(status.error_number()) + " " + message;
}

Status ParseError(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  const std::string_view number = text.substr(0, text.find(' '));
  Code code = Code::kUnknown;
  for (Code one : kCodes)
    if (Name(one) == word) code = one;
  constexpr std::uint64_t kMostErrno = 4095;  // MAX_ERRNO of the kernel
  const Result<std::uint64_t> error = ParseNumber(number);
  const bool is_errno = error.ok() && *error <= kMostErrno;
  if (is_errno) text.remove_prefix(std::min(text.size(), number.size() + 1));
  return Status(code, std::string(text), is_errno ? static_cast<int>(*error) : 0);
}

Status BeginRecording(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return FromErrno(error.value(), directory);
  if (!fs::is_empty(directory, error) || error)
    return Status(Code::kAlreadyExists, directory + ": is not empty; record into a new directory");
  return WriteFile(fs::path(directory) / kMark,
                   "This recording has not ended. What is here may lack anything.\n");
}

Status WriteRecording(const std::string& directory, const Recording& recording, const std::string& readme) {
  for (const auto& [path, value] : recording.values) {
    if (value.ok()) {
      const bool newline = !IsExact(path);
      RW_RETURN_IF_ERROR(WriteFile(Place(directory, kGet, path), newline ? *value + "\n" : *value));
    } else {
      RW_RETURN_IF_ERROR(WriteFile(Place(directory, kErr, path), ErrorText(value.status()) + "\n"));
    }
  }
  for (const auto& [path, names] : recording.lists) {
    if (names.ok())
      RW_RETURN_IF_ERROR(WriteFile(Place(directory, kList, path), JoinNames(*names)));
    else
      RW_RETURN_IF_ERROR(WriteFile(Place(directory, kListErr, path), ErrorText(names.status()) + "\n"));
  }
  RW_RETURN_IF_ERROR(WriteFile(fs::path(directory) / "README.md", readme));
  std::error_code error;
  fs::remove(fs::path(directory) / kMark, error);
  return error ? FromErrno(error.value(), directory) : Ok();
}

Result<SnapshotTree> SnapshotTree::Open(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error))
    return Status(Code::kNotFound, directory + ": no such directory", ENOENT);
  if (fs::exists(fs::path(directory) / kMark, error))
    return Status(Code::kDataLoss, directory + ": this recording never ended (it holds a file " +
                                       std::string(kMark) + "); record it again");
  bool any = false;
  for (std::string_view kind : {kGet, kErr, kList, kListErr})
    any = any || fs::is_directory(fs::path(directory) / kind, error);
  if (!any)
    return Status(Code::kInvalidArgument, directory + ": no snapshot (none of the folders get, err, list)");
  return SnapshotTree(directory);
}

std::optional<std::string> SnapshotTree::Read(std::string_view kind, std::string_view path) const {
  const fs::path place = Place(directory_, kind, path);
  // Written by hand, a path without children may be a plain file.
  for (const fs::path& file : {place, place.parent_path()}) {
    std::error_code error;
    if (!fs::is_regular_file(file, error)) continue;
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  return std::nullopt;
}

std::optional<Status> SnapshotTree::Error(std::string_view kind, std::string_view path) const {
  const auto text = Read(kind, path);
  if (!text) return std::nullopt;
  return ParseError(*text);
}

std::optional<Result<std::string>> SnapshotTree::Value(std::string_view path) const {
  if (auto text = Read(kGet, path)) {
    if (!IsExact(path)) text->resize(text->find_last_not_of('\n') + 1);
    return Result<std::string>(std::move(*text));
  }
  if (auto error = Error(kErr, path)) return Result<std::string>(std::move(*error));
  return std::nullopt;
}

std::optional<Result<std::vector<std::string>>> SnapshotTree::List(std::string_view path) const {
  if (const auto text = Read(kList, path)) {
    std::vector<std::string> names;
    for (const std::string& line : SortedLines(*text)) names.push_back(DecodeComponent(line));
    return Result<std::vector<std::string>>(Sorted(std::move(names)));
  }
  if (auto error = Error(kListErr, path)) return Result<std::vector<std::string>>(std::move(*error));
  return std::nullopt;
}

}  // namespace railwright::machine
