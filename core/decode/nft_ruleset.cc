#include "core/decode/nft_ruleset.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "core/decode/nft_json.h"

namespace railwright::nft {
namespace {

/// A priority as a number, or as nft's words ("filter", "dstnat", "mangle - 5") in hand-written input.
std::int64_t ReadPriority(const Json& chain) {
  auto it = chain.find("prio");
  if (it == chain.end()) return 0;
  if (it->is_number_integer()) return it->get<std::int64_t>();
  if (!it->is_string()) return 0;
  const std::string& text = it->get_ref<const std::string&>();
  static const std::map<std::string, std::int64_t, std::less<>> kWords = {
      {"raw", -300}, {"mangle", -150}, {"dstnat", -100}, {"filter", 0}, {"security", 50}, {"srcnat", 100}};
  std::string::size_type end = text.find_first_of(" +-");
  std::int64_t base = 0;
  std::string rest = text;
  if (auto word = kWords.find(text.substr(0, end)); word != kWords.end()) {
    base = word->second;
    rest = end == std::string::npos ? "" : text.substr(end);
  }
  std::erase(rest, ' ');
  if (!rest.empty() && rest[0] == '+') rest.erase(0, 1);
  std::int64_t offset = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), offset);
  return base + offset;
}

class Reader {
 public:
  Ruleset Read(const Json& objects) {
    // Chains and sets may be printed after the rules that name them, so rules come last.
    for (const Json& entry : objects) ReadObject(entry, false);
    for (const Json& entry : objects) ReadObject(entry, true);
    return std::move(ruleset_);
  }

 private:
  void Skip(std::string what) {
    if (std::find(ruleset_.skipped.begin(), ruleset_.skipped.end(), what) == ruleset_.skipped.end())
      ruleset_.skipped.push_back(std::move(what));
  }

  void ReadObject(const Json& entry, bool rules) {
    if (!entry.is_object() || entry.empty()) {
      if (!rules) Skip("an entry that is no object");
      return;
    }
    const std::string& key = entry.begin().key();
    const Json& body = entry.begin().value();
    if (key == "add" || key == "create" || key == "insert") {
      if (body.is_object() && !body.empty())
        ReadBody(body.begin().key(), body.begin().value(), rules, key == "insert");
    } else if (key != "flush" && key != "delete" && key != "destroy") {
      ReadBody(key, body, rules, false);
    }
  }

  void ReadBody(const std::string& key, const Json& body, bool rules, bool first) {
    if (rules != (key == "rule")) return;
    if (!body.is_object()) return Skip(key + " that is no object");
    if (key == "metainfo") {
      ruleset_.version = TextOf(body, "version");
      return;
    }
    std::string family = TextOf(body, "family");
    std::string name = TextOf(body, "name");
    if (key == "table") {
      if (family.empty() || name.empty()) return Skip("table without family or name");
      Table& table = TableOf(family, name);
      table.handle = NumberOf(body, "handle");
      table.flags = TextsOf(body, "flags");
      return;
    }
    std::string in = TextOf(body, "table");
    if (key != "rule" && key != "chain" && key != "set" && key != "map" && key != "element") return Skip(key);
    if (family.empty() || in.empty() || (name.empty() && key != "rule"))
      return Skip(key + " without family, table or name");
    Table& table = TableOf(family, in);
    if (key == "chain") ReadChain(body, ChainOf(table, name));
    if (key == "set" || key == "map") ReadSet(body, SetOf(table, name));
    if (key == "element") {
      Set& set = SetOf(table, name);
      for (Expression& one : ReadElements(body.value("elem", Json()), set.is_map(), 0))
        set.elements.push_back(std::move(one));
    }
    if (key != "rule") return;
    std::string chain = TextOf(body, "chain");
    if (chain.empty()) return Skip("rule without chain");
    Rule rule{.handle = NumberOf(body, "handle"), .comment = TextOf(body, "comment"), .statements = {}};
    if (auto it = body.find("expr"); it != body.end() && it->is_array())
      for (const Json& one : *it) rule.statements.push_back(ReadStatement(one));
    std::vector<Rule>& list = ChainOf(table, chain).rules;
    list.insert(first ? list.begin() : list.end(), std::move(rule));
  }

