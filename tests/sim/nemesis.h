// Nemesis: what goes wrong from outside: crashes, cuts, full disks, networks, clocks, drift.
#pragma once

#include "tests/sim/events.h"
#include "tests/sim/faults.h"
#include "tests/sim/random.h"

namespace railwright::sim {

class World;
class NodeHost;

class Nemesis {
 public:
  Nemesis(World& world, Random random) : world_(world), random_(random) {}
  void Begin();
  /// Everything that stands in the way is taken away.
  void End();

 private:
  void Next();
  void Do(Fault fault);
  void Block(Fault fault);
  void Drift(Fault fault);
  Duration While() { return random_.Between(seconds(1), seconds(120)); }

  World& world_;
  Random random_;
  Duration pace_{0};
};

}  // namespace railwright::sim
