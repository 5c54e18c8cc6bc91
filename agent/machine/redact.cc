#include "agent/machine/redact.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "agent/machine/paths.h"
#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

bool IsAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool IsHex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool AllHex(std::string_view text) { return std::all_of(text.begin(), text.end(), IsHex); }

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string_view LastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Files whose whole text is a serial number or another name of one machine.
bool IsSerialPath(std::string_view path) {
  const std::string name = Lower(LastPart(path));
  return name.find("serial") != std::string::npos || name.ends_with("uuid") || name.ends_with("asset_tag") ||
         name == "machine-id" || name == "boot_id" || name == "wwid" || name == "hostid";
}

/// Where dotted numbers are versions, not addresses.
bool HoldsVersions(std::string_view path) {
  const std::string name = Lower(LastPart(path));
  return IsBelow(path, "/pkg") || IsBelow(path, "/devlink") || IsBelow(path, "/nvml") ||
         name.find("ver") != std::string::npos || name.find("release") != std::string::npos;
}

/// A value that many machines share identifies none.
bool SaysNothing(std::string_view value) {
  const std::string lower = Lower(value);
  constexpr std::string_view kEmpty[] = {
      "none", "n/a", "unknown", "not specified", "default string", "to be filled by o.e.m.", "localhost"};
  return lower.size() < 3 || std::find(std::begin(kEmpty), std::end(kEmpty), lower) != std::end(kEmpty) ||
         std::all_of(lower.begin(), lower.end(), [&](char c) { return c == lower[0] || c == '-'; });
}

bool IsNameChar(char c) { return IsAlnum(c) || c == '-' || c == '_'; }

/// Groups of `digits` hex digits joined by `separator`, `groups` of them, at the start of `text`; 0 if not
/// there.
std::size_t MatchGroups(std::string_view text, std::initializer_list<std::size_t> groups, char separator) {
  std::size_t at = 0;
  for (std::size_t digits : groups) {
    if (at != 0) {
      if (at >= text.size() || text[at] != separator) return 0;
      ++at;
    }
    if (text.size() - at < digits || !AllHex(text.substr(at, digits))) return 0;
    at += digits;
  }
  if (at < text.size() && (IsAlnum(text[at]) || text[at] == separator)) return 0;
  return at;
}

std::array<std::uint8_t, 6> ParseMac(std::string_view text) {
  std::array<std::uint8_t, 6> mac{};
  std::size_t digit = 0;
  for (char c : text) {
    if (!IsHex(c) || digit == 12) continue;
    const char lower = static_cast<char>(c | 0x20);
    const int value = c <= '9' ? c - '0' : lower - 'a' + 10;
    mac[digit / 2] = static_cast<std::uint8_t>(mac[digit / 2] << 4 | value);
    ++digit;
  }
  return mac;
}

/// 0000:0000:…, the form in which sysfs shows GIDs.
std::string ExpandedText(const IpAddress& address) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i != 0 && i % 2 == 0) text += ':';
    text += kDigits[address.bytes[i] >> 4];
    text += kDigits[address.bytes[i] & 15];
  }
  return text;
}

/// The prefix length that belongs to an address, from what follows it: `/24`, or `", "len": 24` in nft's
/// JSON.
int LengthAfter(std::string_view after) {
  if (after.starts_with('/')) {
    after.remove_prefix(1);
  } else {
    std::string plain;
    for (char c : after.substr(0, 24))
      if (c != ' ' && c != '\n') plain += c;
    constexpr std::string_view kLen = "\",\"len\":";
    if (!plain.starts_with(kLen)) return -1;
    const auto colon = after.find(':');
    after.remove_prefix(colon + 1);
    while (after.starts_with(' ')) after.remove_prefix(1);
  }
  const auto end = after.find_first_not_of("0123456789");
  const Result<std::uint64_t> length = ParseNumber(after.substr(0, end));
  return length.ok() && *length <= 128 ? static_cast<int>(*length) : -1;
}

/// Whether an address that follows `before` is the low end of nft's `"range": ["10.0.0.1", "10.0.0.9"]`.
bool OpensRange(std::string_view before) {
  for (const char c : {'"', '[', ':'}) {
    if (!before.ends_with(c)) return false;
    before.remove_suffix(1);
    while (!before.empty() && (before.back() == ' ' || before.back() == '\n')) before.remove_suffix(1);
  }
  return before.ends_with("\"range\"");
}

}  // namespace

Redactor::Redactor(std::uint64_t seed, std::string_view host_name) : addresses_(seed), host_name_(host_name) {
  if (!SaysNothing(host_name)) LearnHost(host_name, "this-node");
}

