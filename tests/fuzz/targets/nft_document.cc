// Documents that are handed to nft: nothing may get past the check that a path changes one table only.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "agent/machine/nft_document.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;
using machine::NftTableName;
using Json = nlohmann::json;

namespace {

const NftTableName kOurs{"inet", "railwright"};
// libnftables-json(5), "COMMAND OBJECTS" and "RULESET ELEMENTS".
const std::set<std::string> kVerbs{"add",  "replace", "create", "insert", "delete",  "destroy",
                                   "list", "reset",   "flush",  "rename", "describe"};
const std::set<std::string> kKinds{"table",   "chain",     "rule",      "set",        "map",
                                   "element", "flowtable", "counter",   "quota",      "limit",
                                   "secmark", "synproxy",  "ct helper", "ct timeout", "ct expectation"};

bool Names(const std::string& kind, const Json& body, const NftTableName& table) {
  const char* key = kind == "table" ? "name" : "table";
  return body.is_object() && body.value("family", Json()) == table.first &&
         body.value(key, Json()) == table.second;
}

// What nft itself makes of one entry: a command on an object, or an object alone, which is an "add".
bool TouchesOnly(const Json& entry, const NftTableName& table) {
  if (!entry.is_object() || entry.size() != 1) return false;
  const std::string& key = entry.begin().key();
  const Json& body = entry.begin().value();
  if (key == "metainfo") return true;
  if (!kVerbs.contains(key)) return Names(key, body, table);
  return body.is_object() && body.size() == 1 && Names(body.begin().key(), body.begin().value(), table);
}

Json Parsed(std::string text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded()) return json;
  for (char& c : text)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return Json::parse(text, nullptr, false);
}

bool Ordinary(const std::string& objects) {
  const Json list = Json::parse(objects);
  return std::all_of(list.begin(), list.end(),
                     [](const Json& object) { return kKinds.contains(object.begin().key()); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string listing(input.Part());
  const std::string value(input.Rest());

  const auto transaction = machine::Transaction(value, kOurs);
  if (transaction.ok()) {
    const Json document = Parsed(*transaction);
    ALWAYS(document.is_object() && document.contains("nftables"), *transaction, value);
    for (const Json& entry : document["nftables"]) ALWAYS(TouchesOnly(entry, kOurs), entry.dump(), value);
  }

  const auto before = machine::SplitByTable(listing);
  if (!before.ok()) return 0;
  for (const auto& [name, objects] : *before) {
    ALWAYS(objects.size() <= 8 * (size + 8), objects, listing);
    // What was read may be written back.
    if (!name.first.empty() && !name.second.empty() && Ordinary(objects))
      ALWAYS(machine::Transaction(objects, name).ok(), objects, listing);
  }
  const auto applied = machine::ApplyInMemory(listing, value, kOurs);
  if (!applied.ok()) return 0;
  const auto after = machine::SplitByTable(*applied);
  ALWAYS(after.ok(), *applied, listing);
  for (const auto& [name, objects] : *before)
    if (name != kOurs) ALWAYS(after->contains(name) && after->at(name) == objects, objects, *applied);
  return 0;
}
