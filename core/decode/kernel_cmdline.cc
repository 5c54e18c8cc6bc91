#include "core/decode/kernel_cmdline.h"

#include <algorithm>
#include <array>

#include "core/decode/values.h"

namespace railwright {
namespace {

// Parameters of which every occurrence counts (admin-guide/kernel-parameters.txt).
constexpr std::array<std::string_view, 10> kAddUp{
    "console", "earlycon",         "hugepages", "hugepagesz", "initcall_blacklist",
    "memmap",  "module_blacklist", "dyndbg",    "netconsole", "pci"};

std::string Underscored(std::string_view name) {
  std::string one(name);
  std::replace(one.begin(), one.end(), '-', '_');
  return one;
}

bool SameName(std::string_view a, std::string_view b) { return Underscored(a) == Underscored(b); }

bool AddsUp(std::string_view name) {
  return std::any_of(kAddUp.begin(), kAddUp.end(), [&](std::string_view one) { return SameName(one, name); });
}

KernelParameter ParseOne(std::string_view word) {
  KernelParameter parameter;
  std::string plain;
  for (const char c : word)
    if (c != '"') plain += c;
  const auto equals = plain.find('=');
  parameter.name = plain.substr(0, equals);
  parameter.has_value = equals != std::string::npos;
  if (parameter.has_value) parameter.value = plain.substr(equals + 1);
  return parameter;
}

// Words between blanks outside double quotes.
std::vector<std::string_view> QuotedWords(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < text.size()) {
    at = text.find_first_not_of(" \t\r\n", at);
    if (at == std::string_view::npos) break;
    std::size_t end = at;
    bool quoted = false;
    while (end < text.size() &&
           (quoted || std::string_view(" \t\r\n").find(text[end]) == std::string_view::npos)) {
      if (text[end] == '"') quoted = !quoted;
      ++end;
    }
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// The pieces of a word between the commas outside double quotes, empty ones too.
std::vector<std::string_view> BetweenCommas(std::string_view word) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t at = 0; at <= word.size(); ++at) {
    if (at < word.size() && word[at] == '"') quoted = !quoted;
    if (at < word.size() && (quoted || word[at] != ',')) continue;
    pieces.push_back(word.substr(begin, at - begin));
    begin = at + 1;
  }
  return pieces;
}

// Whether what follows a comma is a parameter of its own, and not more of the value before it.
bool BeginsParameter(std::string_view piece) {
  return piece.starts_with('!') || piece.find('=') != std::string_view::npos;
}

}  // namespace

std::string KernelParameter::Text() const {
  if (!has_value) return name;
  return name + "=" + (value.find_first_of(" \t") == std::string::npos ? value : "\"" + value + "\"");
}

std::vector<KernelParameter> ParseKernelCmdline(std::string_view text) {
  std::vector<KernelParameter> parameters;
  for (const std::string_view word : QuotedWords(text)) {
    if (word == "--") break;
    parameters.push_back(ParseOne(word));
  }
  return parameters;
}

Result<CmdlineWish> CmdlineWish::Parse(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return Status(
        Code::kInvalidArgument,
        Quoted(text) + " " + why + "; allowed: parameters such as iommu=pt, or !quiet, divided by blanks");
  };
  text = Trimmed(text);
  if (text.size() > 2048) return refuse("is longer than the 2048 bytes that the kernel takes");
  const auto unprintable = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e;
  };
  if (std::any_of(text.begin(), text.end(), unprintable))
    return refuse("holds a character that is not printable ASCII");
  if (std::count(text.begin(), text.end(), '"') % 2 != 0) return refuse("has a quote that is not closed");
  std::vector<std::string> words;
  for (const std::string_view word : QuotedWords(text)) {
    bool valued = false;
    bool first = true;
    for (const std::string_view piece : BetweenCommas(word)) {
      if (piece.empty() && !valued) continue;
      if (first || !valued || BeginsParameter(piece)) {
        words.emplace_back(piece);
        valued = piece.find('=') != std::string_view::npos;
      } else {
        words.back() += "," + std::string(piece);
      }
      first = false;
    }
  }
  CmdlineWish wish;
  for (std::string_view word : words) {
    Item item;
    item.present = word.front() != '!';
    if (!item.present) word.remove_prefix(1);
    item.parameter = ParseOne(word);
    item.parameter.name = Underscored(item.parameter.name);
    const auto& name = item.parameter.name;
    const bool good = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7f && c != '!' &&
             c != '"' && c != ',';
    });
    if (!good || name == "__") return refuse("holds " + Quoted(word) + ", which is no parameter");
    wish.items.push_back(std::move(item));
  }
  if (wish.items.empty()) return refuse("is empty");
  std::sort(wish.items.begin(), wish.items.end(), [](const Item& a, const Item& b) {
    return std::pair(a.parameter.Text(), a.present) < std::pair(b.parameter.Text(), b.present);
  });
  for (std::size_t i = 1; i < wish.items.size(); ++i) {
    const Item& a = wish.items[i - 1];
    const Item& b = wish.items[i];
    if (a.parameter.Text() == b.parameter.Text() && a.present != b.present)
      return refuse("wants " + a.parameter.Text() + " and not");
  }
  wish.items.erase(
      std::unique(wish.items.begin(), wish.items.end(),
                  [](const Item& a, const Item& b) { return a.parameter.Text() == b.parameter.Text(); }),
      wish.items.end());
  return wish;
}

std::string CmdlineWish::Text() const {
  std::vector<std::string> words;
  for (const auto& item : items) {
    const std::string& value = item.parameter.value;
    const auto pieces = BetweenCommas(value);
    // In quotes where a part of the value would be taken for the next parameter.
    const bool ambiguous = std::any_of(pieces.begin() + 1, pieces.end(), BeginsParameter) &&
                           value.find_first_of(" \t") == std::string::npos;
    words.push_back((item.present ? "" : "!") +
                    (ambiguous ? item.parameter.name + "=\"" + value + "\"" : item.parameter.Text()));
  }
  return Joined(words, " ");
}

std::vector<std::string> CmdlineWish::Missing(const std::vector<KernelParameter>& cmdline) const {
  std::vector<std::string> missing;
  for (const auto& [present, wanted] : items) {
    const KernelParameter* last = nullptr;
    bool any = false;
    for (const auto& seen : cmdline) {
      if (!SameName(seen.name, wanted.name)) continue;
      last = &seen;
      any = any || (seen.has_value == wanted.has_value && seen.value == wanted.value);
    }
    const bool equal = AddsUp(wanted.name) ? any
                                           : last != nullptr && last->has_value == wanted.has_value &&
                                                 last->value == wanted.value;
    if (present && !equal) {
      missing.push_back(wanted.Text() + (last == nullptr ? " is missing" : " is " + last->Text()));
    } else if (!present && (wanted.has_value ? any : last != nullptr)) {
      missing.push_back((wanted.has_value ? wanted.Text() : last->Text()) + " is there");
    }
  }
  return missing;
}

std::string ShellAssignment(std::string_view text, std::string_view name) {
  std::string found;
  for (std::string_view line : Lines(text)) {
    line = Trimmed(line);
    if (!line.starts_with(name) || line.substr(name.size(), 1) != "=") continue;
    line.remove_prefix(name.size() + 1);
    if (line.size() >= 2 && (line.front() == '"' || line.front() == '\'') && line.back() == line.front())
      line = line.substr(1, line.size() - 2);
    found = line;
  }
  return found;
}

}  // namespace railwright
