#include "controller/rpc/stored_state.h"

#include <algorithm>

namespace railwright {

std::string Text(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += problem.ToString();
    if (!problem.excerpt.empty()) text += '\n' + problem.excerpt;
  }
  return text;
}

std::variant<std::vector<Document>, std::vector<Problem>> ParseStored(const StoredGeneration& stored) {
  std::vector<Document> documents;
  std::vector<Problem> problems;
  for (const StoredDocument& one : stored.documents) {
    Loaded loaded = LoadDocuments(one.file, one.text, std::max(one.line, 1));
    problems.insert(problems.end(), loaded.problems.begin(), loaded.problems.end());
    for (Document& document : loaded.documents) documents.push_back(std::move(document));
  }
  if (!problems.empty()) return problems;
  return documents;
}

std::shared_ptr<const FleetState> ResolveStored(StoredGeneration stored, const CatalogDeclarations& catalog) {
  auto state = std::make_shared<FleetState>();
  state->stored = std::move(stored);
  const auto cannot = [&](const std::vector<Problem>& problems) {
    state->problem = "generation " + std::to_string(state->number()) +
                     " cannot be resolved by this controller, so agents keep what they have; apply corrected "
                     "documents. The problems:\n" +
                     Text(problems);
    return state;
  };
  auto documents = ParseStored(state->stored);
  if (auto* problems = std::get_if<std::vector<Problem>>(&documents)) return cannot(*problems);
  state->documents = std::move(std::get<std::vector<Document>>(documents));
  auto resolved = Resolve(state->documents, catalog, {.allow_empty = true});
  if (auto* problems = std::get_if<std::vector<Problem>>(&resolved)) return cannot(*problems);
  state->resolved = std::move(std::get<Resolved>(resolved));
  state->desired = BuildDesired(state->resolved, state->stored.restores, state->stored.try_for);
  return state;
}

}  // namespace railwright
