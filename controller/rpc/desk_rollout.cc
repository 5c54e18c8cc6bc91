// What operators ask and order about rollouts.
#include "controller/rpc/admin_desk.h"
#include "controller/rpc/rollout_info.h"

namespace railwright {
namespace {

v1::OrderRolloutResponse First(v1::RolloutsResponse response) {
  v1::OrderRolloutResponse first;
  if (!response.rollouts().empty()) *first.mutable_rollout() = std::move(*response.mutable_rollouts(0));
  return first;
}

}  // namespace

std::string AdminDesk::PersonOf(const Caller& caller) {
  return caller.kind == Caller::Kind::kLocal ? "root on the controller's host" : caller.name;
}

void AdminDesk::Rollouts(const v1::RolloutsRequest& request,
                         std::function<void(const Status&, v1::RolloutsResponse)> done) {
  RolloutQuestion question;
  question.node = request.node();
  const std::uint32_t limit = request.limit() == 0 ? 20 : ListLimit(request.limit());
  question.done = [this, list = request.list(), limit,
                   done = std::move(done)](v1::RolloutsResponse response) {
    if (!list) return done(Ok(), std::move(response));
    // The present one is known better than its row; the others are rows.
    const bool posted = reads_.Post([this, limit, response = std::move(response), done]() mutable {
      const auto stored = store_.Rollouts(limit);
      if (!stored.ok()) return done(stored.status(), {});
      for (v1::RolloutInfo& info : *response.mutable_rollouts()) info.clear_members();
      for (const RolloutRecord& record : *stored)
        if (response.rollouts().empty() || record.generation.value != response.rollouts(0).generation())
          *response.add_rollouts() = ToInfo(record);
      done(Ok(), std::move(response));
    });
    if (!posted) done(Status(Code::kUnavailable, "the controller is stopping"), {});
  };
  core_.Ask(std::move(question));
}

void AdminDesk::OrderRollout(const Caller& caller, const v1::OrderRolloutRequest& request,
                             std::function<void(const Status&, v1::OrderRolloutResponse)> done) {
  using What = RolloutCommand::What;
  RolloutCommand command;
  switch (request.order()) {
    case v1::ROLLOUT_ORDER_PAUSE: command.what = What::kPause; break;
    case v1::ROLLOUT_ORDER_RESUME: command.what = What::kResume; break;
    case v1::ROLLOUT_ORDER_ABORT: command.what = What::kAbort; break;
    default:
      return done(Status(Code::kInvalidArgument, "pause, resume or abort a rollout, nothing else"), {});
  }
  command.generation = request.generation();
  command.reason = request.reason();
  command.person = PersonOf(caller);
  command.caller = caller;
  command.by = ByLine(caller, "");
  command.done = [done = std::move(done)](const Status& status, v1::RolloutsResponse response) {
    done(status, First(std::move(response)));
  };
  core_.Do(std::move(command));
}

void AdminDesk::ApproveRollout(const Caller& caller, const v1::ApproveRolloutRequest& request,
                               std::function<void(const Status&, v1::OrderRolloutResponse)> done) {
  RolloutCommand command;
  command.what = RolloutCommand::What::kApprove;
  command.generation = request.generation();
  command.reason = request.reason();
  command.person = PersonOf(caller);
  command.caller = caller;
  command.by = ByLine(caller, "");
  command.done = [done = std::move(done)](const Status& status, v1::RolloutsResponse response) {
    done(status, First(std::move(response)));
  };
  core_.Do(std::move(command));
}

void AdminDesk::ResetBreaker(const Caller& caller, const v1::ResetBreakerRequest& request,
                             std::function<void(const Status&, v1::ResetBreakerResponse)> done) {
  RolloutCommand command;
  command.what = RolloutCommand::What::kResetBreaker;
  command.reason = request.reason();
  command.person = PersonOf(caller);
  command.caller = caller;
  command.by = ByLine(caller, "");
  command.by.detail = request.reason();
  command.done = [done = std::move(done)](const Status& status, const v1::RolloutsResponse& response) {
    v1::ResetBreakerResponse reset;
    for (const v1::Brake& brake : response.brakes()) *reset.add_reset() = brake;
    done(status, std::move(reset));
  };
  core_.Do(std::move(command));
}

}  // namespace railwright
