#include "core/decode/fields.h"

#include <algorithm>
#include <charconv>

namespace railwright {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view Trimmed(std::string_view text) {
  auto begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

Result<Fields> Fields::Parse(std::string_view text) {
  Fields fields;
  while (!(text = Trimmed(text)).empty()) {
    std::string_view word = text.substr(0, text.find_first_of(kBlanks));
    text.remove_prefix(word.size());
    auto equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return Status(Code::kInvalidArgument, "\"" + std::string(word) + "\" is not of the form name=value");
    std::string_view name = word.substr(0, equals);
    if (fields.Find(name) != nullptr)
      return Status(Code::kInvalidArgument, "field \"" + std::string(name) + "\" is given twice");
    fields.fields_.emplace_back(name, word.substr(equals + 1));
  }
  return fields;
}

void Fields::Set(std::string_view name, std::string_view value) {
  for (auto& [key, old] : fields_)
    if (key == name) {
      old = value;
      return;
    }
  fields_.emplace_back(name, value);
}

void Fields::Set(std::string_view name, std::uint64_t value) { Set(name, std::to_string(value)); }

const std::string* Fields::Find(std::string_view name) const {
  for (const auto& [key, value] : fields_)
    if (key == name) return &value;
  return nullptr;
}

Result<std::uint64_t> Fields::Number(std::string_view name) const {
  const std::string* value = Find(name);
  if (value == nullptr)
    return Status(Code::kNotFound, "no field \"" + std::string(name) + "\" in \"" + Text() + "\"");
  auto number = ParseNumber(*value);
  if (!number.ok()) return number.status().Within("field \"" + std::string(name) + "\"");
  return number;
}

std::string Fields::Text() const {
  std::string text;
  for (const auto& [name, value] : fields_) {
    if (!text.empty()) text += ' ';
    text.append(name).append("=").append(value);
  }
  return text;
}

Result<std::uint64_t> ParseNumber(std::string_view text) {
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return Status(Code::kInvalidArgument, "\"" + std::string(text) + "\" is not a whole number");
  return number;
}

std::vector<std::string> SortedLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line = Trimmed(line); !line.empty()) lines.emplace_back(line);
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text;
}

}  // namespace railwright