void Redactor::LearnHost(std::string_view name, std::string_view replacement) {
  words_.emplace(Lower(name), replacement);
  // Also without its domain.
  const std::string_view bare = name.substr(0, name.find('.'));
  if (bare.size() != name.size() && !SaysNothing(bare)) words_.emplace(Lower(bare), replacement);
}

std::string Redactor::Replacement(std::map<std::string, std::string, std::less<>>& known,
                                  std::string_view value, std::string_view prefix) {
  const auto found = known.find(value);
  if (found != known.end()) return found->second;
  return known[std::string(value)] = std::string(prefix) + std::to_string(known.size() + 1);
}

void Redactor::Learn(std::string_view path, std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (IsSerialPath(path) && !SaysNothing(text) && text.find('\n') == std::string_view::npos)
    words_.emplace(Lower(text), Replacement(serials_, text, "serial-"));
  if (IsBelow(path, "/devlink") || IsBelow(path, "/nvml")) {
    const Fields fields = Fields::Parse(text).value_or({});
    for (const auto& [name, value] : fields.all())
      if (name.ends_with("serial") && !SaysNothing(value))
        words_.emplace(Lower(value), Replacement(serials_, value, "serial-"));
  }
  if ((path == "/file/etc/hostname" || path == "/proc/sys/kernel/hostname") && !SaysNothing(text))
    LearnHost(text, "this-node");
  if (path != "/file/etc/hosts") return;
  for (const std::string& line : SortedLines(text)) {
    const std::string_view entry = std::string_view(line).substr(0, line.find('#'));
    const auto blank = entry.find_first_of(" \t");
    if (blank == std::string_view::npos) continue;
    std::string_view names = entry.substr(blank);
    while (true) {
      const auto begin = names.find_first_not_of(" \t");
      if (begin == std::string_view::npos) break;
      names.remove_prefix(begin);
      const std::string_view name = names.substr(0, names.find_first_of(" \t"));
      names.remove_prefix(name.size());
      if (name.starts_with("localhost") || name.starts_with("ip6-") || SaysNothing(name)) continue;
      if (!words_.contains(Lower(name))) LearnHost(name, "host-" + std::to_string(words_.size() + 1));
    }
  }
}

std::string Redactor::Text(std::string_view path, std::string_view text) {
  std::string_view body = text;
  while (body.ends_with('\n')) body.remove_suffix(1);
  const std::string_view tail = text.substr(body.size());
  const bool is_host_name = path == "/file/etc/hostname" || path == "/proc/sys/kernel/hostname";
  // A short or ordinary host name ("vm") is replaced only where it is the whole text.
  if (is_host_name && !body.empty() && Lower(body) != "localhost") return "this-node" + std::string(tail);
  if (IsSerialPath(path) && !SaysNothing(body) && body.find('\n') == std::string_view::npos)
    return Replacement(serials_, body, "serial-") + std::string(tail);
  std::string result(text);
  if (IsBelow(path, "/file") || path == "/proc/cmdline")
    result = WithoutSecrets(result, path != "/proc/cmdline");
  result = WithoutWords(result);
  if (TakesWholeFile(path)) return ProcNetText(path, result);
  return WithoutAddresses(result, !HoldsVersions(path));
}

std::string Redactor::Name(std::string_view name) { return WithoutAddresses(WithoutWords(name), false); }

/// The longest known word that `text` begins with and that ends where a name ends; nullptr when there is
/// none. Words are sorted, so the only ones that can fit stand just before the text itself: one search, and
/// another for each word that fits but does not end there.
const std::pair<const std::string, std::string>* Redactor::WordAt(std::string_view text) const {
  for (std::string_view begin = text; !begin.empty();) {
    auto word = words_.upper_bound(begin);
    if (word == words_.begin()) return nullptr;
    --word;
    const std::string_view known = word->first;
    const auto [end, unused] = std::mismatch(known.begin(), known.end(), begin.begin(), begin.end());
    const auto shared = static_cast<std::size_t>(end - known.begin());
    if (shared < known.size()) {
      begin = text.substr(0, shared);
      continue;
    }
    if (shared == text.size() || !IsNameChar(text[shared])) return &*word;
    begin = text.substr(0, shared - 1);
  }
  return nullptr;
}

std::string Redactor::WithoutWords(std::string_view text) const {
  if (words_.empty()) return std::string(text);
  const std::string lower = Lower(text);
  std::string result;
  result.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    const bool starts = IsNameChar(text[at]) && (at == 0 || !IsNameChar(text[at - 1]));
    const auto* word = starts ? WordAt(std::string_view(lower).substr(at)) : nullptr;
    if (word != nullptr) {
      result += word->second;
      at += word->first.size();
    } else {
      result += text[at++];
    }
  }
  return result;
}

