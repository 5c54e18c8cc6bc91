#include "controller/rpc/fleet_model.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "controller/rpc/stored_state.h"
#include "core/wire/wire.h"

namespace railwright {

FleetModel::FleetModel(Store& store, const Clock& clock, const CatalogDeclarations& catalog,
                       FleetOptions options)
    : store_(store),
      clock_(clock),
      catalog_(catalog),
      options_(options),
      state_(std::make_shared<FleetState>()) {
  catalogs_.insert(catalog.hash());
  Publish();
}

Status FleetModel::Load() {
  RW_ASSIGN_OR_RETURN(auto latest, store_.LatestGeneration());
  if (latest) {
    state_ = ResolveStored(std::move(*latest), catalog_);
    if (!state_->problem.empty()) spdlog::error("{}", state_->problem);
  }
  highest_generation_ = state_->number();
  for (const auto& [name, node] : state_->resolved.nodes) {
    Node& one = nodes_[name];
    one.name = name;
    one.declared = true;
  }
  RW_ASSIGN_OR_RETURN(auto reports, store_.Reports());
  for (StoredReport& report : reports) {
    Node& node = nodes_[report.report.node];
    node.name = report.report.node;
    node.agent_version = report.agent_version;
    node.boot_id = report.boot_id;
    node.durable_change = node.known_change = report.stored_change;
    node.heard->wall_us =
        std::chrono::duration_cast<std::chrono::microseconds>(report.at.time_since_epoch()).count();
    node.lost_at = clock_.Now();  // it is dialling, most likely
    // What was in force when the state could not be resolved is not known; nobody is thrown out for that.
    if (!state_->problem.empty()) node.declared = true;
    node.report = node.acknowledged = std::make_shared<const StoredReport>(std::move(report));
  }
  RW_ASSIGN_OR_RETURN(pauses_, store_.Pauses());
  reshaped_ = true;
  Publish();
  return Ok();
}

FleetModel::Node& FleetModel::Touch(Node& node) {
  touched_.insert(node.name);
  return node;
}

std::shared_ptr<const NodeView> FleetModel::ViewOf(const Node& node) const {
  auto view = std::make_shared<NodeView>();
  view->name = node.name;
  view->declared = node.declared;
  view->connected = node.link != nullptr;
  view->heard = node.heard;
  view->report = node.report;
  view->agent_version = node.agent_version;
  view->boot_id = node.boot_id;
  view->catalog_hash = node.catalog_hash;
  view->missing = node.missing;
  view->nack = node.nack;
  const auto desired = state_->desired.find(node.name);
  if (desired != state_->desired.end())
    view->desired_hash = desired->second.hash;
  else if (state_->problem.empty() && state_->number() > 0)
    view->desired_hash = RetiredDesired(node.name).hash;
  return view;
}

void FleetModel::Publish() {
  if (touched_.empty() && !reshaped_) return;
  auto view = std::make_shared<FleetView>();
  view->state = state_;
  view->pauses = pauses_;
  view->read_only = read_only_;
  view->highest_generation = highest_generation_;
  view->silent_after = options_.silent_after;
  if (reshaped_) {
    view->nodes.reserve(nodes_.size());
    for (const auto& [name, node] : nodes_) view->nodes.push_back(ViewOf(node));
  } else {
    view->nodes = view_->nodes;
    for (const std::string& name : touched_) {
      const auto at =
          std::lower_bound(view->nodes.begin(), view->nodes.end(), name,
                           [](const auto& node, const std::string& wanted) { return node->name < wanted; });
      if (at != view->nodes.end() && (*at)->name == name) *at = ViewOf(nodes_.at(name));
    }
  }
  view_ = std::move(view);
  reshaped_ = false;
  if (show_) show_(view_);
}

void FleetModel::ShowTo(std::function<void(std::shared_ptr<const FleetView>)> show) {
  show_ = std::move(show);
  show_(view_);
}

NodeDesired FleetModel::DesiredOf(const Node& node) const {
  const auto found = state_->desired.find(node.name);
  return found != state_->desired.end() ? found->second : RetiredDesired(node.name);
}

void FleetModel::Push(Node& node) {
  // With no generation, or one that could not be resolved, there is nothing to say: agents keep what they
  // have.
  if (!node.link || state_->number() == 0 || !state_->problem.empty()) return;
  const NodeDesired desired = DesiredOf(node);
  if (desired.hash != node.nack_hash) {
    node.nack.clear();  // it was another state that the node refused
    node.nack_hash.clear();
  }
  if (desired.hash == node.sent_hash || (node.sent_hash.empty() && desired.hash == node.enforced_hash))
    return;
  node.sent_hash = desired.hash;
  (void)node.link->Send(DesiredOutbound(state_->number(), desired));
}

void FleetModel::PushPauses(Node& node) {
  if (!node.link) return;
  v1::ControllerMessage message;
  auto* list = message.mutable_pauses();
  for (const Pause& pause : pauses_)
    if (pause.node.empty() || pause.node == node.name) *list->add_pauses() = ToWire(pause);
  (void)node.link->Send(ToOutbound(message));
}

void FleetModel::Unlink(Node& node) {
  if (!node.link) return;
  by_link_.erase(node.link.get());
  node.link.reset();
  node.lost_at = clock_.Now();
  node.ack.reset();
  node.held_back = false;
  node.sent_hash.clear();
  Touch(node);
}

void FleetModel::CannotWrite(const Status& status) {
  if (read_only_.empty())
    spdlog::error("the store takes no writes, the controller is read-only until it does: {}",
                  status.message());
  read_only_ = status.message();
  next_probe_ = clock_.Now() + options_.probe_every;
  reshaped_ = true;
}

bool FleetModel::Writable() {
  if (read_only_.empty()) return true;
  next_probe_ = clock_.Now() + options_.probe_every;
  if (!store_.Probe().ok()) return false;
  spdlog::info("the store takes writes again");
  read_only_.clear();
  reshaped_ = true;
  return true;
}

Status FleetModel::Audited(AuditRow row) {
  row.at = clock_.WallNow();
  const Status status = store_.AddAudit(row);
  if (!status.ok()) CannotWrite(status);
  return status;
}

void FleetModel::Flush() {
  while (!unsaved_.empty()) {
    std::vector<Store::NodeWrite> writes;
    std::vector<Node*> nodes;
    for (Node* node : unsaved_) {
      if (nodes.size() == options_.batch) break;
      nodes.push_back(node);
      Store::NodeWrite& write = writes.emplace_back();
      write.report = *node->report;
      // Changes are dropped by the stored sequence, so it must not run ahead of them.
      write.report.stored_change = node->durable_change;
      write.changes = node->unsaved_changes;
    }
    const Status status = store_.PutReports(writes);
    if (!status.ok()) return CannotWrite(status);
    for (Node* node : nodes) {
      unsaved_.erase(node);
      for (const ChangeRecord& change : node->unsaved_changes) {
        node->durable_change = std::max(node->durable_change, change.sequence);
        v1::NodeChange& fresh = fresh_changes_.emplace_back();
        fresh.set_node(node->name);
        *fresh.mutable_change() = ToWire(change);
      }
      node->unsaved_changes.clear();
      node->acknowledged = node->report;
      if (!node->link) continue;
      if (std::exchange(node->held_back, false)) node->link->Consumed();
      if (!node->ack) continue;
      node->ack->set_stored_change(node->durable_change);
      v1::ControllerMessage message;
      *message.mutable_report_ack() = std::move(*node->ack);
      node->ack.reset();
      (void)node->link->Send(ToOutbound(message));
    }
  }
}

void FleetModel::EndBatch() {
  const Clock::Steady now = clock_.Now();
  if (!read_only_.empty() && now >= next_probe_) (void)Writable();
  NoteSilence(now);
  // Shown first, told afterwards: who hears that something happened may ask for it at once.
  Publish();
  if (read_only_.empty()) Flush();
  if (reshaped_) Publish();  // the disk turned out to be full
  for (auto it = strangers_.begin(); it != strangers_.end();) {
    if (now - it->second < options_.hello_within) {
      ++it;
      continue;
    }
    it->first->End(Status(Code::kDeadlineExceeded, "no Hello within " +
                                                       std::to_string(options_.hello_within.count()) +
                                                       " ms of the stream's beginning"));
    it = strangers_.erase(it);
  }
  for (const auto& answer : std::exchange(answers_, {})) answer();
  TellPlans();
  TellFollowers();
  TellWatchers();
  touched_.clear();
}

void FleetModel::Shutdown() {
  EndBatch();
  const Status why(Code::kUnavailable, "the controller is stopping; dial again");
  for (auto& [link, since] : strangers_) link->End(why);
  strangers_.clear();
  for (auto& [name, node] : nodes_)
    if (node.link) node.link->End(why);
  for (Asking& asking : asking_) FinishPlan(asking);
  asking_.clear();
  following_.clear();
  watchers_.clear();
}

void FleetModel::Install(Installation order) {
  const auto done = WhenShown(std::move(order.done));
  if (order.base != state_->number())
    return done(
        Status(Code::kAborted, "generation " + std::to_string(state_->number()) + " was stored meanwhile"));
  if (!Writable()) return done(Status(Code::kResourceExhausted, read_only_));
  const StoredGeneration& stored = order.state->stored;
  const Status status = store_.AddGeneration(stored);
  if (!status.ok()) {
    if (status.code() != Code::kAborted) CannotWrite(status);
    return done(status);
  }
  (void)Audited(order.audit);
  state_ = order.state;
  highest_generation_ = std::max(highest_generation_, state_->number());
  fresh_generation_ = state_->number();
  spdlog::info("generation {} stored: {} nodes, {} settings", stored.generation.value, stored.nodes,
               stored.settings);
  for (const auto& [name, resolved] : state_->resolved.nodes) nodes_[name].name = name;
  for (auto it = nodes_.begin(); it != nodes_.end();) {
    Node& node = it->second;
    node.declared = state_->resolved.nodes.contains(it->first);
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
    Push(node);
    touched_.insert(it->first);
    ++it;
  }
  reshaped_ = true;
  done(Ok());
}

void FleetModel::SetPause(PauseOrder order) {
  const Pause& wanted = order.pause;
  const auto done = WhenShown(std::move(order.done));
  const auto refuse = [&](Code code, const std::string& why) { done(Status(code, why), {}); };
  if (!wanted.node.empty() && !nodes_.contains(wanted.node))
    return refuse(Code::kNotFound,
                  "node \"" + wanted.node + "\" is not known; railctl get nodes lists those that are");
  auto pauses = pauses_;
  const auto same = std::find_if(pauses.begin(), pauses.end(), [&](const Pause& pause) {
    return pause.node == wanted.node && pause.key == wanted.key;
  });
  if (order.resume) {
    if (same == pauses.end())
      return refuse(Code::kNotFound, "there is no pause of " +
                                         (wanted.node.empty() ? "all nodes" : "node " + wanted.node) + ", " +
                                         (wanted.key.empty() ? "all keys" : "key " + wanted.key) +
                                         "; railctl status shows those that are");
    pauses.erase(same);
  } else if (same != pauses.end()) {
    *same = wanted;
  } else {
    pauses.push_back(wanted);
  }
  // A pause is a brake: with a full disk it is still pulled, and only its being remembered fails.
  const bool writable = Writable();
  Status stored = writable ? store_.SetPauses(pauses) : Status(Code::kResourceExhausted, read_only_);
  if (!stored.ok() && writable) CannotWrite(stored);
  if (!stored.ok() && order.resume) return refuse(Code::kResourceExhausted, read_only_);
  pauses_ = std::move(pauses);
  if (stored.ok())
    (void)Audited({0,
                   {},
                   wanted.by,
                   order.resume ? "resume" : "pause",
                   (wanted.node.empty() ? "all nodes" : wanted.node) + " " +
                       (wanted.key.empty() ? "all keys" : wanted.key),
                   wanted.reason});
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

void FleetModel::Forget(const std::string& name, const std::string& who,
                        std::function<void(const Status&)> answered) {
  const auto done = WhenShown(std::move(answered));
  const auto found = nodes_.find(name);
  if (found == nodes_.end())
    return done(Status(Code::kNotFound,
                       "node \"" + name + "\" is not known; railctl get nodes lists those that are"));
  Node& node = found->second;
  if (node.declared)
    return done(Status(Code::kFailedPrecondition,
                       "node \"" + name +
                           "\" is in the inventory; take it out of its Cluster document and apply that "
                           "first"));
  if (!Writable()) return done(Status(Code::kResourceExhausted, read_only_));
  const Status status = store_.ForgetNode(name);
  if (!status.ok() && status.code() != Code::kNotFound) {
    CannotWrite(status);
    return done(status);
  }
  (void)Audited({0, {}, who, "forget", name, ""});
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
  done(Ok());
}

}  // namespace railwright
