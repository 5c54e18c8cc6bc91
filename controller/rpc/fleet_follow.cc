// Those who wait: questions to agents, applies that are followed, watchers.
#include <algorithm>
#include <memory>
#include <utility>

#include "controller/rpc/fleet_model.h"
#include "core/wire/wire.h"

namespace railwright {
namespace {

constexpr std::chrono::milliseconds kProgressEvery{100};  // a person's eye, not a machine's
/// Silence is no event of a stream, so it is looked for; 10,000 nodes cost some 0.1 ms.
constexpr std::chrono::milliseconds kSilenceLookEvery{1000};
constexpr std::size_t kManyOpen =
    500;  // nodes; from there on a follower is looked after at kProgressEvery only

v1::NotAnswered Missing(const std::string& node, std::string reason, std::int64_t last_seen) {
  v1::NotAnswered missing;
  missing.set_node(node);
  missing.set_reason(std::move(reason));
  missing.set_last_seen_unix_us(last_seen);
  return missing;
}

}  // namespace

void FleetModel::Ask(AgentQuestion question) {
  Asking& asking = asking_.emplace_back();
  asking.question = std::move(question);
  asking.deadline = clock_.Now() + asking.question.timeout;
  for (const std::string& name : asking.question.nodes) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end() || !found->second.link) {
      const std::int64_t seen = found == nodes_.end() ? 0 : found->second.heard->wall_us.load();
      asking.missing.push_back(Missing(name, seen == 0 ? "never connected" : "not connected", seen));
      continue;
    }
    Node& node = found->second;
    if (!node.features.contains(asking.question.feature)) {
      asking.missing.push_back(Missing(
          name,
          "railwright-agent " + node.agent_version + " lacks the feature \"" + asking.question.feature + "\"",
          node.heard->wall_us));
      continue;
    }
    const std::uint64_t id = next_command_++;
    if (!node.link->Send(asking.question.command(id, name))) {
      asking.missing.push_back(Missing(name, "busy: other commands wait for it", node.heard->wall_us));
      continue;
    }
    asking.waiting[id] = name;
  }
  asking.asked = static_cast<std::uint32_t>(asking.waiting.size());
}

void FleetModel::Ask(PlanQuestion question) {
  AgentQuestion asked;
  asked.feature = "plan";
  asked.timeout = question.timeout;
  for (const auto& [name, desired] : question.states) asked.nodes.push_back(name);
  asked.command = [states = std::move(question.states), timeout = question.timeout.count(),
                   generation = question.generation](std::uint64_t id, const std::string& name) {
    return PlanOutbound(id, timeout, generation, states.at(name));
  };
  asked.progress = std::move(question.progress);
  auto plans = std::make_shared<std::vector<v1::Plan>>();
  asked.answered = [plans](const std::string& name, v1::CommandResult& result) {
    if (!result.has_plan()) return false;
    plans->emplace_back(std::move(*result.mutable_plan())).set_node(name);
    return true;
  };
  asked.done = [plans, done = std::move(question.done)](std::vector<v1::NotAnswered> missing) {
    std::sort(plans->begin(), plans->end(), [](const auto& a, const auto& b) { return a.node() < b.node(); });
    done(std::move(*plans), std::move(missing));
  };
  Ask(std::move(asked));
}

void FleetModel::Ask(ObserveQuestion question) {
  AgentQuestion asked;
  asked.feature = "observe";
  asked.timeout = question.timeout;
  asked.nodes = std::move(question.nodes);
  asked.command = [timeout = question.timeout.count()](std::uint64_t id, const std::string&) {
    v1::ControllerMessage message;
    message.mutable_command()->set_id(id);
    message.mutable_command()->set_deadline_ms(timeout);
    message.mutable_command()->mutable_observe();
    return ToOutbound(message);
  };
  asked.progress = std::move(question.progress);
  asked.answered = [tell = std::move(question.node)](const std::string& name, v1::CommandResult& result) {
    if (!result.has_observed()) return false;
    result.mutable_observed()->set_node(name);
    tell(std::move(*result.mutable_observed()));
    return true;
  };
  asked.done = std::move(question.done);
  Ask(std::move(asked));
}

