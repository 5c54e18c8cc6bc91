#include "tests/sim/world.h"

#include <cstdio>

#include "tests/sim/controller_host.h"
#include "tests/sim/nemesis.h"
#include "tests/sim/node_host.h"
#include "tests/sim/operators.h"

namespace railwright::sim {
namespace {

constexpr std::size_t kLinesKept = 60;
constexpr std::uint64_t kStepsMost = 500'000;  // some times what forty nodes need

std::size_t NodesOf(Random& random) {
  // Mostly few, since faults then meet; now and then many.
  return random.Chance(0.01) ? 40 : 3 + random.Below(3) + (random.Chance(0.15) ? random.Below(8) : 0);
}

}  // namespace

World::World(WorldOptions options) : random(options.seed), invariants(*this), options_(options) {
  UseSimulatedSqlite();
  tries = random.Chance(0.4);
  controller = std::make_unique<ControllerHost>(*this, random.Fork());
  const std::size_t count = NodesOf(random);
  for (std::size_t i = 1; i <= count; ++i)
    nodes.push_back(std::make_unique<NodeHost>(*this, "gpu-" + std::to_string(100 + i), random.Fork()));
  operators = std::make_unique<Operators>(*this, random.Fork());
  nemesis = std::make_unique<Nemesis>(*this, random.Fork());
}

World::~World() = default;

NodeHost* World::Find(const std::string& name) const {
  for (const auto& node : nodes)
    if (node->name() == name) return node.get();
  return nullptr;
}

Duration World::Latency(Random& chance) const {
  if (slow) return chance.Between(milliseconds(50), seconds(4));
  return chance.Between(std::chrono::microseconds(100), milliseconds(3));
}

void World::Trace(const std::string& line) {
  char time[32];
  std::snprintf(time, sizeof time, "%10.4f  ", static_cast<double>(events.now().count()) / 1e9);
  for (const char* text : {static_cast<const char*>(time), line.c_str()})
    for (; *text != '\0'; ++text)
      fingerprint_ = (fingerprint_ ^ static_cast<unsigned char>(*text)) * 0x100000001b3ULL;
  if (options_.print) std::fprintf(stderr, "%s%s\n", time, line.c_str());
  lines_.push_back(time + line);
  if (lines_.size() > kLinesKept) lines_.pop_front();
}

void World::Broken(const std::string& why) {
  if (broken_) return;
  broken_ = why;
  Trace("BROKEN " + why);
}

bool World::Pass(Duration time) {
  const Duration end = events.now() + time;
  while (!broken_ && events.Step(end)) {
    invariants.Check();
    if (events.done() > kStepsMost) Broken("the world does not come to rest");
  }
  return !broken_;
}

// Faults end, time passes, and everything must be as declared.
void World::Calm() {
  Trace("calm");
  chaos = false;
  nemesis->End();
  operators->Rest();
  // A node boots within 90 s; a dead peer is noticed within 100.
  if (!Pass(seconds(110))) return;
  // What drifted on many nodes is told late by those that were away, and pauses the key once more.
  constexpr int kRounds = 5;
  for (int round = 0; round < kRounds; ++round) {
    if (!controller->up()) return Broken("I6: the controller does not run");
    operators->ResumeAll();
    if (!Pass(seconds(5))) return;
    const std::uint64_t before = controller->view()->state->number();
    operators->ApplyAnew();
    if (!Pass(seconds(80))) return;
    if (controller->view()->state->number() == before)
      return Broken("I6: an apply without faults was not stored");
    // The last documents spread in waves, by the terms of those before them.
    constexpr int kLooks = 120;
    for (int look = 0; look < kLooks; ++look) {
      operators->HelpOn();
      if (!Pass(seconds(10))) return;
      if (!operators->going()) break;
    }
    if (operators->going()) return Broken("I6: the rollout does not come to its end");
    if (!Pass(seconds(80))) return;
    if (controller->view()->pauses.empty()) return invariants.CheckConverged();
  }
  Broken("I6: pauses come again and again");
}

Outcome World::Run() {
  controller->Boot();
  for (const auto& node : nodes) node->Boot();
  chaos = true;
  operators->Begin();
  nemesis->Begin();
  if (Pass(random.Between(minutes(3), minutes(10)))) Calm();
  Outcome outcome;
  outcome.ok = !broken_;
  outcome.broken = broken_.value_or("");
  outcome.trace.assign(lines_.begin(), lines_.end());
  outcome.fingerprint = fingerprint_;
  outcome.steps = events.done();
  outcome.orders = operators->orders();
  outcome.nodes = nodes.size();
  outcome.time = events.now();
  outcome.faults = faults;
  return outcome;
}

}  // namespace railwright::sim
