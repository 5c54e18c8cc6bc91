#include "agent/loop/status_file.h"

#include <unistd.h>

#include "agent/loop/node_agent.h"
#include "core/files/whole_file.h"
#include "core/text/shapes.h"
#include "core/text/times.h"
#include "core/text/yaml.h"

namespace railwright {

using Json = nlohmann::ordered_json;

Json ToJson(const StatusFile& status) {
  const NodeReport shorter = Shortened(status.report);
  NodeShape node;
  node.node = shorter.node;
  node.generation = shorter.generation;
  node.verdict = shorter.verdict;
  node.last_seen = status.written_at;
  node.findings = shorter.findings;
  Json json = StatusShape(shorter.generation, {node});
  json["settled"] = shorter.settled;
  json["agent"] = {
      {"pid", status.pid},
      {"version", status.version},
      {"boot_id", status.boot_id},
      {"started_at", Rfc3339(status.started_at)},
      {"written_at", Rfc3339(status.written_at)},
      {"written_at_ms",
       std::chrono::duration_cast<std::chrono::milliseconds>(status.written_at.time_since_epoch()).count()},
      {"controller", status.controller},
      {"session", status.session},
      {"management_netdev", status.management_netdev},
      {"state_hash", shorter.state_hash},
      {"refused_generation", status.refused_generation.value},
      {"refused", status.refused},
      {"trying", status.trying},
      {"tried_until", status.trying.empty() ? "" : Rfc3339(status.tried_until)},
      {"trouble", status.trouble},
      {"unstored_changes", status.unstored_changes},
      {"dropped_changes", status.dropped_changes},
      {"missing_hints", status.missing_hints}};
  json["pauses"] = Json::array();
  for (const Pause& pause : status.pauses) json["pauses"].push_back(ToJson(pause));
  json["changes"] = Json::array();
  for (ChangeRecord change : status.changes) {
    change.from = Shortened(change.from);
    change.to = Shortened(change.to);
    json["changes"].push_back(ToJson(change));
  }
  const Reconciler::Counters& counters = status.counters;
  json["counters"] = {{"scans", counters.scans},
                      {"hints", counters.hints},
                      {"drift_by_event", counters.drift_by_event},
                      {"drift_by_scan", counters.drift_by_scan},
                      {"corrected", counters.corrected},
                      {"failed", counters.failed},
                      {"contended", counters.contended}};
  return json;
}

Status NodeAgent::WriteStatus() {
  StatusFile status;
  status.report = Report();
  status.report.node = options_.node;
  status.written_at = parts_.clock.WallNow();
  status.started_at = started_at_;
  status.pid = ::getpid();
  status.version = options_.version;
  status.boot_id = options_.boot_id;
  status.controller = options_.controller;
  status.session = parts_.session_text();
  status.management_netdev = management_.Text();
  status.trying = reconciler_.Trying();
  status.tried_until = status.written_at + reconciler_.TryLeft();
  status.trouble = trouble_.message();
  status.refused = refused_message_;
  if (refused_) status.refused_generation.value = refused_->generation();
  status.unstored_changes = changes_.pending().size();
  status.dropped_changes = changes_.dropped();
  status.missing_hints = options_.missing_hints;
  status.pauses = controller_pauses_;
  for (const Pause& pause : local_pauses_.pauses()) status.pauses.push_back(pause);
  status.changes = recent_;
  status.counters = reconciler_.counters();
  // It can be made again at any time, so it is not synced.
  Status written =
      WriteWholeFile(parts_.state_dir.status(), ToJsonText(ToJson(status)), {.sync = Sync::kNone});
  const auto now = parts_.clock.Now();
  status_stale_ = !written.ok();
  if (written.ok()) status_written_ = now;
  next_status_ = now + (written.ok() ? std::chrono::milliseconds(250) : std::chrono::milliseconds(5000));
  return written;
}

}  // namespace railwright