void FleetModel::OnResult(Node& node, v1::CommandResult& result) {
  for (Asking& asking : asking_) {
    const auto found = asking.waiting.find(result.id());
    if (found == asking.waiting.end() || found->second != node.name) continue;
    if (!result.error().empty())
      asking.missing.push_back(Missing(node.name, result.error(), node.heard->wall_us));
    else if (!asking.question.answered(node.name, result))
      asking.missing.push_back(
          Missing(node.name, "answered without what was asked for (" + asking.question.feature + ")",
                  node.heard->wall_us));
    asking.waiting.erase(found);
    asking.moved = true;
    return;
  }
}

void FleetModel::FinishAsking(Asking& asking) {
  for (const auto& [id, name] : asking.waiting) {
    const auto found = nodes_.find(name);
    const bool connected = found != nodes_.end() && found->second.link;
    asking.missing.push_back(
        Missing(name,
                connected ? "no answer within " + std::to_string(asking.question.timeout.count()) + " ms"
                          : "connection lost while it was asked",
                found == nodes_.end() ? 0 : found->second.heard->wall_us.load()));
  }
  std::sort(asking.missing.begin(), asking.missing.end(),
            [](const auto& a, const auto& b) { return a.node() < b.node(); });
  asking.question.done(std::move(asking.missing));
}

void FleetModel::TellAskers() {
  const Clock::Steady now = clock_.Now();
  std::erase_if(asking_, [&](Asking& asking) {
    const bool nobody_left = std::all_of(asking.waiting.begin(), asking.waiting.end(), [&](const auto& one) {
      const auto node = nodes_.find(one.second);
      return node == nodes_.end() || !node->second.link;
    });
    if (nobody_left || now >= asking.deadline) {
      FinishAsking(asking);
      return true;
    }
    if (!asking.moved || now - asking.told < kProgressEvery) return false;
    asking.moved = false;
    asking.told = now;
    v1::PlanProgress progress;
    progress.set_asked(asking.asked);
    progress.set_answered(asking.asked - static_cast<std::uint32_t>(asking.waiting.size()));
    for (const auto& [id, name] : asking.waiting) progress.add_waiting(name);
    std::sort(progress.mutable_waiting()->begin(), progress.mutable_waiting()->end());
    // When nobody listens any more the answers are still to be counted off; they are few and end by
    // themselves.
    return !asking.question.progress(progress);
  });
}

void FleetModel::Follow(std::uint64_t generation, Clock::Steady deadline,
                        std::function<bool(v1::ApplyEvent)> tell) {
  Following& following = following_.emplace_back();
  following.generation = generation;
  following.deadline = deadline;
  following.tell = std::move(tell);
  for (const auto& [name, node] : state_->resolved.nodes) following.open.insert(name);
}

std::optional<v1::NodeOutcome> FleetModel::OutcomeOf(const Node& node) const {
  const auto desired = state_->desired.find(node.name);
  if (desired == state_->desired.end()) return std::nullopt;
  v1::NodeOutcome outcome;
  outcome.set_node(node.name);
  if (!node.nack.empty() && (node.nack_hash.empty() || node.nack_hash == desired->second.hash)) {
    outcome.set_verdict(v1::VERDICT_UNKNOWN);
    outcome.set_nack(node.nack);
    return outcome;
  }
  if (!node.link || !node.report) return std::nullopt;
  const NodeReport& report = node.report->report;
  if (report.state_hash != desired->second.hash || !report.settled) return std::nullopt;
  outcome.set_verdict(ToWire(report.verdict));
  outcome.set_changed(node.counted_generation == state_->number() ? node.changed : 0);
  for (const Finding& finding : report.findings)
    if (finding.verdict != Verdict::kCompliant && finding.verdict != Verdict::kNotApplicable)
      *outcome.add_failed() = ToWire(finding);
  return outcome;
}

