#include "controller/cli/plan_view.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "controller/cli/exit_code.h"
#include "controller/cli/fleet_view.h"
#include "core/text/shapes.h"
#include "core/text/times.h"
#include "core/wire/wire.h"

namespace railwright::cli {
namespace {

using Json = nlohmann::ordered_json;

auto Identity(const Step& step) {
  return std::tie(step.key, step.target, step.from, step.to, step.disruption, step.blast, step.refused,
                  step.refused_message, step.next_boot, step.mode, step.origin.document, step.origin.place,
                  step.why);
}

std::string Plural(std::uint64_t count, std::string_view one) {
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

Json GroupsJson(const std::vector<StepGroup>& groups) {
  Json rows = Json::array();
  for (const StepGroup& group : groups) {
    Json row = {{"nodes", group.nodes}, {"count", group.nodes.size()}};
    row.update(ToJson(group.step));
    rows.push_back(std::move(row));
  }
  return rows;
}

template <class Names>
Json ListJson(const Names& names) {
  Json json = Json::array();
  for (const auto& name : names) json.push_back(name);
  return json;
}

}  // namespace

std::vector<StepGroup> GroupSteps(const std::vector<Plan>& plans) {
  const auto before = [](const Step* a, const Step* b) { return Identity(*a) < Identity(*b); };
  std::map<const Step*, std::size_t, decltype(before)> index(before);
  std::vector<StepGroup> groups;
  for (const Plan& plan : plans)
    for (const Step& step : plan.steps) {
      const auto [at, fresh] = index.emplace(&step, groups.size());
      if (fresh) groups.push_back({step, {}});
      std::vector<std::string>& nodes = groups[at->second].nodes;
      if (nodes.empty() || nodes.back() != plan.node) nodes.push_back(plan.node);
    }
  for (StepGroup& group : groups) std::sort(group.nodes.begin(), group.nodes.end());
  return groups;
}

PlanView MakePlanView(v1::PlanResult result) {
  PlanView view;
  view.result = std::move(result);
  std::vector<Plan> plans;
  for (const v1::Plan& plan : view.result.nodes()) plans.push_back(FromWire(plan));
  for (const Plan& plan : plans) {
    std::size_t done = 0;
    for (const Step& step : plan.steps) {
      if (!step.refused.empty()) {
        ++view.refused_steps;
        view.would_change.Add(step.refused, plan.node, step.key);
        continue;
      }
      ++done;
      view.worst = std::max(view.worst, step.disruption);
    }
    view.steps += done;
    if (done > 0) ++view.nodes_to_change;
    for (const Finding& finding : plan.findings)
      if (finding.verdict == Verdict::kUnknown) ++view.unknown_findings;
  }
  for (StepGroup& group : GroupSteps(plans))
    (group.step.refused.empty() ? view.changes : view.refused).push_back(std::move(group));
  return view;
}

ExitCode PlanView::exit() const {
  Outcome outcome;
  if (changes_documents() || steps + refused_steps > 0 || result.released_size() > 0)
    outcome.Add(ExitCode::kDifferences);
  if (result.not_answered_size() > 0 || unknown_findings > 0) outcome.Add(ExitCode::kIncomplete);
  return outcome.code();
}

std::string PlanView::Sentence() const {
  const auto answered = static_cast<std::uint64_t>(result.nodes_size());
  const std::uint64_t asked = answered + static_cast<std::uint64_t>(result.not_answered_size());
  std::string text;
  if (steps > 0) {
    text = Plural(steps, "change") + " on " + std::to_string(nodes_to_change) + " of " +
           Plural(asked, "node") + ", " +
           (worst == Disruption::kNone ? "no disruption" : std::string(Name(worst)) + " at worst");
  } else if (answered == 0 && asked > 0) {
    text = changes_documents() ? "the documents change, what the nodes would do is not known"
                               : "what the nodes would do is not known";
  } else if (would_do_something()) {
    text = "the documents change, no node's value does";
  } else {
    text = "no changes, " + std::to_string(answered) + " of " + Plural(asked, "node") + " answered";
  }
  std::set<std::pair<std::string, std::string>> released;
  for (const v1::ReleasedKey& one : result.released()) released.emplace(one.key(), one.target());
  if (!released.empty()) text += "; " + Plural(released.size(), "setting") + " no longer declared";
  if (refused_steps > 0) text += "; " + Plural(refused_steps, "step") + " would not be done";
  if (unknown_findings > 0) text += "; " + Plural(unknown_findings, "value") + " could not be told";
  if (result.not_answered_size() > 0)
    text += "; " + Plural(static_cast<std::uint64_t>(result.not_answered_size()), "node") + " did not answer";
  return text;
}

Json PlanJson(const PlanView& plan, const std::string& next) {
  const v1::PlanResult& result = plan.result;
  std::map<std::tuple<std::string, std::string, bool>, std::vector<std::string>> released;
  for (const v1::ReleasedKey& one : result.released())
    released[{one.key(), one.target(), one.restore()}].push_back(one.node());
  Json released_rows = Json::array(), silent = Json::array();
  for (const auto& [what, nodes] : released)
    released_rows.push_back({{"key", std::get<0>(what)},
                             {"target", std::get<1>(what)},
                             {"restore", std::get<2>(what)},
                             {"nodes", nodes}});
  for (const v1::NotAnswered& one : result.not_answered())
    silent.push_back(
        {{"node", one.node()},
         {"reason", one.reason()},
         {"last_seen",
          one.last_seen_unix_us() == 0 ? Json(nullptr) : Json(Rfc3339(TimeOf(one.last_seen_unix_us())))}});
  return {{"plan_id", result.plan_id()},
          {"plan_hash", result.plan_hash()},
          {"base_generation", result.base_generation()},
          {"next_generation", result.next_generation()},
          {"complete", result.not_answered_size() == 0 && plan.unknown_findings == 0},
          {"summary",
           {{"nodes", result.nodes_size() + result.not_answered_size()},
            {"answered", result.nodes_size()},
            {"not_answered", result.not_answered_size()},
            {"to_change", plan.nodes_to_change},
            {"steps", plan.steps},
            {"refused", plan.refused_steps},
            {"unknown", plan.unknown_findings},
            {"worst_disruption", Name(plan.worst)}}},
          {"documents",
           {{"added", ListJson(result.documents_added())},
            {"changed", ListJson(result.documents_changed())},
            {"removed", ListJson(result.documents_removed())}}},
          {"changes", GroupsJson(plan.changes)},
          {"refused", GroupsJson(plan.refused)},
          {"released", std::move(released_rows)},
          {"not_answered", std::move(silent)},
          {"warnings", ListJson(result.warnings())},
          {"rollout", ListJson(result.rollout())},
          {"would_change", plan.would_change.ToJson()},
          {"next", next}};
}

std::string ShellWord(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace railwright::cli
