#include "core/decode/rdma_firewall.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/decode/cidr.h"
#include "core/decode/nft_ruleset.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

using Json = nlohmann::json;

constexpr const char* kFamily = "inet";
constexpr const char* kTable = "railwright";
constexpr const char* kChain = "input";
constexpr int kPriority = -10;
constexpr std::string_view kOther = "other, ";
// How the JSON begins behind the words. Inside it the quotes of any text are escaped, so it cannot come
// again.
constexpr std::string_view kJsonBegins = " [{\"table\":";
constexpr std::string_view kCommentPrefix = "railwright:";

std::string_view Name(PortProtocol protocol) { return protocol == PortProtocol::kUdp ? "udp" : "tcp"; }

std::string Numbers(const PortRange& range) {
  return std::to_string(range.first) + (range.first == range.last ? "" : "-" + std::to_string(range.last));
}

// The stable name of a range that rdma_ports.h knows; "tcp-29500" of any other.
std::string Label(const PortRange& range) {
  for (const RdmaPort& known : kRdmaPorts)
    if (known.protocol == range.protocol && known.first == range.first && known.last == range.last)
      return std::string(known.name);
  return std::string(Name(range.protocol)) + "-" + Numbers(range);
}

// Sorted, with overlapping and adjacent ranges joined.
std::vector<PortRange> Merged(std::vector<PortRange> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::vector<PortRange> merged;
  for (const PortRange& range : ranges) {
    if (!merged.empty() && merged.back().protocol == range.protocol && range.first <= merged.back().last + 1)
      merged.back().last = std::max(merged.back().last, range.last);
    else
      merged.push_back(range);
  }
  return merged;
}

std::vector<PortRange> DefaultPorts() {
  std::vector<PortRange> ports;
  for (const RdmaPort& port : kRdmaPorts) ports.push_back({port.protocol, port.first, port.last});
  std::sort(ports.begin(), ports.end());
  return ports;
}

bool Covers(const std::vector<PortRange>& ranges, const PortRange& one) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const PortRange& range) {
    return range.protocol == one.protocol && range.first <= one.first && one.last <= range.last;
  });
}

Result<PortRange> ParseNumbers(PortProtocol protocol, std::string_view text) {
  const auto dash = text.find('-');
  RW_ASSIGN_OR_RETURN(const auto first, ParseWhole(text.substr(0, dash), 1, 65535));
  auto last = first;
  if (dash != std::string_view::npos) {
    RW_ASSIGN_OR_RETURN(last, ParseWhole(text.substr(dash + 1), 1, 65535));
  }
  if (last < first) return Status(Code::kInvalidArgument, Quoted(text) + " ends before it begins");
  return PortRange{protocol, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last)};
}

Json Element(const std::string& network) {
  // nft lists a host as a plain address.
  const auto cidr = Cidr::Parse(network);
  if (cidr.ok() && cidr->length == cidr->longest()) return cidr->Address();
  const auto slash = network.find('/');
  return Json{
      {"prefix", {{"addr", network.substr(0, slash)}, {"len", std::stoi(network.substr(slash + 1))}}}};
}

Json Match(const char* protocol, const char* field, Json right) {
  return Json{{"match",
               {{"op", "=="},
                {"left", {{"payload", {{"protocol", protocol}, {"field", field}}}}},
                {"right", std::move(right)}}}};
}

Json Add(const char* kind, Json body) {
  body["family"] = kFamily;
  if (std::string_view(kind) != "table") body["table"] = kTable;
  return Json{{"add", {{kind, std::move(body)}}}};
}

// "add" before "delete" makes the deletion of a missing table no error, in one transaction with what follows.
Json ReplacedTable() {
  const Json table = {{"family", kFamily}, {"name", kTable}};
  return Json::array({Json{{"metainfo", {{"json_schema_version", 1}}}}, Json{{"add", {{"table", table}}}},
                      Json{{"delete", {{"table", table}}}}, Json{{"add", {{"table", table}}}}});
}

std::string Document(Json commands) { return Json{{"nftables", std::move(commands)}}.dump(); }

