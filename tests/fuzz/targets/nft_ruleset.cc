// `nft -j list ruleset`: the decoder, the quick look at table names, and the text of what was decoded.
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/decode/nft_ruleset.h"
#include "core/decode/nft_tables.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

// The table objects of a text that a printer of JSON may have made: one spelling, no key twice. Nothing for
// other texts, of which two parsers may rightly think differently.
std::optional<Names> Printed(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || json.size() != 1 || !json.contains("nftables") ||
      !json["nftables"].is_array())
    return std::nullopt;
  std::string compact;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') return std::nullopt;
    if (text[i] == '"') quoted = !quoted;
    if (quoted || std::string_view(" \t\r\n").find(text[i]) == std::string_view::npos) compact += text[i];
  }
  if (json.dump() != compact) return std::nullopt;
  Names names;
  for (const auto& object : json["nftables"]) {
    if (!object.is_object()) return std::nullopt;
    for (const auto& [key, body] : object.items())
      if (key == "table" && body.is_object()) {
        if (!body.contains("family") || !body["family"].is_string() || !body.contains("name") ||
            !body["name"].is_string())
          return std::nullopt;
        names.emplace_back(body["family"], body["name"]);
      }
  }
  return names;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto names = nft::TableNames(text);
  const auto printed = Printed(text);
  if (names && printed) ALWAYS(*names == *printed, text);
  const auto ruleset = nft::DecodeRuleset(text);
  if (!ruleset.ok()) {
    ALWAYS(ruleset.status().code() == Code::kInvalidArgument, ruleset.status().message(), text);
    return 0;
  }
  std::set<std::pair<std::string, std::string>> seen;
  for (const nft::Table& table : ruleset->tables) {
    ALWAYS(!table.family.empty() && !table.name.empty(), text);
    ALWAYS(seen.emplace(table.family, table.name).second, text);
    for (const nft::Chain& chain : table.chains) {
      ALWAYS(table.FindChain(chain.name) == &chain, text);
      ALWAYS(!chain.is_base() || !chain.policy.empty(), text);
      for (const nft::Rule& rule : chain.rules) {
        // A statement of a few bytes has a name; numbers have up to 20 digits.
        ALWAYS(nft::Text(rule).size() <= 32 * (size + 1), nft::Text(rule), text);
        ALWAYS(nft::Describe(table, chain, rule).find(chain.name) != std::string::npos, text);
      }
    }
    for (const nft::Set& set : table.sets)
      for (const nft::Expression& element : set.elements)
        ALWAYS(nft::Text(element).size() <= 32 * (size + 1), text);
  }
  return 0;
}