  static void ReadChain(const Json& body, Chain& chain) {
    chain.handle = NumberOf(body, "handle");
    chain.type = TextOf(body, "type");
    chain.hook = TextOf(body, "hook");
    chain.priority = ReadPriority(body);
    chain.policy = TextOf(body, "policy");
    if (chain.policy.empty() && chain.is_base()) chain.policy = "accept";
    chain.devs = TextsOf(body, "dev");
  }

  static void ReadSet(const Json& body, Set& set) {
    set.handle = NumberOf(body, "handle");
    set.key_types = TextsOf(body, "type");
    set.value_type = TextOf(body, "map");
    set.flags = TextsOf(body, "flags");
    if (auto it = body.find("elem"); it != body.end()) set.elements = ReadElements(*it, set.is_map(), 0);
  }

  template <class T>
  static T& Named(std::vector<T>& list, const std::string& name) {
    for (T& one : list)
      if (one.name == name) return one;
    list.emplace_back();
    list.back().name = name;
    return list.back();
  }
  static Chain& ChainOf(Table& table, const std::string& name) { return Named(table.chains, name); }
  static Set& SetOf(Table& table, const std::string& name) { return Named(table.sets, name); }
  Table& TableOf(const std::string& family, const std::string& name) {
    for (Table& one : ruleset_.tables)
      if (one.family == family && one.name == name) return one;
    ruleset_.tables.emplace_back();
    ruleset_.tables.back().family = family;
    ruleset_.tables.back().name = name;
    return ruleset_.tables.back();
  }

  Ruleset ruleset_;
};

}  // namespace

const Chain* Table::FindChain(std::string_view chain) const {
  for (const Chain& one : chains)
    if (one.name == chain) return &one;
  return nullptr;
}

const Set* Table::FindSet(std::string_view set) const {
  for (const Set& one : sets)
    if (one.name == set) return &one;
  return nullptr;
}

const Table* Ruleset::FindTable(std::string_view family, std::string_view name) const {
  for (const Table& one : tables)
    if (one.family == family && one.name == name) return &one;
  return nullptr;
}

namespace {

Result<Ruleset> Decode(std::string_view json) {
  const Json document = Json::parse(json);
  const Json* objects = &document;
  if (document.is_object()) {
    auto it = document.find("nftables");
    if (it == document.end())
      return Status(Code::kInvalidArgument, "nft JSON: no \"nftables\" in the outermost object");
    objects = &*it;
  }
  if (!objects->is_array())
    return Status(Code::kInvalidArgument,
                  std::string("nft JSON: a list of objects is expected, found ") + objects->type_name());
  return Reader().Read(*objects);
}

/// The kernel takes any bytes as comment or name, nft prints them as they are, and JSON has no way to say
/// them.
std::string WithoutForeignBytes(std::string_view json) {
  std::string text(json);
  for (char& c : text)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return text;
}

}  // namespace

Result<Ruleset> DecodeRuleset(std::string_view json) {
  try {
    try {
      return Decode(json);
    } catch (const Json::parse_error&) {
      std::string cleaned = WithoutForeignBytes(json);
      if (cleaned == json) throw;
      return Decode(cleaned);
    }
  } catch (const Json::parse_error& error) {
    return Status(Code::kInvalidArgument, "nft JSON: not valid JSON at byte " + std::to_string(error.byte) +
                                              " of " + std::to_string(json.size()));
  } catch (const TooDeep&) {
    return Status(Code::kInvalidArgument,
                  "nft JSON: an expression nests deeper than " + std::to_string(kMaxDepth));
  } catch (const std::exception& error) {
    return Status(Code::kInternal, std::string("nft JSON: ") + error.what());
  }
}

}  // namespace railwright::nft
