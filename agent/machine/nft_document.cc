#include "agent/machine/nft_document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace railwright::machine {
namespace {

using Json = nlohmann::json;

/// Drops what changes without anybody changing the ruleset: the numbers of counters and quotas, the remaining
/// life of set elements. They keep their place.
void Strip(Json& object) {
  if (object.is_array()) {
    for (Json& one : object) Strip(one);
    return;
  }
  if (!object.is_object()) return;
  for (auto it = object.begin(); it != object.end(); ++it) {
    if (it->is_object() && it.key() == "counter") {
      it->erase("packets");
      it->erase("bytes");
      if (it->empty()) *it = nullptr;
      continue;
    }
    if (it->is_object() && it.key() == "quota") it->erase("used");
    if (it->is_object() && it.key() == "elem") it->erase("expires");
    Strip(*it);
  }
}

std::string TextOf(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

/// The table that an object is, or belongs to.
NftTableName TableOf(const std::string& kind, const Json& body) {
  return {TextOf(body, "family"), TextOf(body, kind == "table" ? "name" : "table")};
}

Status OneTableOnly(const NftTableName& wanted, const std::string& found) {
  return Status(Code::kInvalidArgument, "only table " + wanted.first + " " + wanted.second +
                                            " may be changed through this path, found: " + found);
}

Status CheckObject(const std::string& kind, const Json& body, const NftTableName& wanted) {
  if (!body.is_object()) return OneTableOnly(wanted, kind);
  const NftTableName found = TableOf(kind, body);
  if (found != wanted)
    return OneTableOnly(wanted, kind + " of table \"" + found.first + " " + found.second + "\"");
  return Ok();
}

/// What changes something (libnftables-json(5), "COMMAND OBJECTS"); any other word of an entry is the kind of
/// an object, which nft takes for an "add".
bool IsVerb(std::string_view word) {
  constexpr std::string_view kVerbs[] = {"add",     "replace", "create", "insert", "delete",
                                         "destroy", "flush",   "rename", "reset"};
  return std::find(std::begin(kVerbs), std::end(kVerbs), word) != std::end(kVerbs);
}

Status CheckCommands(const Json& commands, const NftTableName& wanted) {
  for (const Json& command : commands) {
    if (!command.is_object() || command.size() != 1)
      return OneTableOnly(wanted, "an entry that is no command");
    const std::string& verb = command.begin().key();
    const Json& body = command.begin().value();
    if (verb == "metainfo") continue;
    // Told by the word, not by what stands in the body: {"replace": {"family": …, "table": ours, "rule": {of
    // another table}}} is a command to nft, which reads no more of it than the rule.
    if (!IsVerb(verb)) {
      RW_RETURN_IF_ERROR(CheckObject(verb, body, wanted));
      continue;
    }
    if (!body.is_object() || body.size() != 1) return OneTableOnly(wanted, verb);
    RW_RETURN_IF_ERROR(CheckObject(body.begin().key(), body.begin().value(), wanted));
  }
  return Ok();
}

Json TableCommand(const char* verb, const NftTableName& table) {
  return {{verb, {{"table", {{"family", table.first}, {"name", table.second}}}}}};
}

/// Objects as a listing has them → the table deleted and made again, all in one transaction.
Json Remake(const Json& objects, const NftTableName& table) {
  Json commands = Json::array();
  commands.push_back(TableCommand("add", table));  // so that the delete finds one
  commands.push_back(TableCommand("delete", table));
  commands.push_back(TableCommand("add", table));
  // Elements and rules name sets and chains, which a listing prints in no dependable order.
  for (const bool rules : {false, true})
    for (const Json& object : objects) {
      const std::string& kind = object.begin().key();
      if (kind != "table" && kind != "metainfo" && rules == (kind == "rule"))
        commands.push_back({{"add", object}});
    }
  return commands;
}

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Result<Json> Parsed(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded()) return json;
  // Names and comments may hold any bytes; nft prints them as they are.
  std::string ascii(text);
  for (char& c : ascii)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  json = Json::parse(ascii, nullptr, false);
  if (json.is_discarded()) return Status(Code::kInvalidArgument, "not valid JSON");
  return json;
}

}  // namespace

