// Orders of the admin desk: plan, apply, rollback, pause.
#include <algorithm>

#include "controller/rpc/admin_desk.h"
#include "controller/rpc/rollout_info.h"
#include "controller/rpc/scope.h"
#include "controller/rpc/status_text.h"
#include "core/wire/wire.h"

namespace railwright {
namespace {

constexpr std::chrono::milliseconds kObserveDefault{30'000};  // everything is read, some of it by tools
constexpr std::chrono::milliseconds kPlanDefault{10'000}, kPlanMost{600'000};
constexpr std::chrono::milliseconds kWaitDefault{600'000}, kWaitMost{86'400'000};
constexpr int kAttempts = 5;  // of an apply whose base was replaced while it was resolved

std::chrono::milliseconds Within(std::int64_t asked_ms, std::chrono::milliseconds usual,
                                 std::chrono::milliseconds most) {
  if (asked_ms <= 0) return usual;
  return std::min(std::chrono::milliseconds(std::min<std::int64_t>(asked_ms, most.count())), most);
}

/// Problems that do not fit into a status go before it, whole.
void TellProblems(const Sink<v1::PlanEvent>& sink, const std::vector<std::string>& problems) {
  v1::PlanEvent event;
  event.mutable_problems()->mutable_problems()->Assign(problems.begin(), problems.end());
  (void)sink.tell(std::move(event));
}
void TellProblems(const Sink<v1::ApplyEvent>& sink, const std::vector<std::string>& problems) {
  v1::ApplyEvent event;
  event.mutable_problems()->mutable_problems()->Assign(problems.begin(), problems.end());
  (void)sink.tell(std::move(event));
}
/// The nodes that get another state by `next`, also those that leave.
std::vector<std::string> Touched(const FleetState& base, const FleetState& next) {
  std::vector<std::string> nodes = ChangedNodes(base, next);
  for (const auto& [name, desired] : base.desired)
    if (!next.desired.contains(name)) nodes.push_back(name);
  return nodes;
}

template <class Event>
void EndRefused(const Sink<Event>& sink, const Status& status, const std::vector<std::string>& problems) {
  if (!problems.empty() && FitStatusText(status.message()) != status.message()) TellProblems(sink, problems);
  sink.end(status);
}

}  // namespace

struct AdminDesk::ApplyJob {
  Caller caller;
  v1::ApplyRequest request;
  std::optional<v1::RollbackRequest> rollback;  // instead
  Sink<v1::ApplyEvent> sink;
  int attempts = 0;

  bool wait() const { return rollback ? rollback->wait() : request.wait(); }
  std::string author() const { return AuthorOf(caller, rollback ? rollback->author() : request.author()); }
  std::chrono::milliseconds timeout() const {
    return Within(rollback ? rollback->timeout_ms() : request.timeout_ms(), kWaitDefault, kWaitMost);
  }
};

void AdminDesk::Stop() {
  orders_.Stop();
  reads_.Stop();
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

  if (!prepared.unchanged) {
    const RolloutPolicy terms = TermsFor(*prepared.base, *prepared.next).value_or(built_in_);
    for (std::string& sentence : Foretell(terms, prepared.next->resolved.rollout.value_or(built_in_),
                                          ChangedNodes(*prepared.base, *prepared.next).size(),
                                          prepared.next->resolved.nodes.size(), clock_.WallNow()))
      result.add_rollout(std::move(sentence));
  }

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
    auto preparation =
        WithTry(Prepare(request.files(), request.prune(), request.restore(), request.allow_empty()),
                request.try_ms());
    if (const auto* refused_for = std::get_if<Refused>(&preparation))
      return EndRefused(sink, refused_for->status, refused_for->problems);
    const Prepared& prepared = std::get<Prepared>(preparation);
    AskAgents(
        prepared, Within(request.timeout_ms(), kPlanDefault, kPlanMost),
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

void AdminDesk::Observe(const v1::ObserveRequest& request, const Sink<v1::ObserveEvent>& sink) {
  const auto view = core_.view();
  const auto selected = view->Select({request.nodes().begin(), request.nodes().end()});
  if (!selected.ok()) return sink.end(selected.status());
  auto result = std::make_shared<v1::ObserveEvent>();
  result->mutable_result()->set_generation(view->state->number());
  for (const Document& document : view->state->documents) {
    v1::SourceFile* file = result->mutable_result()->add_documents();
    file->set_name(document.file);
    file->set_text(document.text);
  }
  ObserveQuestion question;
  for (const NodeView* node : *selected) question.nodes.push_back(node->name);
  std::sort(question.nodes.begin(), question.nodes.end());
  question.timeout = Within(request.timeout_ms(), kObserveDefault, kPlanMost);
  question.progress = [tell = sink.tell](const v1::PlanProgress& progress) {
    v1::ObserveEvent event;
    *event.mutable_progress() = progress;
    return tell(std::move(event));
  };
  question.node = [tell = sink.tell](v1::ObservedNode node) {
    v1::ObserveEvent event;
    *event.mutable_node() = std::move(node);
    (void)tell(std::move(event));
  };
  question.done = [sink, result](std::vector<v1::NotAnswered> missing) {
    for (v1::NotAnswered& one : missing) *result->mutable_result()->add_not_answered() = std::move(one);
    (void)sink.tell(std::move(*result));
    sink.end(Ok());
  };
  core_.Ask(std::move(question));
}

std::string AdminDesk::AuthorOf(const Caller& caller, const std::string& claimed) {
  if (caller.kind != Caller::Kind::kLocal) return caller.name;
  return claimed.empty() ? "root" : claimed;
}

AuditRow AdminDesk::ByLine(const Caller& caller, const std::string& claimed) {
  AuditRow row;
  row.who = AuthorOf(caller, claimed);
  row.from = caller.from;
  row.serial = caller.serial;
  return row;
}

void AdminDesk::NoteRefused(const Caller& caller, std::string_view method, const Status& why) {
  AuditRow row = ByLine(caller, "");
  if (caller.kind == Caller::Kind::kNobody) row.who = "nobody";
  row.action = "call";
  row.subject = std::string(method.substr(method.rfind('/') + 1));
  row.outcome = "refused: " + why.message();
  row.at = clock_.WallNow();
  Note(std::move(row));
}

void AdminDesk::Note(AuditRow row) {
  // A disk that is full must not keep a refusal from being one.
  (void)orders_.Post([this, row = std::move(row)] { (void)store_.AddAudit(row); });
}

void AdminDesk::Apply(const Caller& caller, v1::ApplyRequest request, Sink<v1::ApplyEvent> sink) {
  auto job = std::make_shared<ApplyJob>();
  job->caller = caller;
  job->request = std::move(request);
  job->sink = std::move(sink);
  RunApply(std::move(job));
}

void AdminDesk::Rollback(const Caller& caller, v1::RollbackRequest request, Sink<v1::ApplyEvent> sink) {
  auto job = std::make_shared<ApplyJob>();
  job->caller = caller;
  job->rollback = std::move(request);
  job->sink = std::move(sink);
  RunApply(std::move(job));
}

void AdminDesk::RunApply(std::shared_ptr<ApplyJob> job) {
  const bool posted = orders_.Post([this, job] {
    const v1::ApplyRequest& request = job->request;
    auto preparation = WithTry(
        job->rollback ? PrepareRollback(*job->rollback)
                      : Prepare(request.files(), request.prune(), request.restore(), request.allow_empty()),
        job->rollback ? job->rollback->try_ms() : request.try_ms());
    if (const auto* refused_for = std::get_if<Refused>(&preparation))
      return EndRefused(job->sink, refused_for->status, refused_for->problems);
    Prepared& prepared = std::get<Prepared>(preparation);
    if (request.expect_plan_hash().empty()) return Commit(job, std::move(prepared));

    if (prepared.base->number() != request.expect_base_generation())
      return job->sink.end(Status(Code::kFailedPrecondition,
                                  "stale plan: it was made on generation " +
                                      std::to_string(request.expect_base_generation()) + ", now generation " +
                                      std::to_string(prepared.base->number()) +
                                      " is in force. Nothing was changed; make a new plan"));
    auto held = std::make_shared<Prepared>(std::move(prepared));
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
  if (Status in_scope = CheckScope(job->caller, Touched(*prepared.base, *prepared.next)); !in_scope.ok())
    return job->sink.end(in_scope);
  auto next = std::make_shared<FleetState>(*prepared.next);
  next->stored.author = job->author();
  if (!job->rollback) next->stored.comment = job->request.comment();
  Installation order;
  order.base = prepared.base->number();
  order.audit = ByLine(job->caller, job->author());
  order.audit.action = job->rollback ? "rollback" : "apply";
  order.audit.subject = "generation " + std::to_string(next->number());
  std::string& detail = order.audit.detail;
  const auto tell = [&detail](const std::string& part) {
    if (!part.empty()) detail += (detail.empty() ? "" : "; ") + part;
  };
  const auto list = [](const char* what, const std::vector<std::string>& ids) {
    std::string text;
    for (const std::string& id : ids) text += (text.empty() ? what : ", ") + id;
    return text;
  };
  if (!job->rollback) {
    tell(list("added ", prepared.changes.added));
    tell(list("changed ", prepared.changes.changed));
    tell(list("removed ", prepared.changes.removed));
  }
  if (next->stored.try_for.count() > 0)
    tell("changes on the way to the controller are tried for " +
         std::to_string(next->stored.try_for.count() / 1000) + " s");
  tell(next->stored.comment);
  order.person = PersonOf(job->caller);
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

void AdminDesk::SetPause(const Caller& caller, const v1::SetPauseRequest& request,
                         std::function<void(const Status&, v1::SetPauseResponse)> done) {
  PauseOrder order;
  order.pause = FromWire(request.pause());
  order.pause.by = AuthorOf(caller, order.pause.by);
  order.by = ByLine(caller, order.pause.by);
  if (Status in_scope = order.pause.node.empty() ? CheckWholeScope(caller, "all nodes")
                                                 : CheckScope(caller, {order.pause.node});
      !in_scope.ok())
    return done(in_scope, {});
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

void AdminDesk::ForgetNode(const Caller& caller, const v1::ForgetNodeRequest& request,
                           std::function<void(const Status&, v1::ForgetNodeResponse)> done) {
  if (Status in_scope = CheckScope(caller, {request.node()}); !in_scope.ok()) return done(in_scope, {});
  core_.Forget(request.node(), ByLine(caller, request.author()),
               [done = std::move(done)](const Status& status, const std::vector<Pause>& dropped) {
                 v1::ForgetNodeResponse response;
                 for (const Pause& pause : dropped) *response.add_pauses() = ToWire(pause);
                 done(status, std::move(response));
               });
}

}  // namespace railwright
