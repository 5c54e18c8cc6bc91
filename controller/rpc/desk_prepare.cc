// What an order would make of the fleet: parsed, resolved and hashed before anything is stored.
#include <algorithm>

#include "controller/rpc/admin_desk.h"
#include "controller/rpc/stored_state.h"
#include "core/wire/wire.h"

namespace railwright {
namespace {

std::vector<StoredDocument> ToStored(const std::vector<Document>& documents) {
  std::vector<StoredDocument> stored;
  for (const Document& d : documents) stored.push_back({d.kind, d.name, d.file, d.line, d.text});
  return stored;
}

/// What is hashed: each field with its length, so that no two different plans give the same bytes.
class Canonical {
 public:
  Canonical& Text(std::string_view text) {
    bytes_ += std::to_string(text.size());
    bytes_ += ':';
    bytes_ += text;
    return *this;
  }
  Canonical& Number(std::uint64_t number) { return Text(std::to_string(number)); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace

std::string PlanHash(const FleetState& base, const FleetState& next, const v1::PlanResult& result) {
  Canonical all;
  all.Number(base.number());
  if (next.stored.try_for.count() > 0)
    all.Text("try").Number(static_cast<std::uint64_t>(next.stored.try_for.count()));
  for (const Document& document : next.documents) all.Text(document.id()).Text(document.text);
  for (const v1::ReleasedKey& released : result.released())
    all.Text(released.node()).Text(released.key()).Text(released.target()).Number(released.restore() ? 1 : 0);
  for (const v1::Plan& plan : result.nodes()) {
    all.Text(plan.node()).Number(static_cast<std::uint64_t>(plan.steps_size()));
    for (const v1::Step& step : plan.steps()) {
      all.Text(step.key()).Text(step.target()).Text(step.from()).Text(step.to());
      all.Number(static_cast<std::uint64_t>(step.disruption()))
          .Number(static_cast<std::uint64_t>(step.mode()));
      all.Text(step.refused()).Number(step.next_boot() ? 1 : 0);
      all.Number(static_cast<std::uint64_t>(step.blast_size()));
      for (const std::string& blast : step.blast()) all.Text(blast);
    }
  }
  return StateHash(all.bytes(), {});
}

std::shared_ptr<FleetState> AdminDesk::NextState(const FleetView& view, std::vector<Document> documents,
                                                 Resolved resolved, bool restore) const {
  auto next = std::make_shared<FleetState>();
  // Above every number that an agent remembers, so that a restored controller never asks one to go back.
  next->stored.generation = {std::max(view.state->number(), view.highest_generation) + 1};
  next->stored.created = clock_.WallNow();
  next->stored.documents = ToStored(documents);
  next->stored.restores = Restores(view.state->stored.restores, view.state->resolved, resolved, restore);
  next->stored.nodes = resolved.nodes.size();
  next->stored.settings = CountSettings(resolved);
  next->documents = std::move(documents);
  next->resolved = std::move(resolved);
  next->desired = BuildDesired(next->resolved, next->stored.restores);
  return next;
}

AdminDesk::Refused AdminDesk::Refuse(const std::vector<Problem>& problems) {
  Refused refused(Status(Code::kInvalidArgument, Text(problems)));
  for (const Problem& problem : problems) refused.problems.push_back(problem.ToString());
  return refused;
}

AdminDesk::Preparation AdminDesk::Prepare(const google::protobuf::RepeatedPtrField<v1::SourceFile>& files,
                                          bool prune, bool restore, bool allow_empty) const {
  const auto view = core_.view();
  Prepared prepared;
  prepared.base = view->state;
  std::vector<Document> given;
  std::vector<Problem> problems;
  for (const v1::SourceFile& file : files) {
    Loaded loaded = LoadDocuments(file.name(), file.text());
    problems.insert(problems.end(), loaded.problems.begin(), loaded.problems.end());
    for (Document& document : loaded.documents) given.push_back(std::move(document));
  }
  if (!problems.empty()) return Refuse(problems);
  if (given.empty() && !(prune && allow_empty))
    return Refused(
        Status(Code::kInvalidArgument, files.empty() ? "no files were given"
                                                     : "no document in " + files.Get(0).name() +
                                                           (files.size() > 1 ? " and the other files" : "")));
  if (prepared.base->documents.empty() && !prepared.base->problem.empty() && !prune)
    return Refused(
        Status(Code::kFailedPrecondition,
               "the documents in force cannot be read, so none can be kept: apply all documents with "
               "--prune.\n" +
                   prepared.base->problem));
  auto changes = ApplyDocuments(prepared.base->documents, std::move(given), prune);
  if (auto* bad = std::get_if<std::vector<Problem>>(&changes)) return Refuse(*bad);
  prepared.changes = std::move(std::get<DocumentChanges>(changes));
  auto resolved = Resolve(prepared.changes.next, catalog_, {.allow_empty = allow_empty});
  if (auto* bad = std::get_if<std::vector<Problem>>(&resolved)) return Refuse(*bad);
  Resolved& after = std::get<Resolved>(resolved);
  const Resolved& before = prepared.base->resolved;
  for (const auto& [node, what] : Released(before, after)) {
    v1::ReleasedKey& one = prepared.released.emplace_back();
    one.set_node(node);
    one.set_key(what.key);
    one.set_target(what.target);
    one.set_restore(restore);
  }
  for (const std::string& node : RemovedNodes(before, after))
    for (const SettingSpec& spec : before.nodes.at(node).settings) {
      v1::ReleasedKey& one = prepared.released.emplace_back();
      one.set_node(node);
      one.set_key(spec.key);
      one.set_target(spec.target);
    }
  prepared.next = NextState(*view, prepared.changes.next, std::move(after), restore);
  // Agents that are ahead (a restored backup) need a higher number even for the same documents; and an apply
  // without --try takes back the word that an earlier one gave.
  prepared.unchanged = prepared.changes.empty() && prepared.base->number() > 0 &&
                       prepared.base->stored.try_for.count() == 0 && prepared.base->problem.empty() &&
                       view->highest_generation <= prepared.base->number();
  return prepared;
}

AdminDesk::Preparation AdminDesk::PrepareRollback(const v1::RollbackRequest& request) const {
  const auto view = core_.view();
  Prepared prepared;
  prepared.base = view->state;
  std::uint64_t to = request.to_generation();
  if (to == 0) {
    const auto newest = store_.Generations(2);
    if (!newest.ok()) return Refused(newest.status());
    if (newest->size() < 2)
      return Refused(Status(Code::kNotFound, "there is no generation before the present one to go back to"));
    to = (*newest)[1].generation.value;
  }
  const auto old = store_.GetGeneration({to});
  if (!old.ok()) return Refused(old.status());
  auto documents = ParseStored(*old);
  if (auto* bad = std::get_if<std::vector<Problem>>(&documents)) return Refuse(*bad);
  auto resolved = Resolve(std::get<std::vector<Document>>(documents), catalog_, {.allow_empty = true});
  if (auto* bad = std::get_if<std::vector<Problem>>(&resolved)) return Refuse(*bad);
  auto next = NextState(*view, std::move(std::get<std::vector<Document>>(documents)),
                        std::move(std::get<Resolved>(resolved)), request.restore());
  next->stored.rolled_back_from = {to};
  next->stored.comment = "content of generation " + std::to_string(to);
  prepared.next = std::move(next);
  return prepared;
}

AdminDesk::Preparation AdminDesk::WithTry(Preparation preparation, std::uint32_t try_ms) {
  const std::chrono::milliseconds try_for(try_ms);
  if (try_ms == 0 || std::holds_alternative<Refused>(preparation)) return preparation;
  if (try_for < kShortestTry || try_for > kLongestTry)
    return Refused(
        Status(Code::kInvalidArgument, "a try lasts 30 s to 15 min, not " + std::to_string(try_ms) + " ms"));
  Prepared& prepared = std::get<Prepared>(preparation);
  auto next = std::make_shared<FleetState>(*prepared.next);
  next->stored.try_for = try_for;
  next->desired = BuildDesired(next->resolved, next->stored.restores, try_for);
  prepared.next = std::move(next);
  prepared.unchanged = false;
  return preparation;
}

std::vector<std::string> AdminDesk::SkewWarnings(const FleetView& view, const Resolved& resolved) const {
  // The agent's word is final (its plan says what it refuses); this tells beforehand whom to look at.
  std::map<std::string, std::vector<std::string>> by_version;
  for (const auto& [name, node] : resolved.nodes) {
    const NodeView* known = view.Find(name);
    if (known && known->connected && !known->catalog_hash.empty() && known->catalog_hash != catalog_.hash())
      by_version[known->agent_version].push_back(name);
  }
  std::vector<std::string> warnings;
  for (const auto& [version, names] : by_version)
    warnings.push_back(FoldNames(names) + ": railwright-agent " + version +
                       " knows other settings than this controller; what it does not know it will refuse");
  return warnings;
}

}  // namespace railwright
