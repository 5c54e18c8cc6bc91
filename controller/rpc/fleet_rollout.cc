// How the generation in force spreads, as far as it is the fleet model's: what is seen of each node, who is
// sent it next, and what people order.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "controller/rpc/fleet_model.h"
#include "controller/rpc/scope.h"

namespace railwright {

const std::string& FleetModel::RackOf(const std::string& name) const {
  static const std::string kNone;
  const auto node = state_->resolved.nodes.find(name);
  return node == state_->resolved.nodes.end() ? kNone : node->second.node.rack;
}

// What a rollout may be blamed for. A setting that is only observed is nobody's doing here.
void FleetModel::NoteAiling(Node& node) {
  node.ailing.clear();
  node.failing.clear();
  for (const Finding& finding : node.report->report.findings) {
    const bool drifted = finding.verdict == Verdict::kDrifted;
    const bool setting = !finding.desired.empty();
    if (setting && finding.mode == Mode::kEnforce && (drifted || finding.verdict == Verdict::kUnknown))
      node.ailing.push_back({finding.key, finding.target});
    if (!setting && drifted) node.failing.push_back({finding.key, finding.target});
  }
  std::sort(node.ailing.begin(), node.ailing.end());
  std::sort(node.failing.begin(), node.failing.end());
}

MemberSight FleetModel::SightOf(const std::string& name) const {
  MemberSight sight;
  const auto found = nodes_.find(name);
  const auto desired = state_->desired.find(name);
  if (found == nodes_.end() || desired == state_->desired.end()) return sight;
  const Node& node = found->second;
  sight.connected = node.link != nullptr;
  if (!sight.connected)
    sight.lost_for = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Now() - node.lost_at);
  if (!node.nack.empty() && (node.nack_hash.empty() || node.nack_hash == desired->second.hash))
    sight.refused = node.nack;
  sight.known = node.report != nullptr;
  if (!sight.known) return sight;
  // What it was sent last counts, whatever it reported before: it is on its way there.
  const std::string& holds = node.sent_hash.empty() ? node.enforced_hash : node.sent_hash;
  const NodeReport& report = node.report->report;
  sight.at_rest = sight.connected && report.settled && report.state_hash == holds &&
                  report.generation.value >= node.told_generation;
  sight.has_it = sight.at_rest && holds == desired->second.hash;
  sight.settings = node.ailing;
  sight.checks = node.failing;
  return sight;
}

bool FleetModel::Holds(const std::string& name, const std::string& hash) const {
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || found->second.report == nullptr) return false;
  const Node& node = found->second;
  const NodeReport& report = node.report->report;
  return report.settled && report.state_hash == hash && (node.sent_hash.empty() || node.sent_hash == hash);
}

std::vector<std::string> FleetModel::ReadyOf(const std::vector<std::string>& names) {
  std::vector<Node*> nodes;
  for (const std::string& name : names) nodes.push_back(&nodes_.at(name));
  std::vector<std::string> answers;
  for (const auto& endorsed : Endorse(nodes))
    answers.push_back(endorsed.ok() ? "" : endorsed.status().message());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!answers[i].empty() && nodes[i]->waits != answers[i]) {
      nodes[i]->waits = answers[i];
      Touch(*nodes[i]);
    }
  return answers;
}

void FleetModel::PushAllPauses() {
  for (auto& [name, node] : nodes_) {
    PushPauses(node);
    touched_.insert(name);
  }
  reshaped_ = true;
}

void FleetModel::MoveRollout() {
  // What cannot be written down has not happened: with a full disk nothing spreads.
  if (!read_only_.empty() || !state_->problem.empty()) return;
  const auto moved = rollouts_.Move();
  if (!moved.ok()) return CannotWrite(moved.status());
  if (moved->braked) PushAllPauses();
  std::vector<Node*> begun;
  for (const std::string& name : moved->begun) begun.push_back(&nodes_.at(name));
  Push(begun);
}

void FleetModel::Ask(RolloutQuestion question) {
  answers_.push_back([this, question = std::move(question)] {
    v1::RolloutsResponse response = rollouts_.Tell(question.node);
    response.set_generation(state_->number());
    question.done(std::move(response));
  });
}

void FleetModel::Do(RolloutCommand command) {
  const auto done = WhenShown(std::move(command.done));
  using What = RolloutCommand::What;
  static constexpr std::array<const char*, 5> kActions{"rollout pause", "rollout resume", "rollout abort",
                                                       "rollout approve", "reset breaker"};
  AuditRow audit = command.by;
  audit.action = kActions.at(static_cast<std::size_t>(command.what));
  audit.subject = command.what == What::kResetBreaker
                      ? "the brakes"
                      : "rollout of generation " +
                            std::to_string(command.generation != 0 ? command.generation : state_->number());
  const auto answer = [&](const Status& status) {
    v1::RolloutsResponse response;
    if (status.ok()) response = rollouts_.Tell("");
    done(status, std::move(response));
  };
  if (const Status in_scope = command.what == What::kResetBreaker
                                  ? CheckWholeScope(command.caller, "all nodes")
                                  : CheckScope(command.caller, rollouts_.Members());
      !in_scope.ok())
    return answer(Refused(audit, in_scope));
  if (!Writable()) return answer(Status(Code::kResourceExhausted, read_only_));
  audit = Stamped(audit);
  Status status = Ok();
  v1::RolloutsResponse reset;
  switch (command.what) {
    case What::kPause:
      status =
          rollouts_.Order(v1::ROLLOUT_ORDER_PAUSE, command.generation, command.person, command.reason, audit);
      break;
    case What::kResume:
      status = rollouts_.Order(v1::ROLLOUT_ORDER_RESUME, command.generation, command.person, command.reason,
                               audit);
      break;
    case What::kAbort:
      status =
          rollouts_.Order(v1::ROLLOUT_ORDER_ABORT, command.generation, command.person, command.reason, audit);
      break;
    case What::kApprove: {
      RolloutApproval approval;
      approval.who = command.person;
      approval.from = command.by.from;
      approval.reason = command.reason;
      approval.at = clock_.WallNow();
      status = rollouts_.Approve(command.generation, approval, audit);
      break;
    }
    case What::kResetBreaker: {
      auto brakes = rollouts_.ResetBreaker(audit);
      status = brakes.status();
      if (!brakes.ok()) break;
      for (const v1::Brake& brake : *brakes) *reset.add_brakes() = brake;
      PushAllPauses();
      return done(Ok(), std::move(reset));
    }
  }
  const bool refused = status.code() == Code::kFailedPrecondition ||
                       status.code() == Code::kPermissionDenied || status.code() == Code::kInvalidArgument;
  if (refused) return answer(Refused(audit, status));
  if (!status.ok()) CannotWrite(status);
  answer(status);
}

}  // namespace railwright
