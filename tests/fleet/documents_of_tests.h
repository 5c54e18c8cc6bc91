// Short ways to say documents in the tests of the fleet.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/fleet/resolve.h"

namespace railwright {

/// The documents of several files, in order; a problem in one fails the test.
inline std::vector<Document> Documents(const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<Document> out;
  for (const auto& [file, text] : files) {
    Loaded loaded = LoadDocuments(file, text);
    for (const Problem& problem : loaded.problems)
      ADD_FAILURE() << problem.ToString() << "\n" << problem.excerpt;
    for (Document& document : loaded.documents) out.push_back(std::move(document));
  }
  return out;
}

inline const CatalogDeclarations& Declarations() {
  static const CatalogDeclarations declarations;
  return declarations;
}

/// What resolves; problems fail the test.
inline Resolved Good(const std::vector<std::pair<std::string, std::string>>& files,
                     ResolveOptions options = {}) {
  auto result = Resolve(Documents(files), Declarations(), options);
  if (auto* problems = std::get_if<std::vector<Problem>>(&result)) {
    for (const Problem& problem : *problems) ADD_FAILURE() << problem.ToString() << "\n" << problem.excerpt;
    return {};
  }
  return std::get<Resolved>(std::move(result));
}

/// The sentences of what does not.
inline std::vector<std::string> Problems(const std::vector<std::pair<std::string, std::string>>& files,
                                         ResolveOptions options = {}) {
  const auto result = Resolve(Documents(files), Declarations(), options);
  std::vector<std::string> out;
  if (const auto* problems = std::get_if<std::vector<Problem>>(&result))
    for (const Problem& problem : *problems) out.push_back(problem.ToString());
  return out;
}

/// "rail0=4200 rail1=4200": a key's values by target, "-" for the node; observed ones in brackets.
inline std::string Values(const Resolved& resolved, const std::string& node, std::string_view key) {
  std::string out;
  for (const SettingSpec& spec : resolved.nodes.at(node).settings) {
    if (spec.key != key) continue;
    const std::string value = spec.mode == Mode::kEnforce ? spec.value : "(" + spec.value + ")";
    out += (out.empty() ? "" : " ") + (spec.target.empty() ? "-" : spec.target) + "=" + value;
  }
  return out;
}

}  // namespace railwright