// Everything of a table that decides, one line each; the same table twice gives the same lines.
std::vector<std::string> Describe(const nft::Ruleset& ruleset) {
  std::vector<std::string> lines;
  for (const auto& table : ruleset.tables) {
    lines.push_back("table " + table.family + " " + table.name);
    for (const auto& flag : table.flags) lines.push_back("table flag " + flag);
    for (const auto& set : table.sets) {
      std::vector<std::string> elements;
      for (const auto& element : set.elements) elements.push_back(nft::Text(element));
      std::sort(elements.begin(), elements.end());
      lines.push_back("set " + set.name + " of " + Joined(set.key_types, " . ") +
                      (set.value_type.empty() ? "" : " : " + set.value_type) + " " + Joined(set.flags, ",") +
                      " { " + Joined(elements, ", ") + " }");
    }
    for (const auto& chain : table.chains) {
      std::string base = "chain " + chain.name;
      if (chain.is_base())
        base += ": type " + chain.type + " hook " + chain.hook + " priority " +
                std::to_string(chain.priority) + " policy " + chain.policy;
      for (const auto& dev : chain.devs) base += " dev " + dev;
      lines.push_back(base);
      for (const auto& rule : chain.rules)
        lines.push_back("rule in " + chain.name + ": " + nft::Text(rule) +
                        (rule.comment.empty() ? "" : " comment \"" + rule.comment + "\""));
    }
  }
  for (const auto& skipped : ruleset.skipped) lines.push_back("something else: " + skipped);
  return lines;
}

// What our table would have to say to look as this one does; it is then rebuilt and compared.
RdmaFirewall Guess(const nft::Table& table) {
  RdmaFirewall guess;
  for (const auto& set : table.sets) {
    for (const auto& element : set.elements) {
      std::string text = nft::Text(element);
      if (text.find('/') == std::string::npos) text += text.find(':') == std::string::npos ? "/32" : "/128";
      guess.sources.push_back(std::move(text));
    }
  }
  for (const auto& chain : table.chains) {
    for (const auto& rule : chain.rules) {
      for (const auto& statement : rule.statements) {
        const auto& left = statement.left;
        if (statement.kind != nft::Statement::Kind::kMatch || left.name != "dport") continue;
        if (left.scope != "udp" && left.scope != "tcp") continue;
        const auto range = ParseNumbers(left.scope == "udp" ? PortProtocol::kUdp : PortProtocol::kTcp,
                                        nft::Text(statement.right));
        if (range.ok()) guess.ports.push_back(*range);
      }
    }
  }
  std::sort(guess.ports.begin(), guess.ports.end());
  guess.ports.erase(std::unique(guess.ports.begin(), guess.ports.end()), guess.ports.end());
  return guess;
}

std::vector<std::string> Described(const RdmaFirewall& firewall) {
  const auto ruleset = nft::DecodeRuleset(firewall.Transaction());
  return ruleset.ok() ? Describe(*ruleset) : std::vector<std::string>{};
}

// Objects before those that refer to them.
int Rank(const Json& object) {
  const std::string& kind = object.begin().key();
  if (kind == "table") return 0;
  if (kind == "chain") return 1;
  return kind == "rule" ? 3 : 2;
}

// The objects of a listing (or of a transaction's add commands) without what only this moment knows: handles,
// counters, who printed it. In one order: by rank, the rules of a chain as they stand, the rest by its text.
std::vector<Json> Restorable(const Json& listing) {
  std::vector<Json> kept;
  for (const Json& entry : listing) {
    if (!entry.is_object() || entry.size() != 1) continue;
    Json object = entry.contains("add") ? entry.at("add") : entry;
    if (!object.is_object() || object.size() != 1 || !object.begin().value().is_object()) continue;
    const std::string& kind = object.begin().key();
    if (kind == "metainfo" || kind == "delete" || kind == "flush") continue;
    Json& body = object.begin().value();
    body.erase("handle");
    if (body.contains("expr") && body["expr"].is_array())
      for (Json& statement : body["expr"])
        if (statement.is_object() && statement.contains("counter") && statement["counter"].is_object())
          statement["counter"] = {{"packets", 0}, {"bytes", 0}};
    if (body.contains("elem") && body["elem"].is_array()) std::sort(body["elem"].begin(), body["elem"].end());
    const bool repeated = kind == "table" && std::find(kept.begin(), kept.end(), object) != kept.end();
    if (!repeated) kept.push_back(std::move(object));
  }
  std::stable_sort(kept.begin(), kept.end(), [](const Json& x, const Json& y) {
    const int first = Rank(x), second = Rank(y);
    if (first != second) return first < second;
    if (first != 3) return x < y;
    return x.begin().value().value("chain", "") < y.begin().value().value("chain", "");
  });
  return kept;
}

// Whether an object of a listing is our table or in it.
bool IsOurs(const Json& object) {
  const Json& body = object.begin().value();
  return body.value("family", Json()) == kFamily &&
         body.value(object.begin().key() == "table" ? "name" : "table", Json()) == kTable;
}

