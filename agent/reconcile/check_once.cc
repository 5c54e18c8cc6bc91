// One pass without a loop: what is, and what a state would do. Reads only.
#include <algorithm>
#include <optional>
#include <tuple>

#include "agent/reconcile/bind_ports.h"
#include "agent/reconcile/diff.h"
#include "agent/reconcile/loop.h"
#include "agent/reconcile/reboot_guard.h"
#include "agent/reconcile/trace.h"

namespace railwright {
namespace {

struct Seen {
  NodeFacts facts;
  std::vector<Wish> wishes;
  std::vector<Finding> findings;
  std::vector<Step> steps;  // in the order of execution
};

// What an agent remembers; a check that runs without one has neither.
struct Memory {
  const Journal* journal = nullptr;
  Boot boot{};
};

void LookOnce(const Machine& machine, const DesiredState& state, Policy policy, const Management& management,
              Memory memory, Seen& seen) {
  seen.facts = BindPorts(machine, state);
  policy.management = ManagementPath(machine, seen.facts, management.netdevs);
  policy.management_unknown = management.unknown;
  policy.storage = StorageCards(seen.facts);
  policy.try_management = state.try_for.count() > 0;
  std::vector<std::pair<const Wish*, Step>> steps;
  std::optional<Busy> busy;
  std::vector<Sight> sights(seen.wishes.size());
  std::vector<SeenWish> all;
  for (std::size_t i = 0; i < sights.size(); ++i) {
    BindWish(seen.wishes[i], seen.facts);
    Look(machine, seen.wishes[i], sights[i]);
    all.push_back({&seen.wishes[i], &sights[i]});
  }
  const std::vector<std::optional<Conflict>> conflicts = FindConflicts(all);
  for (std::size_t i = 0; i < sights.size(); ++i) {
    const Wish& wish = seen.wishes[i];
    const Sight& sight = sights[i];
    Finding finding = Judge(wish, sight);
    auto step = MakeStep(wish, sight, policy, conflicts[i]);
    if (step) {
      if (step->refused.empty() && step->disruption > Disruption::kTrafficBlip) {
        if (!busy) busy = LookForJobs(machine, seen.facts);
        RefuseIfBusy(*step, *busy, seen.facts);
      }
      Annotate(finding, *step);
    }
    if (memory.journal != nullptr && sight.observation.pending_reboot) {
      memory.boot.firmware = FirmwareOf(machine, wish);
      const auto awaited =
          AwaitedAfter(memory.journal->AwaitedOf(wish.spec.key, wish.spec.target), wish, sight, memory.boot);
      TellRebootDidNotHelp(finding, awaited, wish, sight, memory.boot.id);
    }
    if (conflicts[i]) TellConflict(finding, step, *conflicts[i]);
    if (step) steps.emplace_back(&wish, *std::move(step));
    seen.findings.push_back(std::move(finding));
  }
  std::sort(steps.begin(), steps.end(),
            [](const auto& a, const auto& b) { return Before(*a.first, *b.first); });
  for (auto& [wish, step] : steps) seen.steps.push_back(std::move(step));
}

}  // namespace

Result<Plan> Reconciler::DryRun(const DesiredState& state) {
  RW_RETURN_IF_ERROR(CheckState(state, impl_->catalog_));
  Policy policy;
  policy.max_disruption = impl_->options_.max_disruption;
  for (const Pause& pause : impl_->pauses_)
    if (pause.node.empty() || pause.node == state.node) policy.pauses.push_back(pause);
  Seen seen;
  seen.wishes = MakeWishes(state, impl_->catalog_, impl_->journal_.Originals());
  LookOnce(impl_->machine_, state, std::move(policy), impl_->management_,
           {&impl_->journal_, {impl_->options_.boot_id, {}, impl_->clock_.WallNow()}}, seen);
  Plan plan;
  plan.node = state.node;
  plan.generation = state.generation;
  plan.steps = std::move(seen.steps);
  plan.findings = std::move(seen.findings);
  return plan;
}

NodeReport CheckOnce(const Machine& machine, const Catalog& catalog,
                     const std::vector<std::unique_ptr<const Check>>& checks, const DesiredState& state) {
  Seen seen;
  seen.wishes = MakeWishes(state, catalog, {});
  LookOnce(machine, state, {}, {}, {}, seen);
  NodeReport report;
  report.node = state.node;
  report.generation = state.generation;
  report.state_hash = state.hash;
  report.findings = std::move(seen.findings);
  for (const auto& check : checks) {
    Trace trace;
    std::vector<Finding> found;
    {
      const TracingMachine through(machine, trace);
      found = check->Run(through, seen.facts);
    }
    found = CompleteFindings(*check, std::move(found), trace);
    std::move(found.begin(), found.end(), std::back_inserter(report.findings));
  }
  std::stable_sort(report.findings.begin(), report.findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.key, a.target) < std::tie(b.key, b.target);
  });
  report.verdict = WorstOf(report.findings);
  report.settled = true;
  return report;
}

}  // namespace railwright