std::string Redactor::MacText(std::string_view token, char separator) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::uint8_t byte : addresses_.MapMac(ParseMac(token))) {
    if (!text.empty() && separator != 0) text += separator;
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

/// Appends the replacement of a token of hex digits, letters, dots and colons; false when it is none that
/// matters.
bool Redactor::TakeToken(std::string_view token, std::string_view after, std::string& out, IpAddress& mapped,
                         bool dotted_numbers) {
  if (MatchGroups(token, {2, 2, 2, 2, 2, 2}, ':') == token.size()) {
    out += MacText(token, ':');
    return true;
  }
  if (token.size() == 15 && token.starts_with("enx") && AllHex(token.substr(3))) {  // a name made of a MAC
    out += "enx" + MacText(token.substr(3), 0);
    return true;
  }
  if (MatchGroups(token, {4, 4, 4, 4}, ':') == token.size()) {  // a GUID of an RDMA device
    std::string digits = std::to_string(guids_.size() + 1);
    const auto known = guids_.find(token);
    if (known == guids_.end()) {
      digits.insert(0, 4 - std::min<std::size_t>(4, digits.size()), '0');
      out += guids_[std::string(token)] = "0200:00ff:fe00:" + digits;
    } else {
      out += known->second;
    }
    return true;
  }
  const bool dotted = token.find(':') == std::string_view::npos;
  if (dotted && !dotted_numbers) return false;
  const Result<IpAddress> address = IpAddress::Parse(token);
  if (!address.ok()) return false;
  mapped = addresses_.Map(*address, LengthAfter(after));
  const bool expanded = MatchGroups(token, {4, 4, 4, 4, 4, 4, 4, 4}, ':') == token.size();
  out += expanded ? ExpandedText(mapped) : mapped.Text();
  return true;
}

std::string Redactor::WithoutAddresses(std::string_view text, bool dotted_numbers) {
  std::string result;
  // The address before, for ranges: what was low must not become the high end.
  IpAddress last;
  std::size_t last_at = 0, last_in = 0, last_end_in = 0;
  for (std::size_t at = 0; at < text.size();) {
    const bool starts = at == 0 || !(IsAlnum(text[at - 1]) || text[at - 1] == '_');
    if (!starts || !(IsAlnum(text[at]) || text[at] == ':')) {
      result += text[at++];
      continue;
    }
    const std::string_view rest = text.substr(at);
    if (const std::size_t uuid = MatchGroups(rest, {8, 4, 4, 4, 12}, '-'); uuid != 0) {
      std::string number = std::to_string(uuids_.size() + 1);
      number.insert(0, 12 - std::min<std::size_t>(12, number.size()), '0');
      const auto known =
          uuids_.emplace(Lower(rest.substr(0, uuid)), "00000000-0000-4000-8000-" + number).first;
      result += known->second;
      at += uuid;
      continue;
    }
    if (const std::size_t mac = MatchGroups(rest, {2, 2, 2, 2, 2, 2}, '-'); mac != 0) {
      result += MacText(rest.substr(0, mac), '-');
      at += mac;
      continue;
    }
    std::size_t size = 0;
    while (size < rest.size() && (IsAlnum(rest[size]) || rest[size] == ':' || rest[size] == '.')) ++size;
    // Whole, without a closing dot or colon of the sentence around it, or up to the port.
    const std::string_view run = rest.substr(0, size);
    std::string_view trimmed = run.substr(0, run.find_last_not_of(".:") + 1);
    bool taken = false;
    IpAddress mapped;
    for (std::string_view token : {run, trimmed, run.substr(0, run.find(':'))}) {
      if (token.empty()) continue;
      const std::size_t before = result.size();
      const std::string_view after = rest.substr(token.size());
      if (!TakeToken(token, after, result, mapped, dotted_numbers)) continue;
      const std::string_view gap = text.substr(last_end_in, at - last_end_in);
      const bool range =
          last && (gap == "-" || gap == "\", \"" || gap == "\",\"") && mapped.family == last.family;
      if (range && (gap == "-" || OpensRange(text.substr(0, last_in))) && mapped.bytes < last.bytes) {
        const std::string low = result.substr(before);
        const std::string between(gap);
        const std::string high = result.substr(last_at, before - between.size() - last_at);
        result.resize(last_at);
        result += low + between + high;
      }
      last = mapped;
      last_at = before;
      last_in = at;
      at += token.size();
      last_end_in = at;
      taken = true;
      break;
    }
    if (taken) continue;
    // "lladdr:02:…" and "addr:10.0.0.1": what follows a colon may be what matters.
    const std::size_t step = std::min(run.find(':', 1), run.size() - 1) + 1;
    result += run.substr(0, step);
    at += step;
  }
  return result;
}

}  // namespace railwright::machine