// For a person, the same for the same table: "13 rules, not ours: tcp dport 22 drop".
std::string Summary(const std::vector<std::string>& seen, const std::vector<std::string>& ours) {
  constexpr std::string_view kRule = "rule in ";
  std::size_t rules = 0;
  std::string foreign;
  for (const auto& line : seen) {
    if (!line.starts_with(kRule)) continue;
    ++rules;
    if (std::find(ours.begin(), ours.end(), line) != ours.end()) continue;
    const std::string rule = line.substr(line.find(": ") + 2);
    foreign += (foreign.empty() ? ", not ours: " : "; ") + rule.substr(0, rule.find(" comment \""));
  }
  return std::to_string(rules) + (rules == 1 ? " rule" : " rules") + foreign;
}

Result<RdmaFirewallReading> ReadParsed(const Json& document, std::string_view json,
                                       std::string_view expected) {
  RW_ASSIGN_OR_RETURN(const nft::Ruleset ruleset, nft::DecodeRuleset(json));
  const nft::Table* table = ruleset.FindTable(kFamily, kTable);
  if (table == nullptr)
    return Status(Code::kInvalidArgument, "the answer holds no table inet railwright: " + Quoted(json));
  const std::vector<std::string> seen = Describe(ruleset);
  RdmaFirewallReading reading;
  const RdmaFirewall guess = Guess(*table);
  // Parsing its own text puts sources and ports into their one order; a guess that does not survive is none.
  if (const auto normal = RdmaFirewall::Parse(guess.Text()); normal.ok() && Described(*normal) == seen) {
    reading.value = normal->Text();
    return reading;
  }
  const Json& listing = document.is_object() ? document.at("nftables") : document;
  const std::vector<Json> objects = Restorable(listing);
  const bool whole = !objects.empty() && objects.front().begin().key() == "table" &&
                     std::all_of(objects.begin(), objects.end(), IsOurs);
  if (!whole)
    return Status(Code::kInvalidArgument,
                  "the answer is no listing of table inet railwright alone: " + Quoted(json));
  const std::string kept = Json(objects).dump();
  RW_ASSIGN_OR_RETURN(const nft::Ruleset ordered, nft::DecodeRuleset(kept));
  reading.value = std::string(kOther) + Summary(Describe(ordered), Described(guess)) + " " + kept;
  std::vector<std::string> wanted;
  if (const auto firewall = RdmaFirewall::Parse(expected); firewall.ok()) wanted = Described(*firewall);
  for (const auto& line : wanted)
    if (std::find(seen.begin(), seen.end(), line) == seen.end())
      reading.differences.push_back("missing: " + line);
  for (const auto& line : seen)
    if (std::find(wanted.begin(), wanted.end(), line) == wanted.end())
      reading.differences.push_back((wanted.empty() ? "" : "too much: ") + line);
  if (reading.differences.empty())
    reading.differences.emplace_back("the rules stand in another order, or twice");
  return reading;
}

}  // namespace

std::string PortRange::Text() const { return std::string(Name(protocol)) + " " + Numbers(*this); }

Result<RdmaFirewallWish> RdmaFirewallWish::Parse(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return Status(Code::kInvalidArgument,
                  Quoted(text) + " " + why +
                      "; allowed: allow, and ports as udp:4791 or tcp:18515-18530, each 1…65535");
  };
  RdmaFirewallWish wish;
  const auto words = Words(text, " \t,");
  if (words.empty()) return refuse("is empty");
  for (const std::string_view word : words) {
    if (word == "allow") {
      wish.allow = true;
      continue;
    }
    const bool udp = word.starts_with("udp:");
    if (!udp && !word.starts_with("tcp:")) return refuse("holds " + Quoted(word));
    const auto range = ParseNumbers(udp ? PortProtocol::kUdp : PortProtocol::kTcp, word.substr(4));
    if (!range.ok()) return refuse("holds " + Quoted(word));
    wish.ports.push_back(*range);
  }
  wish.ports = Merged(std::move(wish.ports));
  if (wish.allow) std::erase_if(wish.ports, [](const PortRange& one) { return Covers(DefaultPorts(), one); });
  return wish;
}

std::string RdmaFirewallWish::Text() const {
  std::vector<std::string> words;
  if (allow) words.emplace_back("allow");
  for (const PortRange& range : ports)
    words.push_back(std::string(Name(range.protocol)) + ":" + Numbers(range));
  return Joined(words, ",");
}

std::vector<PortRange> RdmaFirewallWish::AllPorts() const {
  std::vector<PortRange> all = ports;
  if (allow)
    for (const PortRange& range : DefaultPorts()) all.push_back(range);
  return Merged(std::move(all));
}

