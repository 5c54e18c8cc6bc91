// NodeHost: a node: its kernel, its disk, its clock, and the production agent on it, which may die and start.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "agent/loop/node_agent.h"
#include "railwright/mailbox.h"
#include "tests/sim/disk.h"
#include "tests/sim/events.h"
#include "tests/sim/machine.h"
#include "tests/sim/random.h"

namespace railwright::sim {

class World;
class Dialler;

class NodeHost {
 public:
  NodeHost(World& world, std::string name, Random random);
  ~NodeHost();

  const std::string& name() const { return name_; }
  World& world() { return world_; }
  Random& random() { return random_; }
  Disk& disk() { return disk_; }
  HostClock& clock() { return clock_; }
  SimMachine& machine() { return machine_; }
  NodeAgent* agent() { return agent_.get(); }
  const NodeAgent* agent() const { return agent_.get(); }
  Dialler& dialler() { return *dialler_; }
  bool dead() const { return disk_.dead(); }
  /// The interface towards the controller.
  std::string way() const;
  /// Whether something of this size gets there or back: the switch carries no jumbo frames.
  bool Passes(std::size_t bytes) const;
  /// How much goes wrong here: 0 nothing, 1 a lot.
  double trouble() const { return trouble_; }
  /// Since when the agent has run without a break.
  std::optional<Duration> up_since() const { return agent_ ? std::optional(up_since_) : std::nullopt; }

  /// Starts the agent; tries again later when it cannot.
  void Boot();
  /// What its poll loop does once.
  void Turn();
  /// A turn soon.
  void Wake(Duration wait);
  /// kill -9, or power.
  void Crash(bool power);
  /// SIGTERM, and the unit starts it again.
  void Restart();
  /// Somebody changes a value behind the agent's back.
  void Drift(const std::string& path, const std::string& value, bool hint);
  void Hint(const std::string& prefix);

  Queue<FromController> inbox;

 private:
  void Buried(Duration until_boot);
  DiskFault Ask(DiskOp op, const std::string& path);

  World& world_;
  const std::string name_;
  Random random_;
  const double trouble_;
  Disk disk_;
  HostClock clock_;
  SimMachine machine_;
  std::unique_ptr<Dialler> dialler_;
  Catalog catalog_;
  std::vector<std::unique_ptr<const Check>> checks_;
  std::unique_ptr<StateDir> state_dir_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<NodeAgent> agent_;
  std::deque<railwright::Hint> hints_;
  int boots_ = 0;
  std::uint64_t life_ = 0;  // events of earlier lives are void
  std::uint64_t read_ = 0;  // connection of the last Welcome that the agent has read
  std::uint64_t wake_ = 0;  // number of the wake-up that counts
  Duration wake_at_{0};
  bool waking_ = false, running_ = false;
  bool power_next_ = false;  // what the present fault will turn out to be
  Duration up_since_{0};
};

}  // namespace railwright::sim
