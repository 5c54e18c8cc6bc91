// Reads of the admin desk.
#include <algorithm>
#include <chrono>

#include "controller/rpc/admin_desk.h"
#include "controller/rpc/stored_state.h"
#include "core/decode/dcqcn_alias.h"
#include "core/wire/wire.h"
#include "railwright/explain.h"
#include "railwright/unix_time.h"

namespace railwright {
namespace {

constexpr std::uint32_t kListDefault = 100, kListMost = 10'000;
/// How far back `why` looks for the generation that brought a value, and for how long.
constexpr std::size_t kLookBack = 100;
constexpr std::chrono::seconds kLookBackFor{2};

const SettingSpec* SpecOf(const Resolved& resolved, const std::string& node, const std::string& key,
                          const std::string& target) {
  const auto found = resolved.nodes.find(node);
  if (found == resolved.nodes.end()) return nullptr;
  for (const SettingSpec& spec : found->second.settings)
    if (spec.key == key && spec.target == target) return &spec;
  return nullptr;
}

}  // namespace

std::uint32_t ListLimit(std::uint32_t asked) {
  return asked == 0 ? kListDefault : std::min(asked, kListMost);
}

Result<std::set<std::string>> AdminDesk::NamesOf(
    const google::protobuf::RepeatedPtrField<std::string>& patterns) const {
  std::set<std::string> names;
  if (patterns.empty()) return names;
  const auto view = core_.view();
  RW_ASSIGN_OR_RETURN(const auto selected, view->Select({patterns.begin(), patterns.end()}));
  for (const NodeView* node : selected) names.insert(node->name);
  return names;
}

Status AdminDesk::Version(const v1::VersionRequest&, v1::VersionResponse& response) const {
  const auto view = core_.view();
  response.set_version(RAILWRIGHT_VERSION);
  response.set_wire(kWire);
  response.set_wire_min(kWireMin);
  response.mutable_features()->Assign(WireFeatures().begin(), WireFeatures().end());
  response.set_catalog_hash(catalog_.hash());
  response.set_generation(view->state->number());
  response.set_read_only(view->read_only);
  response.set_problem(view->state->problem);
  return Ok();
}

Status AdminDesk::GetStatus(const v1::StatusRequest& request, v1::StatusResponse& response) const {
  const auto view = core_.view();
  RW_ASSIGN_OR_RETURN(const auto nodes, view->Select({request.nodes().begin(), request.nodes().end()}));
  response.set_generation(view->state->number());
  response.set_read_only(view->read_only);
  response.set_problem(view->state->problem);
  const Clock::Steady now = clock_.Now();
  for (const NodeView* node : nodes) {
    v1::NodeStatus& status = *response.add_nodes() = view->StatusOf(*node, now);
    if (!request.summary_only()) continue;
    status.clear_findings();
    status.clear_ports();
    status.clear_labels();
  }
  for (const Pause& pause : view->pauses) *response.add_pauses() = ToWire(pause);
  for (const auto& node : view->nodes)
    if (!node->declared) response.add_retired(node->name);
  return Ok();
}

Status AdminDesk::Changes(const v1::ChangesRequest& request, v1::ChangesResponse& response) const {
  RW_ASSIGN_OR_RETURN(const auto names, NamesOf(request.nodes()));
  Store::ChangeQuery query;
  query.nodes.assign(names.begin(), names.end());
  query.key = request.key();
  query.since = NearestToUnixMicros(request.since_unix_us());
  const std::uint32_t limit = ListLimit(request.limit());
  query.limit = limit + 1;
  RW_ASSIGN_OR_RETURN(const auto changes, store_.Changes(query));
  response.set_more(changes.size() > limit);
  for (std::size_t i = 0; i < changes.size() && i < limit; ++i) {
    v1::NodeChange& one = *response.add_changes();
    one.set_node(changes[i].first);
    *one.mutable_change() = ToWire(changes[i].second);
  }
  return Ok();
}

Status AdminDesk::Generations(const v1::GenerationsRequest& request,
                              v1::GenerationsResponse& response) const {
  RW_ASSIGN_OR_RETURN(const auto generations, store_.Generations(ListLimit(request.limit())));
  for (const StoredGeneration& g : generations) {
    v1::GenerationInfo& info = *response.add_generations();
    info.set_generation(g.generation.value);
    info.set_created_unix_us(ToUnixMicros(g.created));
    info.set_author(g.author);
    info.set_comment(g.comment);
    info.set_rolled_back_from(g.rolled_back_from.value);
    info.set_nodes(static_cast<std::uint32_t>(g.nodes));
    info.set_settings(static_cast<std::uint32_t>(g.settings));
    for (const StoredDocument& document : g.documents)
      info.add_documents(document.kind + "/" + document.name);
  }
  return Ok();
}

Status AdminDesk::Desired(const v1::DesiredRequest& request, v1::DesiredResponse& response) const {
  const auto view = core_.view();
  auto state = view->state;
  if (request.generation() != 0 && request.generation() != state->number()) {
    RW_ASSIGN_OR_RETURN(auto stored, store_.GetGeneration({request.generation()}));
    state = ResolveStored(std::move(stored), catalog_);
  }
  if (!state->problem.empty()) return Status(Code::kFailedPrecondition, state->problem);
  const auto found = state->desired.find(request.node());
  if (found == state->desired.end()) {
    if (state == view->state) {
      RW_ASSIGN_OR_RETURN(const auto known,
                          view->Select({request.node()}));  // an unknown name is told as such
    }
    return Status(Code::kNotFound, "node \"" + request.node() + "\" is not in the inventory of generation " +
                                       std::to_string(state->number()));
  }
  response.set_generation(state->number());
  response.set_hash(found->second.hash);
  response.mutable_group()->ParseFromString(*found->second.group);
  response.mutable_overlay()->ParseFromString(found->second.overlay);
  return Ok();
}

std::uint64_t AdminDesk::SinceGeneration(const FleetView& view, const std::string& node,
                                         const SettingSpec& spec) const {
  const auto until = std::chrono::steady_clock::now() + kLookBackFor;
  std::uint64_t since = view.state->number();
  const auto generations = store_.Generations(kLookBack + 1);
  if (!generations.ok()) return 0;
  for (std::size_t i = 1; i < generations->size() && std::chrono::steady_clock::now() < until; ++i) {
    auto stored = store_.GetGeneration((*generations)[i].generation);
    if (!stored.ok()) return since;
    const auto older = ResolveStored(std::move(*stored), catalog_);
    const SettingSpec* before = SpecOf(older->resolved, node, spec.key, spec.target);
    if (!before || before->value != spec.value || before->mode != spec.mode) return since;
    since = older->number();
  }
  return since;
}

Status AdminDesk::Why(const v1::WhyRequest& request, v1::WhyResponse& response) const {
  const auto view = core_.view();
  RW_ASSIGN_OR_RETURN(const auto selected, view->Select({request.node()}));
  if (selected.size() != 1)
    return Status(Code::kInvalidArgument,
                  "why is asked of one node, not of " + std::to_string(selected.size()));
  const NodeView& node = *selected.front();
  const auto match = catalog_.Find(request.key());
  const std::string key = match.ok() ? match->key : request.key();

  std::set<std::string> targets;
  const auto resolved = view->state->resolved.nodes.find(node.name);
  const bool declared = resolved != view->state->resolved.nodes.end();
  if (declared)
    for (const auto& [what, layers] : resolved->second.layers)
      if (what.key == key) targets.insert(what.target);
  if (node.report)
    for (const Finding& finding : node.report->report.findings)
      if (finding.key == key) targets.insert(finding.target);
  if (targets.empty()) {
    if (const DcqcnAlias* alias = FindDcqcnAlias(request.key()))
      return Status(Code::kNotFound, request.key() +
                                         " is an alias, and nodes know its register only: railctl why " +
                                         node.name + " " + TargetKeyOf(*alias));
    if (!match.ok()) return match.status();
    return Status(Code::kNotFound,
                  key + " is not declared for node " + node.name + ", and nothing was seen of it");
  }
  if (!request.target().empty() && !targets.contains(request.target())) {
    std::string known;
    for (const std::string& target : targets) known += (known.empty() ? "" : ", ") + target;
    return Status(Code::kNotFound, key + " has no target \"" + request.target() + "\" on node " + node.name +
                                       "; it has: " + known);
  }

  Store::ChangeQuery query;
  query.nodes = {node.name};
  query.key = key;
  query.limit = 1000;
  RW_ASSIGN_OR_RETURN(auto changes, store_.Changes(query));
  // The node counted its changes itself; its clock may have been set back between two of them.
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return a.second.sequence > b.second.sequence; });
  response.set_generation(view->state->number());
  for (const std::string& target : targets) {
    if (!request.target().empty() && target != request.target()) continue;
    v1::WhyTarget& one = *response.add_targets();
    one.set_target(target);
    if (const SettingSpec* spec = SpecOf(view->state->resolved, node.name, key, target)) {
      one.set_value(spec->value);
      one.set_since_generation(SinceGeneration(*view, node.name, *spec));
    }
    if (declared) {
      const auto layers = resolved->second.layers.find(KeyTarget{key, target});
      if (layers != resolved->second.layers.end()) {
        for (const Layer& layer : layers->second) {
          v1::WhyLayer& told = *one.add_layers();
          *told.mutable_origin() = ToWire(layer.origin);
          told.set_value(layer.value);
          told.set_precedence(layer.precedence);
          told.set_mode(ToWire(layer.mode));
          told.set_won(one.layers_size() == 1);
        }
      }
    }
    if (node.report)
      for (const Finding& finding : node.report->report.findings)
        if (finding.key == key && finding.target == target) *one.mutable_finding() = ToWire(finding);
    for (const auto& [name, change] : changes)
      if (change.target == target && one.changes_size() < 10) *one.add_changes() = ToWire(change);
  }
  return Ok();
}

}  // namespace railwright
