#include "agent/machine/rule.h"

#include <linux/rtnetlink.h>

#include <array>
#include <charconv>

#include "agent/machine/netlink_socket.h"
#include "agent/machine/set_valued.h"
#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

Status Wrong(std::string_view line, const std::string& what) {
  return Status(Code::kInvalidArgument, "rule \"" + std::string(line) + "\": " + what);
}

std::string PrefixText(const IpPrefix& prefix) {
  return prefix.length == prefix.longest() ? prefix.address.Text() : prefix.Text();
}

std::string Hex(std::uint32_t number) {
  std::array<char, 8> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::string PortsText(const std::pair<std::uint16_t, std::uint16_t>& ports) {
  const std::string low = std::to_string(ports.first);
  return ports.first == ports.second ? low : low + "-" + std::to_string(ports.second);
}

Result<std::uint32_t> ParseInteger(std::string_view word, std::string_view line, std::uint64_t most) {
  std::uint64_t number = 0;
  const bool hex = word.starts_with("0x");
  const std::string_view digits = hex ? word.substr(2) : word;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || number > most)
    return Wrong(line, "\"" + std::string(word) + "\" is no number up to " + std::to_string(most));
  return static_cast<std::uint32_t>(number);
}

Result<std::pair<std::uint16_t, std::uint16_t>> ParsePorts(std::string_view word, std::string_view line) {
  const auto dash = word.find('-');
  RW_ASSIGN_OR_RETURN(const std::uint32_t low, ParseInteger(word.substr(0, dash), line, 65535));
  std::uint32_t high = low;
  if (dash != std::string_view::npos) {
    RW_ASSIGN_OR_RETURN(high, ParseInteger(word.substr(dash + 1), line, 65535));
  }
  if (low == 0 || high < low) return Wrong(line, "\"" + std::string(word) + "\" is no range of ports");
  return std::pair(static_cast<std::uint16_t>(low), static_cast<std::uint16_t>(high));
}

/// "all" leaves the prefix empty; "::/0" and "0.0.0.0/0" do too, and tell the family.
Status TakePrefix(Words& words, std::string_view line, IpPrefix& prefix, int& family) {
  if (words.TakeIf("all")) return Ok();
  const Result<IpPrefix> parsed = IpPrefix::Parse(words.Take(), true);
  if (!parsed.ok()) return Wrong(line, parsed.status().message());
  if (parsed->HasHostBits()) return Wrong(line, parsed->Text() + " has bits beyond its prefix length");
  if (family != AF_UNSPEC && family != parsed->address.family) return Wrong(line, "it mixes IPv4 and IPv6");
  family = parsed->address.family;
  if (parsed->length != 0) prefix = *parsed;
  return Ok();
}

Status TakeMark(Words& words, std::string_view line, Rule& rule) {
  const std::string_view word = words.Take();
  const auto slash = word.find('/');
  RW_ASSIGN_OR_RETURN(rule.mark, ParseInteger(word.substr(0, slash), line, UINT32_MAX));
  rule.mask = UINT32_MAX;
  if (slash != std::string_view::npos) {
    RW_ASSIGN_OR_RETURN(rule.mask, ParseInteger(word.substr(slash + 1), line, UINT32_MAX));
  }
  return Ok();
}

Status TakeTable(Words& words, std::string_view line, Rule& rule) {
  const std::string_view word = words.Take();
  if (word == "main") rule.table = RT_TABLE_MAIN;
  if (word == "default") rule.table = RT_TABLE_DEFAULT;
  if (word == "local") rule.table = RT_TABLE_LOCAL;
  if (rule.table != 0) return Ok();
  RW_ASSIGN_OR_RETURN(rule.table, ParseInteger(word, line, UINT32_MAX));
  return rule.table == 0 ? Wrong(line, "table 0 is none") : Ok();
}

Status TakeInterface(Words& words, std::string_view line, std::string& name) {
  name = words.Take();
  return IsInterfaceName(name) ? Ok() : Wrong(line, "\"" + name + "\" is no name of an interface");
}

}  // namespace

std::string Rule::Text() const {
  std::string text = inverted ? "not from " : "from ";
  text += from.address ? PrefixText(from) : family == AF_INET6 ? "::/0" : "all";
  if (to.address) text += " to " + PrefixText(to);
  if (tos != 0) text += " tos " + std::to_string(tos);
  if (mark != 0 || mask != 0) text += " fwmark " + Hex(mark) + (mask == UINT32_MAX ? "" : "/" + Hex(mask));
  if (!iif.empty()) text += " iif " + iif;
  if (!oif.empty()) text += " oif " + oif;
  if (protocol != 0) text += " ipproto " + std::to_string(protocol);
  if (sport.second != 0) text += " sport " + PortsText(sport);
  if (dport.second != 0) text += " dport " + PortsText(dport);
  text += action.empty() ? " lookup " + std::to_string(table) : " " + action;
  if (!beyond.empty()) text += " " + beyond;
  return text;
}

Result<Rule> Rule::Parse(std::string_view line) {
  Words words(line);
  Rule rule;
  int family = AF_UNSPEC;
  rule.inverted = words.TakeIf("not");
  while (!words.done()) {
    if (words.TakeIf("from")) {
      RW_RETURN_IF_ERROR(TakePrefix(words, line, rule.from, family));
    } else if (words.TakeIf("to")) {
      RW_RETURN_IF_ERROR(TakePrefix(words, line, rule.to, family));
    } else if (words.TakeIf("tos")) {
      RW_ASSIGN_OR_RETURN(const std::uint32_t tos, ParseInteger(words.Take(), line, 255));
      rule.tos = static_cast<std::uint8_t>(tos);
    } else if (words.TakeIf("fwmark")) {
      RW_RETURN_IF_ERROR(TakeMark(words, line, rule));
    } else if (words.TakeIf("iif")) {
      RW_RETURN_IF_ERROR(TakeInterface(words, line, rule.iif));
    } else if (words.TakeIf("oif")) {
      RW_RETURN_IF_ERROR(TakeInterface(words, line, rule.oif));
    } else if (words.TakeIf("ipproto")) {
      RW_ASSIGN_OR_RETURN(const std::uint32_t protocol, ParseInteger(words.Take(), line, 255));
      rule.protocol = static_cast<std::uint8_t>(protocol);
    } else if (words.TakeIf("sport")) {
      RW_ASSIGN_OR_RETURN(rule.sport, ParsePorts(words.Take(), line));
    } else if (words.TakeIf("dport")) {
      RW_ASSIGN_OR_RETURN(rule.dport, ParsePorts(words.Take(), line));
    } else if (words.TakeIf("lookup") || words.TakeIf("table")) {
      RW_RETURN_IF_ERROR(TakeTable(words, line, rule));
    } else if (words.Peek() == "blackhole" || words.Peek() == "unreachable" || words.Peek() == "prohibit") {
      rule.action = words.Take();
    } else if (words.TakeIf("proto")) {
      words.Take();
    } else {
      return Wrong(line, "\"" + std::string(words.Peek()) + "\" is not understood");
    }
  }
  if (rule.action.empty() && rule.table == 0) return Wrong(line, "\"lookup TABLE\" is missing");
  if (!rule.action.empty() && rule.table != 0) return Wrong(line, "it has two actions");
  if (family != AF_UNSPEC) rule.family = family;
  return rule;
}

}  // namespace railwright::machine