bool FleetModel::TellFollower(Following& following) {
  const Clock::Steady now = clock_.Now();
  if (following.open.size() > kManyOpen && now - following.looked < kProgressEvery) return true;
  following.looked = now;
  v1::ApplyEvent event;
  event.set_generation(following.generation);
  event.set_nodes(static_cast<std::uint32_t>(state_->resolved.nodes.size()));
  if (following.generation != state_->number()) {
    // A newer generation took its place: nobody will settle on this one any more.
    for (const std::string& name : following.open) event.add_waiting(name);
    event.set_superseded_by(state_->number());
    event.set_finished(true);
    (void)following.tell(std::move(event));
    return false;
  }
  std::vector<std::string> waiting, unreachable;
  for (auto it = following.open.begin(); it != following.open.end();) {
    const Node& node = nodes_.at(*it);
    if (auto outcome = OutcomeOf(node)) {
      *event.add_done() = std::move(*outcome);
      it = following.open.erase(it);
      continue;
    }
    // A node that dropped off a moment ago is likely applying; it gets time to come back.
    const bool may_return = node.lost_at != Clock::Steady{} && now - node.lost_at < options_.dropped_grace;
    (node.link || may_return ? waiting : unreachable).push_back(*it);
    ++it;
  }
  // A rollout that somebody must help on is not waited for, once those that were begun are through.
  const std::string stopped = following.open.empty() ? "" : rollouts_.Stopped();
  const bool all_held =
      !stopped.empty() &&
      std::none_of(waiting.begin(), waiting.end(), [&](const auto& name) { return rollouts_.MaySend(name); });
  const bool timed_out = now >= following.deadline && !waiting.empty() && !all_held;
  const bool finished = waiting.empty() || timed_out || all_held;
  const bool news = following.first || finished || event.done_size() > 0 ||
                    waiting != following.last_waiting || unreachable != following.last_unreachable;
  if (!news) return true;
  event.mutable_waiting()->Assign(waiting.begin(), waiting.end());
  event.mutable_unreachable()->Assign(unreachable.begin(), unreachable.end());
  event.set_finished(finished);
  event.set_timed_out(timed_out);
  event.set_rollout(rollouts_.WaveText());
  if (finished && !timed_out) event.set_stopped(stopped);
  following.first = false;
  following.last_waiting = std::move(waiting);
  following.last_unreachable = std::move(unreachable);
  return following.tell(std::move(event)) && !finished;
}

void FleetModel::TellFollowers() {
  std::erase_if(following_, [&](Following& following) { return !TellFollower(following); });
}

void FleetModel::NoteSilence(Clock::Steady now) {
  if (now < next_silence_look_) return;
  next_silence_look_ = now + kSilenceLookEvery;
  for (auto& [name, node] : nodes_) {
    const bool silent = node.heard->Silent(now, options_.silent_after);
    if (std::exchange(node.silent, silent) == silent) continue;
    touched_.insert(name);
    rollouts_.NoteHeard(name, RackOf(name), silent);
  }
}

void FleetModel::Watch(std::function<bool(const FleetNews&)> tell) {
  FleetNews present;
  for (const auto& [name, node] : nodes_) present.nodes.push_back(name);
  if (tell(present)) watchers_.push_back(std::move(tell));
}

void FleetModel::TellWatchers() {
  FleetNews news;
  news.nodes.assign(touched_.begin(), touched_.end());
  news.changes = std::exchange(fresh_changes_, {});
  news.generation = std::exchange(fresh_generation_, 0);
  if (news.nodes.empty() && news.changes.empty() && news.generation == 0) return;
  std::erase_if(watchers_, [&](const auto& tell) { return !tell(news); });
}

}  // namespace railwright
