#include "core/decode/mstconfig.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::size_t kLongest = 64;

bool IsUpperWord(unsigned char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return lower;
}

std::optional<std::uint64_t> WholeNumber(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, hex ? 16 : 10);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "True(1)" is the word "true" and the number 1; "5" a number, "ETH" a word.
struct Meaning {
  std::string word;
  std::optional<std::uint64_t> number;
};

Meaning MeaningOf(std::string_view value) {
  value = Trimmed(value);
  Meaning meaning;
  if (const auto open = value.rfind('('); open != std::string_view::npos && value.ends_with(')')) {
    meaning.number = WholeNumber(value.substr(open + 1, value.size() - open - 2));
    if (meaning.number) value = value.substr(0, open);
  } else {
    meaning.number = WholeNumber(value);
    if (meaning.number) return meaning;
  }
  meaning.word = Lower(value);
  if (!meaning.number && meaning.word == "true") meaning.number = 1;
  if (!meaning.number && meaning.word == "false") meaning.number = 0;
  return meaning;
}

using Column = std::string NvParameter::*;

Result<std::vector<Column>> ColumnsOf(std::string_view line) {
  std::vector<Column> columns;
  const auto words = Words(line);
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "Default") {
      columns.push_back(&NvParameter::default_value);
    } else if (words[i] == "Current") {
      columns.push_back(&NvParameter::current);
    } else if (words[i] == "Next" && i + 1 < words.size() && words[i + 1] == "Boot") {
      columns.push_back(&NvParameter::next);
      ++i;
    } else {
      return Status(Code::kDataLoss,
                    "mstconfig: no column " + Quoted(words[i]) + " is known in " + Quoted(line));
    }
  }
  if (columns.empty()) return Status(Code::kDataLoss, "mstconfig: no columns in " + Quoted(line));
  return columns;
}

/// The name of a line's parameter, "LINK_TYPE_P1" or "HOST_CHAINING_DESCRIPTORS[0]"; "" when it has none.
std::string_view NameOf(std::string_view word) {
  return IsNvName(word.substr(0, word.find('['))) ? word : std::string_view();
}

}  // namespace

bool IsNvName(std::string_view name) {
  return !name.empty() && name.size() <= kLongest && name[0] >= 'A' && name[0] <= 'Z' &&
         std::all_of(name.begin(), name.end(), IsUpperWord);
}

bool IsNvValue(std::string_view value) {
  return !value.empty() && value.size() <= kLongest && value[0] != '-' &&
         std::all_of(value.begin(), value.end(), [](unsigned char c) {
           return IsUpperWord(c) || (c >= 'a' && c <= 'z') || c == '.' || c == '-';
         });
}

bool SameNvValue(std::string_view a, std::string_view b) {
  const Meaning one = MeaningOf(a), other = MeaningOf(b);
  if (one.number && other.number) return *one.number == *other.number;
  return !one.word.empty() && one.word == other.word;
}

std::string NvValueToSet(std::string_view value) {
  const Meaning meaning = MeaningOf(value);
  return meaning.number ? std::to_string(*meaning.number) : std::string(Trimmed(value));
}

Result<NvListing> DecodeMstconfig(std::string_view text) {
  NvListing listing;
  std::vector<Column> columns;
  for (const std::string_view line : Lines(text)) {
    constexpr std::string_view kType = "Device type:", kTable = "Configurations:";
    if (line.starts_with(kType)) {
      if (!listing.device_type.empty())
        return Status(Code::kDataLoss, "mstconfig: the listing is of two devices");
      listing.device_type = Trimmed(line.substr(kType.size()));
      continue;
    }
    if (line.starts_with(kTable)) {
      if (!columns.empty()) return Status(Code::kDataLoss, "mstconfig: the listing has two tables");
      RW_ASSIGN_OR_RETURN(columns, ColumnsOf(line));
      continue;
    }
    if (columns.empty()) continue;
    auto words = Words(line);
    // Marks before the name: "*" the next value differs, "RO" it cannot be set.
    while (!words.empty() && (words.front() == "*" || words.front() == "RO" || words.front() == "*RO"))
      words.erase(words.begin());
    const std::string name(words.empty() ? std::string_view() : NameOf(words.front()));
    if (name.empty()) continue;  // a blank line, a sentence below the table
    if (listing.parameters.contains(name) || listing.unclear.contains(name))
      return Status(Code::kDataLoss, "mstconfig: " + name + " is there twice");
    if (words.size() != columns.size() + 1) {
      listing.unclear.emplace(name, Trimmed(line));
      continue;
    }
    NvParameter parameter;
    for (std::size_t i = 0; i < columns.size(); ++i) parameter.*columns[i] = words[i + 1];
    listing.parameters.emplace(name, std::move(parameter));
  }
  return listing;
}

}  // namespace railwright
