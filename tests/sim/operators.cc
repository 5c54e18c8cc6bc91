#include "tests/sim/operators.h"

#include "controller/fleet/documents.h"
#include "controller/rpc/stored_state.h"
#include "tests/sim/controller_host.h"
#include "tests/sim/node_host.h"
#include "tests/sim/world.h"

namespace railwright::sim {

Operators::Operators(World& world, Random random) : world_(world), random_(random) {}

void Operators::Begin() {
  for (int person = 0; person < 2; ++person)
    world_.events.After(random_.Between(seconds(1), seconds(10)), [this] { Next(); });
}

void Operators::Next() {
  if (resting_) return;
  world_.events.After(random_.Between(seconds(3), seconds(90)), [this] { Next(); });
  if (!world_.controller->up()) return;
  static const std::vector<std::string> keys = {"", "link.mtu", "link.pause", "sysctl.<name>",
                                                "sysctl.net.ipv4.conf.all.arp_ignore"};
  const std::uint64_t what = random_.Below(24);
  if (what < 9) return Apply(false);
  if (what < 11) return Apply(true);
  if (what < 15) {
    Pause pause;
    if (random_.Chance(0.7)) pause.node = random_.Pick(world_.nodes)->name();
    pause.key = random_.Pick(keys);
    return SetPause(pause, false);
  }
  if (what < 19) {
    const auto view = world_.controller->view();
    if (view->pauses.empty()) return;
    return SetPause(random_.Pick(view->pauses), true);
  }
  if (what < 20) return Forget();
  AboutRollout();
}

// How the generations after this one spread.
std::string Operators::Policy() {
  static const std::vector<std::string> waves = {"[\"1\", all]", "[\"1\", 50%, all]", "[all]", "[racks]",
                                                 "[\"2\", rack, all]"};
  static const std::vector<std::string> soaks = {"0s", "2s", "15s"};
  std::string text = "---\nkind: RolloutPolicy\nname: site\nwaves: " + random_.Pick(waves) +
                     "\nsoak: " + random_.Pick(soaks) + "\nmax_unavailable: \"" +
                     std::to_string(1 + random_.Below(3)) +
                     "\"\nsettle_within: " + std::to_string(30 + random_.Below(120)) + "s\n";
  if (random_.Chance(0.25)) text += "approve_above: \"" + std::to_string(random_.Below(3)) + "\"\n";
  if (random_.Chance(0.3)) text += "apart: [rack]\n";
  if (random_.Chance(0.3)) text += "max_failed: 50%\n";
  return text;
}

// The documents of the whole site, as somebody edited them now.
std::string Operators::Site(bool last) {
  std::string nodes;
  for (const auto& node : world_.nodes)
    if (last || random_.Chance(0.93) || nodes.empty())
      nodes += "  - {name: \"" + node->name() + "\", role: gpu, rack: r" +
               std::to_string(1 + (node->name().back() - '0') % 2) + "}\n";
  static const std::vector<std::string> mtus = {"1500", "4200", "9000"}, pauses = {"off", "on"};
  std::string settings;
  // The last one is new to every node, whatever came before.
  if (last || random_.Chance(0.9))
    settings += "  link.mtu: {fabric: " +
                (last ? std::to_string((world_.tries ? 1600 : 8000) + orders_) : random_.Pick(mtus)) + "}\n";
  if (random_.Chance(0.7)) settings += "  link.pause: {fabric: " + random_.Pick(pauses) + "}\n";
  if (random_.Chance(0.8) || settings.empty())
    settings += "  sysctl.net.ipv4.conf.all.arp_ignore: " + std::to_string(random_.Below(3)) + "\n";
  if (random_.Chance(0.5))
    settings += "  sysctl.net.ipv4.conf.all.arp_announce: " + std::to_string(random_.Below(3)) + "\n";
  return "kind: Cluster\nname: pod-a\nnodes:\n" + nodes +
         "ports:\n"
         "  - {name: rail0, select: {netdev: rail0}, role: fabric, address: \"10.10.0.{index}/24\"}\n"
         "  - {name: rail1, select: {netdev: rail1}, role: fabric, address: \"10.11.0.{index}/24\"}\n"
         "  - {name: mgmt, select: {netdev: eno1}, role: management}\n"
         "---\nkind: Profile\nname: base\nfor: {role: gpu}\nmode: enforce\nsettings:\n" +
         settings + (random_.Chance(0.6) ? Policy() : "");
}

// As AdminDesk does it: resolved upon a view, on another thread, so that it may be stale when it is stored.
void Operators::Apply(bool roll_back, bool last) {
  const auto view = world_.controller->view();
  StoredGeneration stored;
  stored.generation = {std::max(view->state->number(), view->highest_generation) + 1};
  stored.created = world_.controller->clock().WallNow();
  if (roll_back) {
    const auto all = world_.controller->store()->Generations(10);
    if (!all.ok() || all->size() < 2) return;
    const Generation to = random_.Pick(*all).generation;
    auto old = world_.controller->store()->GetGeneration(to);
    if (!old.ok())
      return world_.Broken("I1: generation " + std::to_string(to.value) +
                           " cannot be read: " + old.status().ToString());
    stored.documents = old->documents;
    stored.rolled_back_from = to;
  } else {
    for (const Document& d : LoadDocuments("site.yaml", Site(last)).documents)
      stored.documents.push_back({d.kind, d.name, d.file, d.line, d.text});
  }
  auto next = std::make_shared<FleetState>(*ResolveStored(stored, world_.controller->catalog()));
  if (!next->problem.empty())
    return world_.Broken("the operators' documents do not resolve: " + next->problem);
  next->stored.restores =
      Restores(view->state->stored.restores, view->state->resolved, next->resolved, random_.Chance(0.5));
  static const std::vector<milliseconds> tries = {milliseconds(0), seconds(30), seconds(60), seconds(120)};
  if (world_.tries) next->stored.try_for = last ? seconds(60) : random_.Pick(tries);
  next->desired = BuildDesired(next->resolved, next->stored.restores, next->stored.try_for);
  Install(next, view->state->number(), roll_back ? "rollback" : "apply");
}

void Operators::Install(const std::shared_ptr<FleetState>& next, std::uint64_t base,
                        const std::string& action) {
  const std::string who = Somebody();
  next->stored.author = who;
  const auto give = [this, next, base, action, who] {
    world_.controller->Order([this, next, base, action, who](FleetModel& model) {
      Installation order;
      order.state = next;
      order.base = base;
      order.audit = {0, {}, who, action, "generation " + std::to_string(next->number()), ""};
      order.done = [this, next, who](const Status& status) {
        if (world_.controller->dead()) return;  // nobody hears it
        world_.Trace(who + " is answered: generation " + std::to_string(next->number()) + " " +
                     status.ToString());
        if (!status.ok()) return;
        ++answered_;
        world_.invariants.Stored(*next, who);
      };
      world_.Trace(who + " orders " + action + " of generation " + std::to_string(next->number()));
      if (model.view()->state->number() == base) world_.invariants.Proposed(*model.view()->state, *next);
      model.Install(std::move(order));
    });
  };
  // Some look at a plan for a while before they say yes.
  world_.events.After(random_.Chance(0.2) ? random_.Between(seconds(1), seconds(30)) : Duration(0), give);
}

void Operators::SetPause(Pause pause, bool resume) {
  const std::string who = Somebody();
  pause.by = who;
  pause.reason = "because";
  world_.controller->Order([this, pause, resume, who](FleetModel& model) {
    PauseOrder order;
    order.pause = pause;
    order.resume = resume;
    order.done = [this, pause, resume, who](const Status& status, const v1::SetPauseResponse&) {
      if (world_.controller->dead()) return;
      world_.Trace(who + " is answered: " + status.ToString());
      if (!status.ok()) return;
      ++answered_;
      world_.invariants.PauseAnswered(pause, resume, who);
    };
    world_.Trace(who + (resume ? " resumes \"" : " pauses \"") + pause.node + "\" \"" + pause.key + "\"");
    world_.invariants.PauseOrdered(pause, resume);
    model.SetPause(std::move(order));
  });
}

void Operators::Forget() {
  const std::string who = Somebody();
  const std::string name = random_.Pick(world_.nodes)->name();
  world_.controller->Order([this, name, who](FleetModel& model) {
    const NodeView* node = model.view()->Find(name);
    if (node == nullptr || node->declared) return;
    world_.Trace(who + " forgets " + name);
    world_.invariants.ForgetOrdered(name);
    model.Forget(name, {.who = who}, [this, who](const Status& status, const std::vector<Pause>&) {
      if (world_.controller->dead() || !status.ok()) return;
      ++answered_;
      world_.invariants.Answered(who);
    });
  });
}

void Operators::Do(RolloutCommand::What what, std::uint64_t generation) {
  using What = RolloutCommand::What;
  const std::string who = Somebody();
  world_.controller->Order([this, what, generation, who](FleetModel& model) {
    RolloutCommand command;
    command.what = what;
    command.generation = generation;
    command.person = who;
    command.caller.kind = Caller::Kind::kOperator;
    command.by.who = who;
    command.done = [this, what, generation, who](const Status& status, const v1::RolloutsResponse& response) {
      if (world_.controller->dead()) return;
      world_.Trace(who + " is answered: " + status.ToString());
      std::vector<std::string> accepted;
      if (what == What::kResume && status.ok() && !response.rollouts().empty()) {
        for (const v1::RolloutNode& member : response.rollouts(0).members())
          if (member.state() == v1::ROLLOUT_NODE_STATE_ACCEPTED) accepted.push_back(member.node());
        for (const auto& node : world_.controller->view()->nodes)
          if (!node->connected) accepted.push_back(node->name);
      }
      if (what == What::kResume) world_.invariants.ResumeAnswered(accepted);
      if (!status.ok()) return;
      ++answered_;
      if (what == What::kPause || what == What::kAbort)
        return world_.invariants.RolloutAnswered(
            generation, what == What::kPause ? RolloutPhase::kPaused : RolloutPhase::kAborted, who);
      world_.invariants.Answered(who);
    };
    world_.Trace(who + " orders " + std::to_string(static_cast<int>(what)) +
                 " of the rollout of generation " + std::to_string(generation));
    world_.invariants.RolloutOrdered(generation);
    if (what == What::kResume) world_.invariants.ResumeOrdered();
    model.Do(std::move(command));
  });
}

void Operators::AboutRollout() {
  using What = RolloutCommand::What;
  static const std::vector<What> all = {What::kPause, What::kResume,  What::kResume,  What::kResume,
                                        What::kAbort, What::kApprove, What::kApprove, What::kResetBreaker};
  const std::uint64_t generation = world_.controller->view()->state->number();
  if (generation > 0) Do(random_.Pick(all), generation);
}

void Operators::HelpOn() {
  going_ = true;
  world_.controller->Order([this](FleetModel& model) {
    model.Ask(RolloutQuestion{"", [this](const v1::RolloutsResponse& response) { HelpOn(response); }});
  });
}

void Operators::HelpOn(const v1::RolloutsResponse& response) {
  using What = RolloutCommand::What;
  going_ = !response.brakes().empty();
  for (const v1::Brake& brake : response.brakes())
    if (brake.rack().empty()) Do(What::kResetBreaker, response.generation());
  if (response.rollouts().empty()) return;
  const v1::RolloutInfo& info = response.rollouts(0);
  going_ = going_ || info.state() != v1::ROLLOUT_STATE_DONE;
  if (info.state() == v1::ROLLOUT_STATE_WAITING) Do(What::kApprove, info.generation());
  if (info.state() == v1::ROLLOUT_STATE_PAUSED || info.state() == v1::ROLLOUT_STATE_HALTED ||
      info.failed() > 0)
    Do(What::kResume, info.generation());
  if (info.state() == v1::ROLLOUT_STATE_ABORTED) ApplyAnew();
}

void Operators::ResumeAll() {
  if (!world_.controller->up()) return;
  for (const Pause& pause : world_.controller->view()->pauses) SetPause(pause, true);
}

void Operators::ApplyAnew() {
  if (world_.controller->up()) Apply(false, true);
}

}  // namespace railwright::sim
