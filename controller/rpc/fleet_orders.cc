// What operators order: a new generation, a pause, that a node be forgotten.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "controller/rpc/fleet_model.h"
#include "core/wire/wire.h"
#include "railwright/explain.h"

namespace railwright {
namespace {

std::string Told(const Pause& pause) {
  return (pause.node.empty() ? "all nodes" : "node " + pause.node) + ", " +
         (pause.key.empty() ? "all keys" : "key " + pause.key);
}

}  // namespace

Status FleetModel::UnknownNode(const std::string& name) const {
  std::vector<std::string_view> known;
  for (const auto& [one, node] : nodes_) known.push_back(one);
  for (const Pause& pause : pauses_) {
    if (pause.node == name)
      return Status(Code::kNotFound,
                    "node \"" + name +
                        "\" is not known any more, only a pause of it is left; railctl pause "
                        "--resume --node " +
                        name + " ends that");
    known.push_back(pause.node);
  }
  const std::string_view near = Nearest(name, known);
  return Status(Code::kNotFound, "node \"" + name + "\" is not known" +
                                     (near.empty() ? "; railctl get nodes lists those that are"
                                                   : "; did you mean \"" + std::string(near) + "\"?"));
}

void FleetModel::Install(Installation order) {
  const auto done = WhenShown(std::move(order.done));
  if (order.base != state_->number())
    return done(Refused(order.audit, Status(Code::kAborted, "generation " + std::to_string(state_->number()) +
                                                                " was stored meanwhile")));
  if (!Writable()) return done(Status(Code::kResourceExhausted, read_only_));
  const StoredGeneration& stored = order.state->stored;
  const RolloutWrite rollout =
      rollouts_.Propose(*state_, *order.state, order.person.empty() ? stored.author : order.person);
  const Status status = store_.AddGeneration(stored, Stamped(order.audit), rollout);
  if (!status.ok()) {
    if (status.code() == Code::kAborted) return done(Refused(order.audit, status));
    CannotWrite(status);
    return done(status);
  }
  state_ = order.state;
  rollouts_.Begin(*state_, rollout);
  highest_generation_ = std::max(highest_generation_, state_->number());
  fresh_generation_ = state_->number();
  spdlog::info("generation {} stored: {} nodes, {} settings", stored.generation.value, stored.nodes,
               stored.settings);
  for (const auto& [name, resolved] : state_->resolved.nodes) nodes_[name].name = name;
  std::vector<Node*> left;
  for (auto it = nodes_.begin(); it != nodes_.end();) {
    Node& node = it->second;
    node.declared = state_->resolved.nodes.contains(it->first);
    if (!node.declared) rollouts_.Drop(node.name);
    if (!node.declared && !node.report) {
      // Never reported: nothing is enforced there and nothing is worth keeping.
      if (node.link) {
        v1::Refusal refusal;
        refusal.set_reason(v1::Refusal::REASON_UNKNOWN_NODE);
        refusal.set_message("node \"" + node.name + "\" left the inventory with generation " +
                            std::to_string(state_->number()));
        node.link->Refuse(refusal);
        by_link_.erase(node.link.get());
      }
      unsaved_.erase(&node);
      it = nodes_.erase(it);
      continue;
    }
    left.push_back(&node);
    touched_.insert(it->first);
    ++it;
  }
  Push(left);  // in one go: what is signed is made durable first
  reshaped_ = true;
  done(Ok());
}

void FleetModel::SetPause(PauseOrder order) {
  const Pause& wanted = order.pause;
  const auto done = WhenShown(std::move(order.done));
  AuditRow audit = order.by;
  audit.who = wanted.by;
  audit.action = order.resume ? "resume" : "pause";
  audit.subject = (wanted.node.empty() ? "all nodes" : wanted.node) + " " +
                  (wanted.key.empty() ? "all keys" : wanted.key);
  audit.detail = wanted.reason;
  const auto refuse = [&](const Status& why) { done(Refused(audit, why), {}); };
  auto pauses = pauses_;
  // A node may be gone while a pause of it is left: that one can still be ended.
  const bool paused = std::any_of(pauses.begin(), pauses.end(),
                                  [&](const Pause& pause) { return pause.node == wanted.node; });
  if (!wanted.node.empty() && !nodes_.contains(wanted.node) && !(order.resume && paused))
    return refuse(UnknownNode(wanted.node));
  const auto same = std::find_if(pauses.begin(), pauses.end(), [&](const Pause& pause) {
    return pause.node == wanted.node && pause.key == wanted.key;
  });
  if (order.resume) {
    if (same == pauses.end()) {
      std::string others;
      for (const Pause& pause : pauses)
        if (pause.node == wanted.node) others += (others.empty() ? "" : " and of ") + Told(pause);
      return refuse(Status(Code::kNotFound,
                           "there is no pause of " + Told(wanted) +
                               (others.empty() ? rollouts_.AnyBrake() ? "; a brake of the controller ends by "
                                                                        "railctl rollout reset-breaker"
                                                                      : "; railctl pause lists those that are"
                                               : "; there is one of " + others)));
    }
    pauses.erase(same);
    breaker_.Forget(wanted.key);
  } else if (same != pauses.end()) {
    *same = wanted;
  } else {
    pauses.push_back(wanted);
  }
  // A pause is a brake: with a full disk it is still pulled, and only its being remembered fails.
  const bool writable = Writable();
  Status stored =
      writable ? store_.SetPauses(pauses, Stamped(audit)) : Status(Code::kResourceExhausted, read_only_);
  if (!stored.ok() && writable) CannotWrite(stored);
  if (!stored.ok() && order.resume) return done(Status(Code::kResourceExhausted, read_only_), {});
  pauses_ = std::move(pauses);
  v1::SetPauseResponse response;
  for (const Pause& pause : pauses_) *response.add_pauses() = ToWire(pause);
  for (auto& [name, node] : nodes_) {
    if (!wanted.node.empty() && wanted.node != name) continue;
    if (node.link)
      response.add_told(name);
    else if (node.declared)
      response.add_not_reached(name);
    PushPauses(node);
    touched_.insert(name);
  }
  reshaped_ = true;
  if (!stored.ok())
    return done(Status(Code::kResourceExhausted,
                       "the connected nodes were told to pause, but it will not survive a restart of the "
                       "controller: " +
                           read_only_),
                std::move(response));
  done(Ok(), std::move(response));
}

// A brake that is pulled by the controller itself, and released by a person as any other.
void FleetModel::BreakMassDrift() {
  if (!std::exchange(drifted_, false)) return;
  const auto declared = static_cast<std::size_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const auto& entry) { return entry.second.declared; }));
  for (const DriftBreaker::Trip& trip : breaker_.TakeTrips(declared, clock_.WallNow())) {
    const bool paused = std::any_of(pauses_.begin(), pauses_.end(), [&](const Pause& pause) {
      return pause.node.empty() && (pause.key.empty() || pause.key == trip.key);
    });
    if (paused) continue;
    constexpr std::size_t kNamed = 5;
    std::string where;
    for (std::size_t i = 0; i < trip.nodes.size() && i < kNamed; ++i)
      where += (i == 0 ? "" : ", ") + trip.nodes[i];
    if (trip.nodes.size() > kNamed) where += ", …";
    PauseOrder order;
    order.pause.key = trip.key;
    order.pause.by = "railwright-controller";
    order.pause.reason =
        "drifted on " + std::to_string(trip.nodes.size()) + " of " + std::to_string(declared) +
        " nodes within " + std::to_string(DriftBreaker::kWindow.count()) + " minutes (" + where +
        "); find what changes it there, or change the profile, then railctl pause --resume " + trip.key;
    order.done = [](const Status&, const v1::SetPauseResponse&) {};
    spdlog::warn("{} is fixed nowhere until a person resumes it: {}", trip.key, order.pause.reason);
    SetPause(std::move(order));
  }
}

