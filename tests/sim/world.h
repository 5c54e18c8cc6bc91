// World: one run. One seed is one controller with its store, some nodes with their agents and kernels, a
// network between them, operators, and all that goes wrong.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/disk.h"
#include "tests/sim/events.h"
#include "tests/sim/faults.h"
#include "tests/sim/invariants.h"
#include "tests/sim/random.h"

namespace railwright::sim {

class ControllerHost;
class NodeHost;
class Operators;
class Nemesis;

struct WorldOptions {
  std::uint64_t seed = 1;
  bool print = false;  ///< the trace, as it happens
};

/// What became of a run.
struct Outcome {
  bool ok = true;
  std::string broken;              ///< which invariant, and how
  std::vector<std::string> trace;  ///< the last lines of it
  std::uint64_t fingerprint = 0;   ///< of the whole trace: equal for equal seeds
  std::uint64_t steps = 0, orders = 0, nodes = 0;
  Duration time{0};  ///< simulated
  FaultCounts faults;
};

class World {
 public:
  explicit World(WorldOptions options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Outcome Run();

  // What the parts of the world share.
  Events events;
  Random random;
  FaultCounts faults;
  Invariants invariants;
  bool chaos = false;  ///< faults may happen
  bool slow = false;   ///< the network is
  /// The controller is reached over a rail, and its operators let changes of that be tried.
  bool tries = false;
  bool broken() const { return broken_.has_value(); }
  /// A line of the trace, with the time before it.
  void Trace(const std::string& line);
  /// An invariant does not hold: the run ends.
  void Broken(const std::string& why);
  /// A message's way.
  Duration Latency(Random& chance) const;

  std::unique_ptr<ControllerHost> controller;
  std::vector<std::unique_ptr<NodeHost>> nodes;
  std::unique_ptr<Operators> operators;
  std::unique_ptr<Nemesis> nemesis;

  NodeHost* Find(const std::string& name) const;

 private:
  /// Lets time pass; false when an invariant broke.
  bool Pass(Duration time);
  void Calm();

  const WorldOptions options_;
  std::optional<std::string> broken_;
  std::deque<std::string> lines_;
  std::uint64_t fingerprint_ = 0xcbf29ce484222325ULL;
};

}  // namespace railwright::sim
