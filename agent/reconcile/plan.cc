#include "agent/reconcile/plan.h"

#include <algorithm>
#include <tuple>

#include "agent/reconcile/bind_ports.h"
#include "agent/reconcile/text.h"

namespace railwright {
namespace {

constexpr std::string_view kWayUnknown = "it is not known which interface leads to the controller";

void Refuse(Step& step, const char* reason, std::string message) {
  step.refused = reason;
  step.refused_message = std::move(message);
}

std::string FileOf(const Origin& origin) { return origin.place.substr(0, origin.place.find(':')); }

std::string FixFor(const Step& step) {
  const std::string& reason = step.refused;
  if (reason == "NotFabricPort" && step.refused_message.find("role management") != std::string::npos)
    return "change it by hand, on the node's console";
  if (reason == "NotFabricPort")
    return "declare port " + step.target +
           " with `role: fabric` in the Cluster document if it carries RoCE traffic";
  if (reason == "ManagementPath" && step.refused_message.starts_with(kWayUnknown))
    return "wait until the controller is reached, or name the interface with `--management-netdev`";
  if (reason == "ManagementPath")
    return "`railctl apply --try 120s` writes it and takes it back by itself unless the controller is "
           "reached "
           "again; or change it by hand, on the node's console";
  if (reason == "ObserveOnly") return "change it by hand, or see `railctl explain " + step.key + "`";
  if (reason == "NeedsReboot") return "set it in the boot configuration, drain the node, then reboot it";
  if (reason == "ObserveMode") {
    const std::string file = FileOf(step.origin);
    return "set `mode: enforce` in " + (step.origin.document.empty() ? "its profile" : step.origin.document) +
           ", then `railctl apply -f " + (file.empty() ? "FILE" : file) + "`";
  }
  if (reason == "Paused")
    return "when the work is done: `railctl pause --resume` with the node or key that `railctl pause` lists";
  if (reason == "ApprovalNeeded" && step.origin.document == "restore")
    return "declare it once more with `max_disruption: " + std::string(Name(step.disruption)) +
           "` in its profile and apply, then take it out with --restore; or change it by hand with the node "
           "drained";
  if (reason == "ApprovalNeeded")
    return "allow it by `max_disruption: " + std::string(Name(step.disruption)) + "` in " +
           (step.origin.document.empty() ? "its profile" : step.origin.document) +
           ", or change it by hand with the node drained";
  if (reason == "Busy") return "wait for the job to end, or drain the node; the agent then does it by itself";
  return {};
}

}  // namespace

std::string ManagementHit(const Step& step, const Wish& wish, const Policy& policy) {
  for (const std::string& member : step.blast)
    if (HitsManagement(policy.management, member)) return member;
  const BoundPort* port = wish.target.port;
  return port != nullptr && HitsManagement(policy.management, port->netdev) ? port->netdev : std::string();
}

const Pause* PauseOf(const std::vector<Pause>& pauses, const std::string& key, const Setting* setting) {
  for (const Pause& pause : pauses)
    if (pause.key.empty() || pause.key == key || (setting != nullptr && pause.key == setting->info().key))
      return &pause;
  return nullptr;
}

std::optional<Step> MakeStep(const Wish& wish, const Sight& sight, const Policy& policy,
                             const std::optional<Conflict>& conflict) {
  if (!sight.looked || !sight.error.ok() || sight.satisfied || sight.observation.pending_reboot ||
      sight.observation.kind == Observation::Kind::kNotApplicable)
    return std::nullopt;
  if (wish.restore && wish.restore->kind == Original::Kind::kUnknown) return std::nullopt;

  const SettingInfo& info = wish.setting->info();
  const std::string& from = ValueToApply(sight.observation);
  Step step;
  step.key = wish.spec.key;
  step.target = wish.spec.target;
  step.from = Shown(from);
  step.to = Shown(wish.desired);
  const bool stored = !sight.observation.stored_in.empty();
  step.next_boot = stored || info.effect == Effect::kNextBoot;
  step.disruption = stored ? Disruption::kNone : wish.setting->DisruptionOf(wish.target, from, wish.desired);
  step.blast = wish.setting->BlastSet(wish.target);
  if (stored && wish.target.port != nullptr && !wish.target.port->bdf.empty())
    step.blast.push_back("card:" + wish.target.port->bdf);
  step.why = wish.restore ? "no longer declared; the value from before Railwright's first write is put back"
                          : info.why;
  step.origin = wish.spec.origin;
  step.mode = wish.spec.mode;

  const BoundPort* port = wish.target.port;
  if (port != nullptr && port->port.role != PortRole::kFabric) {
    const std::string role(Name(port->port.role));
    Refuse(step, "NotFabricPort",
           "port " + port->port.name + " (" + port->netdev + ") has role " + role +
               "; only ports declared with role fabric are written");
    return step;
  }
  const bool storage = std::any_of(step.blast.begin(), step.blast.end(), [&](const std::string& member) {
    return HitsManagement(policy.storage, member);
  });
  if (const std::string hit = ManagementHit(step, wish, policy);
      !hit.empty() && (!policy.try_management || storage)) {
    Refuse(
        step, "ManagementPath",
        "the change disturbs " + hit + ", which carries the way to the controller or is a management port");
    return step;
  }
  if (policy.try_management && !ManagementHit(step, wish, policy).empty())
    step.why += " It touches the way to the controller: it comes back by itself unless it is confirmed.";
  if (!policy.management_unknown.empty() && (port != nullptr || !step.blast.empty())) {
    Refuse(step, "ManagementPath",
           std::string(kWayUnknown) + " (" + policy.management_unknown +
               "); until it is, nothing is written that an interface could feel");
    return step;
  }
  std::string only_looked_at =
      wish.restore ? std::string() : wish.setting->OnlyLookedAt(wish.target, wish.desired);
  if (conflict) {
    Refuse(step, "ConflictingValues", conflict->message);
  } else if (!only_looked_at.empty()) {
    Refuse(step, "ObserveOnly", std::move(only_looked_at));
  } else if (info.effect == Effect::kNeedsReboot) {
    Refuse(step, "NeedsReboot", "takes effect at the next boot only");
  } else if (step.mode != Mode::kEnforce) {
    Refuse(step, "ObserveMode",
           (step.origin.document.empty() ? "its profile" : step.origin.document) + " has mode observe");
  } else if (const Pause* pause = PauseOf(policy.pauses, step.key, wish.setting)) {
    std::string message = "enforcement of " + (pause->key.empty() ? "all keys" : pause->key) + " is paused";
    if (!pause->by.empty()) message += " by " + pause->by;
    if (!pause->reason.empty()) message += ": " + pause->reason;
    Refuse(step, "Paused", OneLine(message, 512));
  } else if (const Disruption most = std::max(policy.max_disruption, wish.spec.max_disruption);
             step.disruption > most) {
    Refuse(step, "ApprovalNeeded",
           "the change is of class " + std::string(Name(step.disruption)) +
               "; without approval changes end at " + std::string(Name(most)));
  }
  return step;
}

void RefuseIfBusy(Step& step, const Busy& busy, const NodeFacts& facts) {
  if (!step.refused.empty() || step.disruption <= Disruption::kTrafficBlip) return;
  const std::string user = HurtBy(busy, facts, step);
  if (user.empty()) return;
  Refuse(step, "Busy",
         user + "; a change of class " + std::string(Name(step.disruption)) + " waits until nobody is hurt");
}

void Annotate(Finding& finding, const Step& step) {
  if (step.refused.empty()) return;
  finding.reason = step.refused;
  finding.message += "; not corrected: " + step.refused_message;
  finding.fix = FixFor(step);
  if (step.refused == "ApprovalNeeded" || step.refused == "Busy" || step.refused == "NeedsReboot")
    finding.verdict = Verdict::kPending;
}

bool Before(const Wish& a, const Wish& b) {
  const int order_a = a.setting == nullptr ? 0 : a.setting->info().order;
  const int order_b = b.setting == nullptr ? 0 : b.setting->info().order;
  return std::tie(order_a, a.spec.key, a.spec.target) < std::tie(order_b, b.spec.key, b.spec.target);
}

}  // namespace railwright
