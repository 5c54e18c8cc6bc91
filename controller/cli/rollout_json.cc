// Rollouts as JSON, the words of their states, and what they mean for a script.
#include <algorithm>

#include "controller/cli/fleet_view.h"
#include "controller/cli/rollout_view.h"
#include "core/text/times.h"

namespace railwright::cli {
namespace {

using Json = nlohmann::ordered_json;

Json TimeJson(std::int64_t unix_us) { return unix_us == 0 ? Json(nullptr) : Json(Rfc3339(TimeOf(unix_us))); }

template <class List>
Json ListJson(const List& list) {
  Json json = Json::array();
  for (const std::string& one : list) json.push_back(one);
  return json;
}

}  // namespace

std::string StateWord(v1::RolloutState state) {
  switch (state) {
    case v1::ROLLOUT_STATE_RUNNING: return "Running";
    case v1::ROLLOUT_STATE_PAUSED: return "Paused";
    case v1::ROLLOUT_STATE_HALTED: return "Halted";
    case v1::ROLLOUT_STATE_ABORTED: return "Aborted";
    case v1::ROLLOUT_STATE_SUPERSEDED: return "Superseded";
    case v1::ROLLOUT_STATE_DONE: return "Done";
    case v1::ROLLOUT_STATE_WAITING: return "Waiting";
    default: return "Unknown";
  }
}

std::string StateWord(v1::RolloutNodeState state) {
  switch (state) {
    case v1::ROLLOUT_NODE_STATE_WAITING: return "Waiting";
    case v1::ROLLOUT_NODE_STATE_CHANGING: return "Changing";
    case v1::ROLLOUT_NODE_STATE_DONE: return "Done";
    case v1::ROLLOUT_NODE_STATE_FAILED: return "Failed";
    case v1::ROLLOUT_NODE_STATE_ACCEPTED: return "Accepted";
    default: return "Unknown";
  }
}

bool CountsKnown(const v1::RolloutInfo& one) {
  return one.waiting() + one.changing() + one.done() + one.accepted() > 0 || one.failed() >= one.nodes();
}

Json RolloutJson(const v1::RolloutInfo& rollout) {
  const bool known = CountsKnown(rollout);
  const auto count = [&](std::uint32_t value) { return known ? Json(value) : Json(nullptr); };
  Json approvals = Json::array(), members = Json::array();
  for (const v1::RolloutApprovalInfo& one : rollout.approvals())
    approvals.push_back({{"who", one.who()},
                         {"from", one.from()},
                         {"reason", one.reason()},
                         {"at", TimeJson(one.at_unix_us())}});
  for (const v1::RolloutNode& one : rollout.members())
    members.push_back({{"node", one.node()},
                       {"wave", one.wave()},
                       {"state", StateWord(one.state())},
                       {"why", one.why()},
                       {"since", TimeJson(one.since_unix_us())}});
  return {{"generation", rollout.generation()},
          {"base", rollout.base()},
          {"author", rollout.author()},
          {"created_at", TimeJson(rollout.created_unix_us())},
          {"state", StateWord(rollout.state())},
          {"reason", rollout.reason()},
          {"by", rollout.by()},
          {"policy", rollout.policy()},
          {"wave", rollout.wave()},
          {"waves", ListJson(rollout.waves())},
          {"summary",
           {{"nodes", rollout.nodes()},
            {"waiting", count(rollout.waiting())},
            {"changing", count(rollout.changing())},
            {"done", count(rollout.done())},
            {"failed", rollout.failed()},
            {"accepted", count(rollout.accepted())},
            {"away", count(rollout.away())}}},
          {"unavailable_most", rollout.unavailable_most()},
          {"approvals_needed", rollout.approvals_needed()},
          {"approvals", std::move(approvals)},
          {"waits_for", ListJson(rollout.waits_for())},
          {"members", std::move(members)},
          {"next", rollout.next()}};
}

Json BrakeJson(const v1::Brake& brake) {
  return {{"rack", brake.rack()}, {"reason", brake.reason()}, {"since", TimeJson(brake.since_unix_us())}};
}

Json RolloutsJson(const v1::RolloutsResponse& answer) {
  Json rollouts = Json::array(), brakes = Json::array();
  for (const v1::RolloutInfo& one : answer.rollouts()) rollouts.push_back(RolloutJson(one));
  for (const v1::Brake& one : answer.brakes()) brakes.push_back(BrakeJson(one));
  return {
      {"generation", answer.generation()}, {"rollouts", std::move(rollouts)}, {"brakes", std::move(brakes)}};
}

bool BreakerOpen(const v1::RolloutsResponse& answer) {
  return std::any_of(answer.brakes().begin(), answer.brakes().end(),
                     [](const v1::Brake& one) { return one.rack().empty(); });
}

ExitCode RolloutExit(const v1::RolloutsResponse& answer) {
  if (BreakerOpen(answer)) return ExitCode::kStopped;
  if (answer.rollouts().empty()) return ExitCode::kDone;
  const v1::RolloutInfo& rollout = answer.rollouts(0);
  switch (rollout.state()) {
    case v1::ROLLOUT_STATE_RUNNING:
    case v1::ROLLOUT_STATE_SUPERSEDED: return ExitCode::kDone;
    case v1::ROLLOUT_STATE_DONE: return rollout.failed() > 0 ? ExitCode::kFailed : ExitCode::kDone;
    case v1::ROLLOUT_STATE_PAUSED:
    case v1::ROLLOUT_STATE_HALTED:
    case v1::ROLLOUT_STATE_ABORTED:
    case v1::ROLLOUT_STATE_WAITING: return ExitCode::kStopped;
    default: return ExitCode::kIncomplete;
  }
}

}  // namespace railwright::cli
