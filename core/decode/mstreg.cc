#include "core/decode/mstreg.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>

#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::size_t kLongestRegister = 32;
constexpr std::size_t kLongestField = 64;
constexpr std::string_view kHead = "Field Name";

bool IsLetter(unsigned char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool IsDigit(unsigned char c) { return c >= '0' && c <= '9'; }

bool IsRule(std::string_view line) {
  return line.size() >= 8 && line.find_first_not_of('=') == std::string_view::npos;
}

// "0x00000fa0"
bool ReadData(std::string_view text, std::uint32_t& number) {
  if (!text.starts_with("0x")) return false;
  text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

// "retx_total_timeout", or an element of an array: "timeout_range[3]".
bool IsLeaf(std::string_view name) {
  const auto open = name.find('[');
  if (open == std::string_view::npos) return IsRegisterField(name);
  const std::string_view index = name.substr(open + 1);
  return IsRegisterField(name.substr(0, open)) && index.size() >= 2 && index.back() == ']' &&
         std::all_of(index.begin(), index.end() - 1, [](unsigned char c) { return IsDigit(c); });
}

Status Unclear(std::string_view line) {
  return Status(Code::kDataLoss,
                Quoted(line) + " is no field of a register, as mstreg prints them: name | 0x00000000");
}

}  // namespace

bool IsRegisterName(std::string_view name) {
  return !name.empty() && name.size() <= kLongestRegister && name[0] >= 'A' && name[0] <= 'Z' &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_'; });
}

bool IsRegisterField(std::string_view name) {
  return !name.empty() && name.size() <= kLongestField && IsLetter(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return IsLetter(c) || IsDigit(c) || c == '_'; });
}

Result<Fields> DecodeMstreg(std::string_view text) {
  enum class Part : std::uint8_t { kBefore, kRule, kTable, kAfter } part = Part::kBefore;
  std::set<std::string, std::less<>> seen, twice;
  Fields all;
  for (const std::string_view raw : Lines(text)) {
    const std::string_view line = Trimmed(raw);
    switch (part) {
      case Part::kBefore:
        if (line.starts_with(kHead)) part = Part::kRule;
        break;
      case Part::kRule:
        if (!IsRule(line)) return Unclear(line);
        part = Part::kTable;
        break;
      case Part::kTable: {
        if (IsRule(line)) {
          part = Part::kAfter;
          break;
        }
        const auto bar = line.find('|');
        std::uint32_t number = 0;
        if (bar == std::string_view::npos || !ReadData(Trimmed(line.substr(bar + 1)), number))
          return Unclear(line);
        const std::string_view name = Trimmed(line.substr(0, bar));
        if (!IsLeaf(name)) return Unclear(line);
        if (seen.emplace(name).second)
          all.Set(name, std::uint64_t{number});
        else
          twice.emplace(name);
        break;
      }
      case Part::kAfter: break;
    }
  }
  if (part == Part::kBefore)
    return Status(Code::kDataLoss,
                  "no line begins with \"" + std::string(kHead) + "\", so no register is told");
  if (part != Part::kAfter) return Status(Code::kDataLoss, "the register's table has no end");
  if (twice.empty()) return all;
  Fields once;
  for (const auto& [name, value] : all.all())
    if (!twice.contains(name)) once.Set(name, value);
  return once;
}

}  // namespace railwright