void FleetModel::Forget(const std::string& name, AuditRow audit,
                        std::function<void(const Status&, std::vector<Pause>)> answered) {
  const auto done = WhenShown(std::move(answered));
  audit.action = "forget";
  audit.subject = name;
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return done(Refused(audit, UnknownNode(name)), {});
  Node& node = found->second;
  if (node.declared)
    return done(Refused(audit, Status(Code::kFailedPrecondition,
                                      "node \"" + name +
                                          "\" is in the inventory; take it out of its Cluster document and "
                                          "apply that first")),
                {});
  if (!Writable()) return done(Status(Code::kResourceExhausted, read_only_), {});
  // Its pauses go with it, or they would wait for a name that may come back as another machine.
  std::vector<Pause> left, dropped;
  for (const Pause& pause : pauses_) (pause.node == name ? dropped : left).push_back(pause);
  for (const Pause& pause : dropped)
    audit.detail +=
        (audit.detail.empty() ? "with its pause of " : ", ") + (pause.key.empty() ? "all keys" : pause.key);
  Status status = store_.ForgetNode(name, Stamped(audit));
  if (status.code() == Code::kNotFound) status = store_.AddAudit(Stamped(audit));  // it never reported
  if (!status.ok()) {
    CannotWrite(status);
    return done(status, {});
  }
  pauses_ = std::move(left);
  if (node.link) {
    v1::Refusal refusal;
    refusal.set_reason(v1::Refusal::REASON_FORGOTTEN);
    refusal.set_message("node \"" + name +
                        "\" was forgotten; to have it back, declare it in a Cluster document and "
                        "run railctl apply");
    node.link->Refuse(refusal);
    by_link_.erase(node.link.get());
  }
  unsaved_.erase(&node);
  nodes_.erase(found);
  reshaped_ = true;
  done(Ok(), std::move(dropped));
}

}  // namespace railwright
