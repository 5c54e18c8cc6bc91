// Operators: people who give orders, several at a time, some upon what they saw a while ago.
#pragma once

#include <set>
#include <string>

#include "controller/rpc/fleet_model.h"
#include "tests/sim/events.h"
#include "tests/sim/random.h"

namespace railwright::sim {

class World;

class Operators {
 public:
  Operators(World& world, Random random);

  /// One of them does something now and then, until Rest.
  void Begin();
  void Rest() { resting_ = true; }
  /// What a person does when all is over: ends every pause, and applies documents that all nodes feel.
  void ResumeAll();
  void ApplyAnew();
  /// Does what the rollout in force needs from a person; soon after that `going` tells whether it goes on.
  void HelpOn();
  bool going() const { return going_; }

  std::uint64_t orders() const { return orders_; }
  std::uint64_t answered() const { return answered_; }

 private:
  void Next();
  void Apply(bool roll_back, bool last = false);
  void Install(const std::shared_ptr<FleetState>& next, std::uint64_t base, const std::string& action);
  void SetPause(Pause pause, bool resume);
  void Forget();
  void AboutRollout();
  void HelpOn(const v1::RolloutsResponse& response);
  void Do(RolloutCommand::What what, std::uint64_t generation);
  std::string Policy();
  std::string Somebody() { return "operator-" + std::to_string(++orders_); }
  std::string Site(bool last);

  World& world_;
  Random random_;
  bool resting_ = false, going_ = false;
  std::uint64_t orders_ = 0, answered_ = 0;
};

}  // namespace railwright::sim
