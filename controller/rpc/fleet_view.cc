#include "controller/rpc/fleet_view.h"

#include <algorithm>
#include <set>

#include "core/wire/wire.h"
#include "railwright/explain.h"
#include "railwright/unix_time.h"

namespace railwright {

void Heard::Note(const Clock& clock) {
  wall_us = ToUnixMicros(clock.WallNow());
  steady_us = std::chrono::duration_cast<std::chrono::microseconds>(clock.Now().time_since_epoch()).count();
}

bool Heard::Silent(Clock::Steady now, std::chrono::milliseconds silent_after) const {
  const std::int64_t heard = steady_us.load(std::memory_order_relaxed);
  if (heard == 0) return true;
  const auto now_us = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch());
  return now_us.count() - heard > std::chrono::microseconds(silent_after).count();
}

const NodeView* FleetView::Find(std::string_view name) const {
  const auto at =
      std::lower_bound(nodes.begin(), nodes.end(), name,
                       [](const auto& node, std::string_view wanted) { return node->name < wanted; });
  return at != nodes.end() && (*at)->name == name ? at->get() : nullptr;
}

bool FleetView::Stale(const NodeView& node, Clock::Steady now) const {
  return node.heard->Silent(now, silent_after);
}

bool FleetView::UpToDate(const NodeView& node) {
  return node.report && !node.desired_hash.empty() && node.report->report.state_hash == node.desired_hash;
}

v1::NodeStatus FleetView::StatusOf(const NodeView& node, Clock::Steady now) const {
  v1::NodeStatus status;
  status.set_node(node.name);
  status.set_desired_generation(state->number());
  status.set_connected(node.connected);
  status.set_stale(Stale(node, now));
  status.set_last_seen_unix_us(node.heard->wall_us.load(std::memory_order_relaxed));
  status.set_agent_version(node.agent_version);
  status.set_boot_id(node.boot_id);
  status.set_nack(node.nack);
  status.set_waits(node.waits);
  status.set_retired(!node.declared);
  status.set_verdict(v1::VERDICT_UNKNOWN);  // no evidence is Unknown
  if (node.report) {
    const NodeReport& report = node.report->report;
    const bool up_to_date = UpToDate(node);
    // A node whose state did not change with a generation is not sent anything; it has that generation all
    // the same.
    status.set_generation(up_to_date ? state->number() : report.generation.value);
    status.set_settled(up_to_date && report.settled);
    status.set_verdict(ToWire(report.verdict));
    status.set_corrected(node.report->corrected);
    for (const Finding& finding : report.findings) *status.add_findings() = ToWire(finding);
  }
  for (const std::string& feature : node.missing) status.add_missing_features(feature);
  for (const Pause& pause : pauses)
    if (pause.node.empty() || pause.node == node.name) *status.add_pauses() = ToWire(pause);
  const auto resolved = state->resolved.nodes.find(node.name);
  if (resolved != state->resolved.nodes.end()) {
    const InventoryNode& inventory = resolved->second.node;
    status.set_role(inventory.role);
    status.set_rack(inventory.rack);
    for (const auto& [key, value] : inventory.labels) (*status.mutable_labels())[key] = value;
    for (const Port& port : inventory.ports) *status.add_ports() = ToWire(port);
  }
  return status;
}

Result<std::vector<const NodeView*>> FleetView::Select(const std::vector<std::string>& patterns) const {
  std::vector<const NodeView*> selected;
  if (patterns.empty()) {
    for (const auto& node : nodes)
      if (node->declared) selected.push_back(node.get());
    return selected;
  }
  std::set<const NodeView*> seen;
  for (const std::string& pattern : patterns) {
    RW_ASSIGN_OR_RETURN(const std::vector<std::string> names, ExpandNames(pattern));
    for (const std::string& name : names) {
      const NodeView* node = Find(name);
      if (!node) {
        std::vector<std::string_view> known;
        for (const auto& one : nodes) known.push_back(one->name);
        const std::string_view near = Nearest(name, known);
        return Status(Code::kNotFound, "node \"" + name + "\" is not known" +
                                           (near.empty() ? "; railctl get nodes lists those that are"
                                                         : "; did you mean \"" + std::string(near) + "\"?"));
      }
      if (seen.insert(node).second) selected.push_back(node);
    }
  }
  return selected;
}

}  // namespace railwright
