#include "controller/rpc/fleet_model.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "controller/rpc/stored_state.h"
#include "core/wire/wire.h"
#include "railwright/unix_time.h"

namespace railwright {

FleetModel::FleetModel(Store& store, const Clock& clock, const CatalogDeclarations& catalog,
                       FleetOptions options)
    : store_(store),
      clock_(clock),
      catalog_(catalog),
      options_(options),
      state_(std::make_shared<FleetState>()),
      rollouts_(store, clock, options.built_in,
                {[this](const std::string& node) { return SightOf(node); },
                 [this](const std::vector<std::string>& nodes) { return ReadyOf(nodes); },
                 [this](const std::string& node, const std::string& hash) { return Holds(node, hash); }}) {
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
    node.heard->wall_us = ToUnixMicros(report.at);
    node.lost_at = clock_.Now();  // it is dialling, most likely
    // What was in force when the state could not be resolved is not known; nobody is thrown out for that.
    if (!state_->problem.empty()) node.declared = true;
    node.report = node.acknowledged = std::make_shared<const StoredReport>(std::move(report));
    NoteAiling(node);
  }
  RW_RETURN_IF_ERROR(rollouts_.Load(*state_));
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
  view->waits = node.waits;
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
  if (rollouts_.AnyBrake())
    for (const auto& [name, node] : nodes_) {
      const auto brake = rollouts_.BrakeOn(name);
      if (brake) view->pauses.push_back(*brake);
      if (brake && brake->node.empty()) break;  // one for all
    }
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

void FleetModel::PushPauses(Node& node) {
  if (!node.link) return;
  v1::ControllerMessage message;
  auto* list = message.mutable_pauses();
  for (const Pause& pause : pauses_)
    if (pause.node.empty() || pause.node == node.name) *list->add_pauses() = ToWire(pause);
  if (const auto brake = rollouts_.BrakeOn(node.name)) *list->add_pauses() = ToWire(*brake);
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
  node.sent_number = 0;
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

AuditRow FleetModel::Stamped(AuditRow row) const {
  row.at = clock_.WallNow();
  return row;
}

Status FleetModel::Refused(AuditRow row, const Status& why) {
  row.outcome = "refused: " + why.message();
  if (read_only_.empty()) {
    const Status status = store_.AddAudit(Stamped(std::move(row)));
    if (!status.ok()) CannotWrite(status);
  }
  return why;
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
  MoveRollout();
  LookAtRenewals(now);
  BreakMassDrift();
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
  TellAskers();
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
  for (Asking& asking : asking_) FinishAsking(asking);
  asking_.clear();
  following_.clear();
  watchers_.clear();
}

}  // namespace railwright