Result<RdmaFirewall> RdmaFirewall::For(const std::vector<std::string>& subnets,
                                       const std::vector<PortRange>& ports) {
  std::vector<Cidr> networks;
  for (const auto& text : subnets) {
    RW_ASSIGN_OR_RETURN(const Cidr network, Cidr::Parse(text));
    if (network.length == 0)
      return Status(Code::kInvalidArgument, Quoted(text) + " is everybody, no subnet of a fabric");
    networks.push_back(network);
  }
  RdmaFirewall firewall;
  for (const Cidr& network : OutermostNetworks(networks)) firewall.sources.push_back(network.Text());
  firewall.ports = Merged(ports);
  return firewall;
}

std::string RdmaFirewall::Text() const {
  std::vector<std::string> texts;
  for (const PortRange& range : ports) texts.push_back(range.Text());
  return "from " + Joined(sources, ",") + ": " + Joined(texts, ", ");
}

Result<RdmaFirewall> RdmaFirewall::Parse(std::string_view text) {
  const Status bad(Code::kInvalidArgument, Quoted(text) + " is no firewall of ours");
  const auto colon = text.find(": ");
  if (!text.starts_with("from ") || colon == std::string_view::npos) return bad;
  std::vector<std::string> subnets;
  for (const auto word : Words(text.substr(5, colon - 5), ",")) subnets.emplace_back(word);
  std::vector<PortRange> ports;
  const auto words = Words(text.substr(colon + 2), " ,");
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] != "udp" && words[i] != "tcp") return bad;
    RW_ASSIGN_OR_RETURN(
        const PortRange range,
        ParseNumbers(words[i] == "udp" ? PortProtocol::kUdp : PortProtocol::kTcp, words[i + 1]));
    ports.push_back(range);
  }
  if (words.size() % 2 != 0 || ports.empty() || subnets.empty()) return bad;
  return For(subnets, ports);
}

std::string RdmaFirewall::Transaction() const {
  Json commands = ReplacedTable();
  Json elements[2] = {Json::array(), Json::array()};
  for (const auto& source : sources)
    elements[source.find(':') == std::string::npos ? 0 : 1].push_back(Element(source));
  struct Family {
    const char* set;
    const char* type;
    const char* protocol;
  };
  constexpr Family kFamilies[2] = {{"fabric4", "ipv4_addr", "ip"}, {"fabric6", "ipv6_addr", "ip6"}};
  commands.push_back(Add(
      "chain",
      {{"name", kChain}, {"type", "filter"}, {"hook", "input"}, {"prio", kPriority}, {"policy", "accept"}}));
  for (int i = 0; i < 2; ++i)
    if (!elements[i].empty())
      commands.push_back(Add("set", {{"name", kFamilies[i].set},
                                     {"type", kFamilies[i].type},
                                     {"flags", Json::array({"interval"})},
                                     {"elem", elements[i]}}));
  for (const PortRange& range : ports) {
    const Json numbers = range.first == range.last ? Json(range.first)
                                                   : Json{{"range", Json::array({range.first, range.last})}};
    for (int i = 0; i < 2; ++i) {
      if (elements[i].empty()) continue;
      Json expr = Json::array({Match(kFamilies[i].protocol, "saddr", std::string("@") + kFamilies[i].set),
                               Match(std::string(Name(range.protocol)).c_str(), "dport", numbers),
                               Json{{"counter", {{"packets", 0}, {"bytes", 0}}}}, Json{{"accept", nullptr}}});
      commands.push_back(Add("rule", {{"chain", kChain},
                                      {"comment", std::string(kCommentPrefix) + Label(range)},
                                      {"expr", std::move(expr)}}));
    }
  }
  return Document(std::move(commands));
}

Result<RdmaFirewallReading> ReadRdmaFirewall(std::string_view json, std::string_view expected) {
  try {
    return ReadParsed(Json::parse(json), json, expected);
  } catch (const std::exception& error) {
    return Status(Code::kInvalidArgument, std::string("the table's JSON: ") + error.what());
  }
}

Result<std::string> OtherTableTransaction(std::string_view value) {
  const auto begins = value.rfind(kJsonBegins);
  if (!value.starts_with(kOther) || begins == std::string_view::npos)
    return Status(Code::kInvalidArgument, Quoted(value) + " is no kept table");
  try {
    Json commands = ReplacedTable();
    std::vector<Json> objects = Restorable(Json::parse(value.substr(begins + 1)));
    // Made once, with the flags that it had.
    if (!objects.empty() && objects.front().begin().key() == "table") commands.erase(commands.size() - 1);
    for (Json& object : objects) commands.push_back(Json{{"add", std::move(object)}});
    return Document(std::move(commands));
  } catch (const std::exception& error) {
    return Status(Code::kInvalidArgument, std::string("a kept table: ") + error.what());
  }
}

}  // namespace railwright
