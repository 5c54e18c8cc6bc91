// Documents of a whole cluster, resolved for every node by the catalogue of this build.
#include "controller/fleet/resolve.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const CatalogDeclarations catalog;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Loaded loaded = LoadDocuments("f", text);
  const auto result = Resolve(loaded.documents, catalog);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&result)) {
    ALWAYS(!problems->empty(), text);
    for (const Problem& problem : *problems) {
      ALWAYS(!problem.message.empty() && problem.message.size() <= 8192, problem.message, text);
      ALWAYS(problem.line >= 0 && problem.line <= static_cast<int>(size) + 1, problem.ToString(), text);
    }
    return 0;
  }
  const auto& resolved = std::get<Resolved>(result);
  ALWAYS(!resolved.nodes.empty() && resolved.nodes.size() <= 100'000, text);
  // Terms under which some node would never be changed are none.
  if (const auto& terms = resolved.rollout)
    ALWAYS(!terms->waves.empty() &&
               (terms->waves.back().kind == Wave::Kind::kAll ||
                terms->waves.back().kind == Wave::Kind::kRacks) &&
               terms->UnavailableMost(resolved.nodes.size()) >= 1,
           text);
  int count = 0;
  for (const auto& [name, node] : resolved.nodes) {
    if (++count > 50) break;
    ALWAYS(node.node.name == name && node.settings.size() == node.layers.size(), name, text);
    const KeyTarget* last = nullptr;
    KeyTarget kept;
    for (const SettingSpec& spec : node.settings) {
      // What is pushed to a node is spelled as the catalogue spells it, sorted, each once.
      const auto canonical = catalog.Canonical(spec.key, spec.value);
      ALWAYS(canonical.ok() && *canonical == spec.value, spec.key, spec.value);
      const KeyTarget here{spec.key, spec.target};
      ALWAYS(last == nullptr || *last < here, spec.key, text);
      kept = here;
      last = &kept;
      const auto layers = node.layers.find(here);
      ALWAYS(layers != node.layers.end() && !layers->second.empty() && layers->second[0].value == spec.value,
             spec.key, text);
    }
  }
  return 0;
}
