// A dry run's answer, grouped over nodes, as JSON and for people. Pure.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "controller/cli/would_change.h"
#include "core/text/exit_code.h"
#include "core/text/table.h"
#include "railwright/state.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

/// The same step, word for word, on several nodes.
struct StepGroup {
  Step step;
  std::vector<std::string> nodes;  ///< sorted
};
/// In the order of execution: groups keep the place of their first step.
std::vector<StepGroup> GroupSteps(const std::vector<Plan>& plans);

struct PlanView {
  v1::PlanResult result;
  std::vector<StepGroup> changes;  ///< would be done
  std::vector<StepGroup> refused;  ///< would not, and why
  std::size_t nodes_to_change = 0, steps = 0, refused_steps = 0, unknown_findings = 0;
  Disruption worst = Disruption::kNone;
  WouldChange would_change;  ///< of the refused steps, those that only the profile's mode keeps back

  bool changes_documents() const {
    return result.documents_added_size() + result.documents_changed_size() + result.documents_removed_size() >
           0;
  }
  /// An apply would store a generation or write something.
  bool would_do_something() const { return changes_documents() || steps > 0 || result.released_size() > 0; }
  /// 2 something differs or would be stored · 3 a node did not answer or could not read · 0 no changes.
  ExitCode exit() const;
  /// "12 changes on 4 of 4 nodes, LinkFlap at worst; 1 step refused".
  std::string Sentence() const;
};
PlanView MakePlanView(v1::PlanResult result);

/// {plan_id, plan_hash, base_generation, next_generation, complete, summary{…}, documents{added[],changed[],
///  removed[]}, changes[]{nodes[], count, …step}, refused[]{…}, released[]{key,target,restore,nodes[]},
///  not_answered[]{node,reason,last_seen}, warnings[], rollout[], would_change{values,nodes[],keys[]}, next}
nlohmann::ordered_json PlanJson(const PlanView& plan, const std::string& next);

struct PlanTextOptions {
  bool why = false;  ///< a block for each change, with its reason and origin; every node's own value
  std::string next;  ///< the command that would apply it
};
/// Ends in one line: the verdict, and the next command.
std::string PlanText(const PlanView& plan, const PlanTextOptions& options, const Terminal& terminal,
                     std::chrono::system_clock::time_point now);

/// `text` as one word for a shell.
std::string ShellWord(const std::string& text);

}  // namespace railwright::cli
