// Orders of the admin desk: plan, apply, rollback, pause.
#include <algorithm>

#include "controller/rpc/admin_desk.h"
#include "controller/rpc/stored_state.h"
#include "core/wire/wire.h"
#include "railwright/explain.h"

namespace railwright {
namespace {

constexpr std::chrono::milliseconds kPlanDefault{10'000}, kPlanMost{600'000};
constexpr std::chrono::milliseconds kWaitDefault{600'000}, kWaitMost{86'400'000};
constexpr int kAttempts = 5;  // of an apply whose base was replaced while it was resolved

std::chrono::milliseconds Within(std::int64_t asked_ms, std::chrono::milliseconds usual,
                                 std::chrono::milliseconds most) {
  if (asked_ms <= 0) return usual;
  return std::min(std::chrono::milliseconds(std::min<std::int64_t>(asked_ms, most.count())), most);
}

Status Invalid(const std::vector<Problem>& problems) {
  return Status(Code::kInvalidArgument, Text(problems));
}

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

struct AdminDesk::ApplyJob {
  v1::ApplyRequest request;
  std::optional<v1::RollbackRequest> rollback;  // instead
  Sink<v1::ApplyEvent> sink;
  int attempts = 0;

  bool wait() const { return rollback ? rollback->wait() : request.wait(); }
  const std::string& author() const { return rollback ? rollback->author() : request.author(); }
  std::chrono::milliseconds timeout() const {
    return Within(rollback ? rollback->timeout_ms() : request.timeout_ms(), kWaitDefault, kWaitMost);
  }
};

std::string PlanHash(const FleetState& base, const FleetState& next, const v1::PlanResult& result) {
  Canonical all;
  all.Number(base.number());
  for (const Document& document : next.documents) all.Text(document.id()).Text(document.text);
  for (const v1::ReleasedKey& released : result.released())
    all.Text(released.node()).Text(released.key()).Text(released.target()).Number(released.restore() ? 1 : 0);
  for (const v1::Plan& plan : result.nodes()) {
    all.Text(plan.node()).Number(static_cast<std::uint64_t>(plan.steps_size()));
    for (const v1::Step& step : plan.steps()) {
      all.Text(step.key()).Text(step.target()).Text(step.from()).Text(step.to());
      all.Number(static_cast<std::uint64_t>(step.disruption()))
          .Number(static_cast<std::uint64_t>(step.mode()));
      all.Text(step.refused()).Number(static_cast<std::uint64_t>(step.blast_size()));
      for (const std::string& blast : step.blast()) all.Text(blast);
    }
  }
  return StateHash(all.bytes(), {});
}

void AdminDesk::Stop() {
  orders_.Stop();
  reads_.Stop();
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

Result<AdminDesk::Prepared> AdminDesk::Prepare(
    const google::protobuf::RepeatedPtrField<v1::SourceFile>& files, bool prune, bool restore,
    bool allow_empty) const {
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
  if (!problems.empty()) return Invalid(problems);
  if (given.empty() && !(prune && allow_empty))
    return Status(Code::kInvalidArgument, files.empty()
                                              ? "no files were given"
                                              : "no document in " + files.Get(0).name() +
                                                    (files.size() > 1 ? " and the other files" : ""));
  if (prepared.base->documents.empty() && !prepared.base->problem.empty() && !prune)
    return Status(Code::kFailedPrecondition,
                  "the documents in force cannot be read, so none can be kept: apply all "
                  "documents with --prune.\n" +
                      prepared.base->problem);
  auto changes = ApplyDocuments(prepared.base->documents, std::move(given), prune);
  if (auto* bad = std::get_if<std::vector<Problem>>(&changes)) return Invalid(*bad);
  prepared.changes = std::move(std::get<DocumentChanges>(changes));
  auto resolved = Resolve(prepared.changes.next, catalog_, {.allow_empty = allow_empty});
  if (auto* bad = std::get_if<std::vector<Problem>>(&resolved)) return Invalid(*bad);
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
  // Agents that are ahead (a restored backup) need a higher number even for the same documents.
  prepared.unchanged = prepared.changes.empty() && prepared.base->number() > 0 &&
                       prepared.base->problem.empty() && view->highest_generation <= prepared.base->number();
  return prepared;
}

Result<AdminDesk::Prepared> AdminDesk::PrepareRollback(const v1::RollbackRequest& request) const {
  const auto view = core_.view();
  Prepared prepared;
  prepared.base = view->state;
  std::uint64_t to = request.to_generation();
  if (to == 0) {
    RW_ASSIGN_OR_RETURN(const auto newest, store_.Generations(2));
    if (newest.size() < 2)
      return Status(Code::kNotFound, "there is no generation before the present one to go back to");
    to = newest[1].generation.value;
  }
  RW_ASSIGN_OR_RETURN(const StoredGeneration old, store_.GetGeneration({to}));
  auto documents = ParseStored(old);
  if (auto* bad = std::get_if<std::vector<Problem>>(&documents)) return Invalid(*bad);
  auto resolved = Resolve(std::get<std::vector<Document>>(documents), catalog_, {.allow_empty = true});
  if (auto* bad = std::get_if<std::vector<Problem>>(&resolved)) return Invalid(*bad);
  auto next = NextState(*view, std::move(std::get<std::vector<Document>>(documents)),
                        std::move(std::get<Resolved>(resolved)), request.restore());
  next->stored.rolled_back_from = {to};
  next->stored.comment = "content of generation " + std::to_string(to);
  prepared.next = std::move(next);
  return prepared;
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

void AdminDesk::AskAgents(const Prepared& prepared, std::chrono::milliseconds timeout,
                          std::function<bool(const v1::PlanProgress&)> progress,
                          std::function<void(v1::PlanResult)> done) {
  v1::PlanResult result;
  result.set_base_generation(prepared.base->number());
  result.set_next_generation(prepared.unchanged ? prepared.base->number() : prepared.next->number());
  result.mutable_documents_added()->Assign(prepared.changes.added.begin(), prepared.changes.added.end());
  result.mutable_documents_changed()->Assign(prepared.changes.changed.begin(),
                                             prepared.changes.changed.end());
  result.mutable_documents_removed()->Assign(prepared.changes.removed.begin(),
                                             prepared.changes.removed.end());
  for (const v1::ReleasedKey& one : prepared.released) *result.add_released() = one;
  for (const std::string& warning : prepared.next->resolved.warnings) result.add_warnings(warning);
  for (const std::string& warning : SkewWarnings(*core_.view(), prepared.next->resolved))
    result.add_warnings(warning);

  PlanQuestion question;
  question.generation = prepared.next->number();
  question.states = prepared.next->desired;
  question.timeout = timeout;
  question.progress = std::move(progress);
  question.done = [this, base = prepared.base, next = prepared.next,
                   result = std::make_shared<v1::PlanResult>(std::move(result)), done = std::move(done)](
                      std::vector<v1::Plan> plans, std::vector<v1::NotAnswered> missing) {
    for (v1::Plan& plan : plans) *result->add_nodes() = std::move(plan);
    for (v1::NotAnswered& one : missing) *result->add_not_answered() = std::move(one);
    // Hashing a big fleet's steps is no work for the core's thread. When the desk has closed nobody waits any
    // more.
    (void)orders_.Post([base, next, result, done] {
      result->set_plan_hash(PlanHash(*base, *next, *result));
      result->set_plan_id(result->plan_hash().substr(0, 12));
      done(std::move(*result));
    });
  };
  core_.Ask(std::move(question));
}

void AdminDesk::Plan(v1::PlanRequest request, Sink<v1::PlanEvent> sink) {
  const auto refused = sink.end;
  const bool posted = orders_.Post([this, request = std::move(request), sink = std::move(sink)] {
    auto prepared = Prepare(request.files(), request.prune(), request.restore(), request.allow_empty());
    if (!prepared.ok()) return sink.end(prepared.status());
    AskAgents(
        *prepared, Within(request.timeout_ms(), kPlanDefault, kPlanMost),
        [tell = sink.tell](const v1::PlanProgress& progress) {
          v1::PlanEvent event;
          *event.mutable_progress() = progress;
          return tell(std::move(event));
        },
        [sink](v1::PlanResult result) {
          v1::PlanEvent event;
          *event.mutable_result() = std::move(result);
          (void)sink.tell(std::move(event));
          sink.end(Ok());
        });
  });
  if (!posted) refused(Status(Code::kUnavailable, "the controller is stopping"));
}

void AdminDesk::Apply(v1::ApplyRequest request, Sink<v1::ApplyEvent> sink) {
  auto job = std::make_shared<ApplyJob>();
  job->request = std::move(request);
  job->sink = std::move(sink);
  RunApply(std::move(job));
}

void AdminDesk::Rollback(v1::RollbackRequest request, Sink<v1::ApplyEvent> sink) {
  auto job = std::make_shared<ApplyJob>();
  job->rollback = std::move(request);
  job->sink = std::move(sink);
  RunApply(std::move(job));
}

void AdminDesk::RunApply(std::shared_ptr<ApplyJob> job) {
  const bool posted = orders_.Post([this, job] {
    const v1::ApplyRequest& request = job->request;
    auto prepared = job->rollback
                        ? PrepareRollback(*job->rollback)
                        : Prepare(request.files(), request.prune(), request.restore(), request.allow_empty());
    if (!prepared.ok()) return job->sink.end(prepared.status());
    if (request.expect_plan_hash().empty()) return Commit(job, std::move(*prepared));

    if (prepared->base->number() != request.expect_base_generation())
      return job->sink.end(Status(Code::kFailedPrecondition,
                                  "stale plan: it was made on generation " +
                                      std::to_string(request.expect_base_generation()) + ", now generation " +
                                      std::to_string(prepared->base->number()) +
                                      " is in force. Nothing was changed; make a new plan"));
    auto held = std::make_shared<Prepared>(std::move(*prepared));
    AskAgents(
        *held, kPlanDefault, [](const v1::PlanProgress&) { return true; },
        [this, job, held](v1::PlanResult result) {
          if (result.plan_hash() != job->request.expect_plan_hash()) {
            std::string silent;
            for (const auto& missing : result.not_answered())
              silent += (silent.empty() ? "" : ", ") + missing.node();
            return job->sink.end(
                Status(Code::kFailedPrecondition,
                       "stale plan: asked again, the nodes would take other steps than those of plan " +
                           job->request.expect_plan_hash().substr(0, 12) +
                           (silent.empty() ? "" : " (not answering now: " + silent + ")") +
                           ". Nothing was changed; make a new plan"));
          }
          Commit(job, std::move(*held));
        });
  });
  if (!posted) job->sink.end(Status(Code::kUnavailable, "the controller is stopping"));
}

void AdminDesk::Commit(std::shared_ptr<ApplyJob> job, Prepared prepared) {
  if (prepared.unchanged) return TellStored(*job, prepared.base->number(), true);
  auto next = std::make_shared<FleetState>(*prepared.next);
  next->stored.author = job->author();
  if (!job->rollback) next->stored.comment = job->request.comment();
  Installation order;
  order.base = prepared.base->number();
  order.audit.who = job->author();
  order.audit.action = job->rollback ? "rollback" : "apply";
  order.audit.subject = "generation " + std::to_string(next->number());
  const auto list = [](const char* what, const std::vector<std::string>& ids) {
    std::string text;
    for (const std::string& id : ids) text += (text.empty() ? what : ", ") + id;
    return text.empty() ? text : text + "; ";
  };
  order.audit.detail = job->rollback ? next->stored.comment
                                     : list("added ", prepared.changes.added) +
                                           list("changed ", prepared.changes.changed) +
                                           list("removed ", prepared.changes.removed) + next->stored.comment;
  order.state = next;
  order.done = [this, job, number = next->number()](const Status& status) {
    if (status.ok()) return TellStored(*job, number, false);
    // Somebody else's generation came first. Without a plan that binds it, this one is made anew upon it.
    if (status.code() == Code::kAborted && job->request.expect_plan_hash().empty() &&
        ++job->attempts < kAttempts)
      return RunApply(job);
    if (status.code() == Code::kAborted)
      return job->sink.end(Status(Code::kFailedPrecondition, "stale plan: " + status.message() +
                                                                 ". Nothing was changed; make a new plan"));
    if (status.code() == Code::kResourceExhausted)
      return job->sink.end(Status(Code::kResourceExhausted,
                                  "the controller is read-only, nothing was changed: " + status.message() +
                                      ". Free space on its disk; it goes on by itself"));
    job->sink.end(status);
  };
  core_.Install(std::move(order));
}

void AdminDesk::TellStored(const ApplyJob& job, std::uint64_t generation, bool unchanged) {
  if (!job.wait()) {
    v1::ApplyEvent event;
    event.set_generation(generation);
    event.set_unchanged(unchanged);
    event.set_finished(true);
    const auto view = core_.view();
    for (const auto& node : view->nodes) {
      if (!node->declared) continue;
      event.set_nodes(event.nodes() + 1);
      if (!node->connected) event.add_unreachable(node->name);
    }
    (void)job.sink.tell(std::move(event));
    return job.sink.end(Ok());
  }
  core_.Follow(generation, job.timeout(), [sink = job.sink, unchanged](v1::ApplyEvent event) {
    event.set_unchanged(unchanged);
    const bool finished = event.finished();
    const bool open = sink.tell(std::move(event));
    if (finished) sink.end(Ok());
    return open;
  });
}

void AdminDesk::SetPause(const v1::SetPauseRequest& request,
                         std::function<void(const Status&, v1::SetPauseResponse)> done) {
  PauseOrder order;
  order.pause = FromWire(request.pause());
  order.resume = request.resume();
  order.done = done;
  if (!order.pause.key.empty()) {
    const auto match = catalog_.Find(order.pause.key);
    const auto& checks = catalog_.checks();
    const bool check = std::any_of(checks.begin(), checks.end(),
                                   [&](const CheckInfo* info) { return info->key == order.pause.key; });
    if (match.ok())
      order.pause.key = match->key;
    else if (!check && !order.resume)
      return done(match.status(), {});
  }
  core_.SetPause(std::move(order));
}

}  // namespace railwright
