// ControllerHost: the production fleet model over the production store, on a disk that may fail, in a process
// that may die. What FleetCore's thread does, an event does here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/rpc/fleet_model.h"
#include "controller/sign/state_signer.h"
#include "controller/store/statement_store.h"
#include "tests/sim/disk.h"
#include "tests/sim/events.h"
#include "tests/sim/random.h"
#include "tests/support/test_signer.h"

namespace railwright::sim {

class World;
class Stream;

class ControllerHost {
 public:
  ControllerHost(World& world, Random random);
  ~ControllerHost();

  bool up() const { return model_ != nullptr; }
  bool dead() const { return disk_.dead() || !up(); }
  Disk& disk() { return disk_; }
  HostClock& clock() { return clock_; }
  /// Of this build; the same in every run.
  static const CatalogDeclarations& catalog();
  const Store* store() const { return store_.get(); }
  std::uint64_t generation() const { return model_ ? model_->generation() : 0; }
  std::shared_ptr<const FleetView> view() const { return model_ ? model_->view() : nullptr; }

  void Boot();
  void Crash(bool power);
  void Restart();
  /// An order, some time from now; false when nobody takes it.
  bool Order(std::function<void(FleetModel&)> order);

  void Opened(const std::shared_ptr<Stream>& stream);
  void Said(const std::shared_ptr<Stream>& stream, v1::AgentMessage message);
  void Gone(const std::shared_ptr<Stream>& stream);
  /// Since when it has run without a break.
  Duration up_since() const { return up_since_; }

 private:
  void Do(const std::function<void(FleetModel&)>& work);
  void EndBatch();
  void Beat();
  void Buried(Duration until_boot, bool told);
  DiskFault Ask(DiskOp op, const std::string& path);

  World& world_;
  Random random_;
  Disk disk_;
  HostClock clock_;
  std::unique_ptr<Store> store_;
  const TestSigner key_;  // of this controller's, in all its lives
  std::unique_ptr<StatementStore> statements_;
  std::optional<StateSigner> signer_;
  std::unique_ptr<FleetModel> model_;
  std::vector<std::shared_ptr<Stream>> streams_;  // in order of their dials
  std::uint64_t life_ = 0;
  bool ending_batch_ = false, running_ = false, power_next_ = false;
  Duration up_since_{0};
};

}  // namespace railwright::sim
