#include "tests/sim/controller_host.h"

#include <cerrno>

#include "tests/sim/network.h"
#include "tests/sim/world.h"
#include "tests/support/test_endorser.h"

namespace railwright::sim {
namespace {

constexpr Duration kStartAgain = seconds(2);
constexpr Duration kBeat = milliseconds(200);  // FleetModel::EndBatch: at least each 200 ms

}  // namespace

ControllerHost::ControllerHost(World& world, Random random)
    : world_(world),
      random_(random),
      disk_("/sim/controller"),
      clock_(world.events, random_.Between(minutes(1), minutes(100'000)), Duration(0)) {
  disk_.ask = [this](DiskOp op, const std::string& path) { return Ask(op, path); };
}

ControllerHost::~ControllerHost() {
  disk_.ask = {};  // the world that it would tell is half gone
  model_.reset();
  signer_.reset();
  statements_.reset();
  store_.reset();
  Disks::All().Remove(disk_);
}

const CatalogDeclarations& ControllerHost::catalog() {
  static const CatalogDeclarations declarations;
  return declarations;
}

DiskFault ControllerHost::Ask(DiskOp op, const std::string& path) {
  disk_.now_ns = world_.events.now().count();
  if (!world_.chaos) return {};
  const auto named = [&](Fault fault) {
    world_.faults.Hit(fault);
    world_.Trace("controller " + std::string(Name(fault)) + " " + path.substr(disk_.folder().size()));
  };
  DiskFault fault;
  const bool sync = op == DiskOp::kSync || op == DiskOp::kDirSync;
  if (random_.Chance(sync ? 0.004 : 0.0005)) {
    (random_.Chance(0.5) ? fault.die_before : fault.die_after) = true;
    power_next_ = random_.Chance(0.6);
    named(sync ? Fault::kControllerDiesAtSync : Fault::kControllerDiesAtWrite);
  } else if (sync && random_.Chance(0.003)) {
    fault.error = EIO;
    named(Fault::kStoreSyncFails);
  } else if (op == DiskOp::kWrite && random_.Chance(0.0005)) {
    fault.error = EIO;
    named(Fault::kStoreWriteFails);
  }
  return fault;
}

void ControllerHost::Boot() {
  if (running_) return;
  running_ = true;
  const auto start = [&]() -> Status {
    RW_ASSIGN_OR_RETURN(store_, OpenSqliteStore(disk_.folder()));
    RW_ASSIGN_OR_RETURN(statements_, OpenSqliteStatements(disk_.folder()));
    signer_.emplace(SigningTerms{.cluster = key_.cluster, .signers = key_.Trust().signers, .key = &key_.key},
                    *statements_, clock_, TestUuidOf);
    RW_RETURN_IF_ERROR(signer_->Load());
    FleetOptions options;
    options.endorser = &*signer_;
    auto model = std::make_unique<FleetModel>(*store_, clock_, catalog(), options);
    RW_RETURN_IF_ERROR(model->Load());
    model_ = std::move(model);
    return Ok();
  };
  const Status status = start();
  if (disk_.dead()) return Crash(power_next_);
  if (!status.ok()) {
    world_.Trace("the controller cannot start: " + status.ToString());
    if (status.code() == Code::kDataLoss)
      world_.Broken("the controller does not start: " + status.ToString());
    disk_.Kill();
    return Buried(kStartAgain, false);
  }
  world_.Trace("the controller runs, generation " + std::to_string(model_->view()->state->number()));
  up_since_ = world_.events.now();
  world_.invariants.CheckStore(*store_);
  if (disk_.dead()) return Crash(power_next_);
  Beat();
}

void ControllerHost::Beat() {
  world_.events.After(kBeat, [this, life = life_] {
    if (life != life_ || !up()) return;
    EndBatch();
    if (life == life_ && up()) Beat();
  });
}

void ControllerHost::EndBatch() {
  ending_batch_ = false;
  model_->EndBatch();
  if (disk_.dead()) Crash(power_next_);
}

void ControllerHost::Do(const std::function<void(FleetModel&)>& work) {
  if (!up()) return;
  work(*model_);
  if (disk_.dead()) return Crash(power_next_);
  if (std::exchange(ending_batch_, true)) return;
  world_.events.After(random_.Between(milliseconds(0), milliseconds(3)), [this, life = life_] {
    if (life == life_ && up()) EndBatch();
  });
}

bool ControllerHost::Order(std::function<void(FleetModel&)> order) {
  if (!up()) return false;
  world_.events.After(random_.Between(milliseconds(0), milliseconds(5)),
                      [this, life = life_, order = std::move(order)] {
                        if (life == life_) Do(order);
                      });
  return true;
}

void ControllerHost::Opened(const std::shared_ptr<Stream>& stream) {
  streams_.push_back(stream);
  Do([&](FleetModel& model) { model.OnOpened(stream); });
}

void ControllerHost::Said(const std::shared_ptr<Stream>& stream, v1::AgentMessage message) {
  if (up()) world_.invariants.Received(stream->caller().name, message);
  Do([&](FleetModel& model) { model.OnMessage(stream, message); });
}

void ControllerHost::Gone(const std::shared_ptr<Stream>& stream) {
  std::erase(streams_, stream);
  Do([&](FleetModel& model) { model.OnGone(stream); });
}

void ControllerHost::Crash(bool power) {
  if (!running_ && !power) return;
  disk_.Kill();
  world_.Trace(power ? "the controller loses power" : "the controller is killed");
  Buried(power ? random_.Between(seconds(5), seconds(60)) : kStartAgain, !power);
  if (power) disk_.LosePower(random_);
}

void ControllerHost::Buried(Duration until_boot, bool told) {
  ++life_;
  running_ = ending_batch_ = false;
  model_.reset();
  signer_.reset();
  statements_.reset();
  store_.reset();
  for (const auto& stream : streams_) stream->ControllerClosed(told);
  streams_.clear();
  disk_.Revive();
  power_next_ = false;
  world_.events.After(until_boot, [this, life = life_] {
    if (life == life_) Boot();
  });
}

void ControllerHost::Restart() {
  if (!up()) return;
  world_.Trace("the controller is stopped");
  model_->Shutdown();
  if (disk_.dead()) return Crash(power_next_);
  Buried(kStartAgain, true);
}

}  // namespace railwright::sim
