#include "controller/cli/would_change.h"

#include "controller/cli/fleet_view.h"

namespace railwright::cli {
namespace {

constexpr std::size_t kKeysNamed = 8;  // the rest stands in the table above the sentence

}  // namespace

void WouldChange::Add(std::string_view reason, const std::string& node, const std::string& key) {
  if (reason != "ObserveMode") return;
  ++values;
  nodes.insert(node);
  keys.insert(key);
}

std::string WouldChange::Sentence() const {
  if (values == 0) return "";
  std::string named;
  std::size_t count = 0;
  for (const std::string& key : keys) {
    if (count++ == kKeysNamed) break;
    named += (named.empty() ? "" : ", ") + key;
  }
  if (keys.size() > kKeysNamed) named += " and " + std::to_string(keys.size() - kKeysNamed) + " more";
  return "in mode observe: " + std::to_string(values) + (values == 1 ? " value on " : " values on ") +
         NodesText({nodes.begin(), nodes.end()}) + " would be changed; switch on with mode: enforce for " +
         named;
}

nlohmann::ordered_json WouldChange::ToJson() const {
  return {{"values", values}, {"nodes", nodes}, {"keys", keys}};
}

}  // namespace railwright::cli
