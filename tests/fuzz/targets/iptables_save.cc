// iptables-save, and telling an `iptables -L` listing apart.
#include <algorithm>

#include "core/decode/iptables_save.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  (void)IsIptablesListing(text);
  for (const std::string_view family : {"ip", "ip6"}) {
    const auto save = DecodeIptablesSave(text, family);
    if (!save.ok()) {
      ALWAYS(save.status().code() == Code::kInvalidArgument, save.status().message());
      ALWAYS(save.status().message().find("line ") != std::string::npos, save.status().message());
      continue;
    }
    for (const nft::Table& table : save->ruleset.tables) {
      ALWAYS(table.family == family, text);
      for (const nft::Chain& chain : table.chains)
        for (const nft::Rule& rule : chain.rules) {
          ALWAYS(rule.handle >= 1 && rule.handle <= lines, text);
          ALWAYS(!rule.statements.empty() || nft::Text(rule).empty(), text);
          ALWAYS(nft::Text(rule).size() <= 64 * (size + 1), nft::Text(rule), text);
        }
    }
  }
  return 0;
}
