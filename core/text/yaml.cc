#include "core/text/yaml.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace railwright {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kReplace = Json::error_handler_t::replace;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Words that a YAML 1.1 or 1.2 reader resolves to something else than a string.
bool IsReserved(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords{"y",   "n",    "yes",   "no",  "on",
                                                   "off", "true", "false", "null"};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

// Whether `text` may stand without quotes. Narrow on purpose: begins with a letter, '/' or '_', and has
// nothing in it that could begin a comment, a mapping or a flow collection.
bool MayStandPlain(std::string_view text) {
  if (text.empty() || IsReserved(text)) return false;
  if (!IsLetter(text.front()) && text.front() != '/' && text.front() != '_') return false;
  if (text.back() == ' ' || text.back() == ':') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (IsLetter(c) || IsDigit(c) || std::string_view("_./@+-=;()").find(c) != std::string_view::npos)
      continue;
    if (c == ' ' && text[i + 1] != '#') continue;
    if (c == ':' && text[i + 1] != ' ') continue;
    return false;
  }
  return true;
}

// Several lines of printable text whose first line does not begin with a blank: a literal block keeps them.
// NEL, LS, PS and the byte order mark are line breaks or not printable to a YAML 1.1 reader.
bool MayBeBlock(std::string_view text) {
  for (const std::string_view mark : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf"})
    if (text.find(mark) != std::string_view::npos) return false;
  if (text.find('\n') == std::string_view::npos || text.front() == ' ' || text.front() == '\n') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '\n' || static_cast<unsigned char>(c) >= 0x80 || (c >= ' ' && c != 0x7f);
  });
}

std::string Quoted(const Json& text) { return text.dump(-1, ' ', false, kReplace); }

// Valid UTF-8, by way of nlohmann's own replacement.
std::string Clean(const Json& text) { return Json::parse(Quoted(text)).get<std::string>(); }

class Emitter {
 public:
  std::string out;

  // Writes `value` where the cursor stands: behind "key:" or "-" (`inline_map` is then true), or at the
  // start.
  void Value(const Json& value, std::size_t indent, bool after_dash, bool after_key) {
    if (value.is_object() && !value.empty()) {
      bool first = true;
      if (after_key) out += '\n';
      for (const auto& [key, member] : value.items()) {
        if (!(first && after_dash)) out.append(indent, ' ');
        first = false;
        out += MayStandPlain(key) ? key : Quoted(key);
        out += ':';
        Value(member, indent + 2, false, true);
      }
      return;
    }
    if (value.is_array() && !value.empty()) {
      bool first = true;
      if (after_key) out += '\n';
      for (const Json& item : value) {
        if (!(first && after_dash)) out.append(indent, ' ');
        first = false;
        out += "- ";
        Value(item, indent + 2, true, false);
      }
      return;
    }
    if (after_key) out += ' ';
    if (value.is_string()) {
      const std::string text = Clean(value);
      if (MayBeBlock(text)) return Block(text, indent);
      out += MayStandPlain(text) ? text : Quoted(text);
    } else {
      out += value.dump(-1, ' ', false, kReplace);
    }
    out += '\n';
  }

 private:
  void Block(std::string_view text, std::size_t indent) {
    // "|" keeps one newline at the end, "|-" none, "|+" all of them.
    const std::size_t last = text.find_last_not_of('\n');
    const std::size_t trailing = text.size() - 1 - last;
    out += trailing == 0 ? "|-\n" : trailing == 1 ? "|\n" : "|+\n";
    if (trailing > 0) text.remove_suffix(1);
    const std::size_t depth = std::max<std::size_t>(indent, 2);
    while (true) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      if (!line.empty()) out.append(depth, ' ').append(line);
      out += '\n';
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 1);
    }
  }
};

}  // namespace

std::string ToYaml(const Json& value) {
  Emitter emitter;
  emitter.Value(value, 0, false, false);
  return std::move(emitter.out);
}

std::string ToJsonText(const Json& value) { return value.dump(2, ' ', false, kReplace) + "\n"; }

}  // namespace railwright