Result<NftTables> SplitByTable(std::string_view listing) {
  RW_ASSIGN_OR_RETURN(Json document, Parsed(listing));
  const auto objects = document.is_object() ? document.find("nftables") : document.end();
  if (!document.is_object() || objects == document.end() || !objects->is_array())
    return Status(Code::kInternal, "nft listed something that is no ruleset");
  std::map<NftTableName, Json> tables;
  for (Json& object : *objects) {
    if (!object.is_object() || object.size() != 1 || !object.begin()->is_object()) continue;
    const std::string kind = object.begin().key();
    if (kind == "metainfo") continue;
    object.begin()->erase("handle");
    Strip(object);
    Json& list = tables[TableOf(kind, *object.begin())];
    if (list.is_null()) list = Json::array();
    list.push_back(std::move(object));
  }
  NftTables texts;
  for (const auto& [name, list] : tables) texts.emplace(name, Dump(list));
  return texts;
}

Result<std::string> Transaction(std::string_view value, const NftTableName& table) {
  RW_ASSIGN_OR_RETURN(Json document, Parsed(value));
  if (document.is_array()) {
    for (const Json& object : document)
      if (!object.is_object() || object.size() != 1) return OneTableOnly(table, "an entry that is no object");
    RW_RETURN_IF_ERROR(CheckCommands(document, table));
    return Dump({{"nftables", Remake(document, table)}});
  }
  const auto commands = document.is_object() ? document.find("nftables") : document.end();
  if (!document.is_object() || commands == document.end() || !commands->is_array())
    return Status(Code::kInvalidArgument, "expected {\"nftables\": [commands]}, or a list of objects");
  RW_RETURN_IF_ERROR(CheckCommands(*commands, table));
  return std::string(value);
}

namespace {

bool SameObject(const std::string& kind, const Json& a, const Json& b) {
  return kind != "rule" && TextOf(a, "name") == TextOf(b, "name");
}

/// One command on the objects of one table.
void Apply(Json& objects, const std::string& verb, const std::string& kind, const Json& body,
           const NftTableName& table) {
  auto in_table = [&](const Json& object) {
    return object.is_object() && object.size() == 1 && object.begin()->is_object() &&
           TableOf(object.begin().key(), *object.begin()) == table;
  };
  auto matches = [&](const Json& object) {
    return in_table(object) && object.begin().key() == kind && SameObject(kind, *object.begin(), body);
  };
  auto remove_if = [&](auto condition) {
    Json kept = Json::array();
    for (Json& object : objects)
      if (!condition(object)) kept.push_back(std::move(object));
    objects = std::move(kept);
  };
  if (verb == "add" || verb == "create" || verb == "insert") {
    if (kind == "element") {
      for (Json& object : objects)
        if (in_table(object) && (object.begin().key() == "set" || object.begin().key() == "map") &&
            TextOf(*object.begin(), "name") == TextOf(body, "name") && body.contains("elem"))
          for (const Json& one : body["elem"]) (*object.begin())["elem"].push_back(one);
      return;
    }
    for (const Json& object : objects)
      if (matches(object)) return;
    objects.insert(verb == "insert" ? objects.begin() : objects.end(), Json{{kind, body}});
  } else if (verb == "flush" && kind == "table") {
    remove_if([&](const Json& object) { return in_table(object) && object.begin().key() == "rule"; });
  } else if (verb == "flush" && kind == "chain") {
    remove_if([&](const Json& object) {
      return in_table(object) && object.begin().key() == "rule" &&
             TextOf(*object.begin(), "chain") == TextOf(body, "name");
    });
  } else if ((verb == "delete" || verb == "destroy") && kind == "table") {
    remove_if(in_table);
  } else if (verb == "delete" || verb == "destroy") {
    remove_if(matches);
  }
}

}  // namespace

Result<std::string> ApplyInMemory(std::string_view listing, std::string_view value,
                                  const NftTableName& table) {
  RW_ASSIGN_OR_RETURN(Json document, Parsed(listing));
  if (!document.is_object() || !document["nftables"].is_array())
    return Status(Code::kInternal, "what was listed is no ruleset");
  Result<std::string> transaction = value.empty() ? DeleteTable(table) : Transaction(value, table);
  if (!transaction.ok()) return transaction.status();
  RW_ASSIGN_OR_RETURN(const Json commands, Parsed(*transaction));
  for (const Json& command : commands["nftables"]) {
    const std::string& verb = command.begin().key();
    const Json& body = command.begin().value();
    if (verb == "metainfo") continue;
    if (!IsVerb(verb))
      Apply(document["nftables"], "add", verb, body, table);
    else
      Apply(document["nftables"], verb, body.begin().key(), body.begin().value(), table);
  }
  return Dump(document);
}

std::string DeleteTable(const NftTableName& table) {
  return Dump({{"nftables", Json::array({TableCommand("delete", table)})}});
}

}  // namespace railwright::machine
