#include "core/decode/iptables_save.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/decode/iptables_rule.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

// A longer line, or more lines, is no firewall.
constexpr std::size_t kMostBytes = 64U << 20;

std::int64_t PriorityOf(std::string_view table, std::string_view chain) {
  // enum nf_ip_hook_priorities of the kernel's uapi/linux/netfilter_ipv4.h
  if (table == "raw") return -300;
  if (table == "mangle") return -150;
  if (table == "nat") return chain == "PREROUTING" || chain == "OUTPUT" ? -100 : 100;
  if (table == "security") return 50;
  return 0;
}

std::string HookOf(std::string_view chain) {
  if (chain == "PREROUTING") return "prerouting";
  if (chain == "INPUT") return "input";
  if (chain == "FORWARD") return "forward";
  if (chain == "OUTPUT") return "output";
  if (chain == "POSTROUTING") return "postrouting";
  return {};
}

Status BadLine(int number, std::string_view line, std::string_view why) {
  return Status(Code::kInvalidArgument, "iptables-save line " + std::to_string(number) + ": " +
                                            std::string(why) + ": " + Quoted(line));
}

nft::Chain* ChainOf(nft::Table& table, const std::string& name) {
  for (nft::Chain& chain : table.chains)
    if (chain.name == name) return &chain;
  return nullptr;
}

}  // namespace

// Blanks separate; "…" with \" and \\ is one word.
std::vector<std::string> ShellWords(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool open = false, quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c == '\\' && i + 1 < line.size())
        word += line[++i];
      else if (c == '"')
        quoted = false;
      else
        word += c;
    } else if (c == '"') {
      open = quoted = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(std::move(word));
  return words;
}

Result<IptablesSave> DecodeIptablesSave(std::string_view text, std::string_view family) {
  if (text.size() > kMostBytes) return Status(Code::kInvalidArgument, "iptables-save: more than 64 MiB");
  IptablesSave save;
  nft::Table* table = nullptr;
  int number = 0;
  for (std::string_view line : Lines(text)) {
    ++number;
    line = Trimmed(line);
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '*') {
      if (table != nullptr) save.complete = false;
      save.ruleset.tables.push_back({.family = std::string(family), .name = std::string(line.substr(1))});
      table = &save.ruleset.tables.back();
      continue;
    }
    if (table == nullptr) return BadLine(number, line, "no table is open here");
    if (line == "COMMIT") {
      table = nullptr;
      continue;
    }
    if (line.front() == ':') {
      const auto words = Words(line.substr(1));
      if (words.size() < 2) return BadLine(number, line, "a chain needs a name and a policy");
      nft::Chain chain;
      chain.name = words[0];
      if (words[1] != "-") {
        chain.hook = HookOf(chain.name);
        chain.type = table->name == "nat" ? "nat" : "filter";
        chain.priority = PriorityOf(table->name, chain.name);
        chain.policy = words[1] == "DROP" ? "drop" : "accept";
      }
      table->chains.push_back(std::move(chain));
      continue;
    }
    if (line.front() == '[') {
      const auto end = line.find(']');
      if (end == std::string_view::npos) return BadLine(number, line, "a counter without its end");
      line = Trimmed(line.substr(end + 1));
    }
    const auto words = ShellWords(line);
    if (words.size() < 2 || (words[0] != "-A" && words[0] != "--append"))
      return BadLine(number, line, "neither table, chain, rule nor COMMIT");
    if (ChainOf(*table, words[1]) == nullptr) table->chains.emplace_back().name = words[1];
    nft::Rule rule = DecodeIptablesRule({words.begin() + 2, words.end()}, *table);
    rule.handle = number;
    ChainOf(*table, words[1])->rules.push_back(std::move(rule));
  }
  if (table != nullptr) save.complete = false;
  return save;
}

bool IsIptablesListing(std::string_view text) {
  bool chain = false, header = false;
  for (const std::string_view line : Lines(text)) {
    chain = chain || (line.starts_with("Chain ") && (line.find("(policy ") != std::string_view::npos ||
                                                     line.find(" references)") != std::string_view::npos));
    header = header || line.find("prot opt ") != std::string_view::npos;
  }
  return chain && header;
}

}  // namespace railwright
