#include "tests/sim/node_host.h"

#include <cerrno>

#include "agent/journal/file_journal.h"
#include "tests/sim/network.h"
#include "tests/sim/world.h"
#include "tests/support/test_endorser.h"

namespace railwright {
std::unique_ptr<const Setting> make_link_mtu();
std::unique_ptr<const Setting> make_link_pause();
std::unique_ptr<const Setting> make_sysctl();
}  // namespace railwright

namespace railwright::sim {
namespace {

std::vector<std::unique_ptr<const Setting>> Settings() {
  std::vector<std::unique_ptr<const Setting>> list;
  list.push_back(make_link_mtu());
  list.push_back(make_link_pause());
  list.push_back(make_sysctl());
  return list;
}

// Those of the session's inbox.
QueueBound<FromController> Bounds() {
  return {kInboxMessages, kInboxBytes, [](const FromController& message) {
            return std::visit([](const auto& body) { return body.ByteSizeLong(); }, message.body);
          }};
}

// What its supervisor waits before it starts again what died.
constexpr Duration kStartAgain = seconds(2);

}  // namespace

NodeHost::NodeHost(World& world, std::string name, Random random)
    : inbox({}, Bounds()),
      world_(world),
      name_(std::move(name)),
      random_(random),
      trouble_(random_.Chance(0.3)   ? 0.1
               : random_.Chance(0.2) ? 3
                                     : 1),
      disk_("/sim/" + name_),
      clock_(world.events, random_.Between(minutes(1), minutes(100'000)),
             random_.Between(seconds(0), seconds(4)) - seconds(2)),
      machine_(*this),
      dialler_(std::make_unique<Dialler>(world, *this)),
      catalog_(Settings()) {
  disk_.ask = [this](DiskOp op, const std::string& path) { return Ask(op, path); };
}

NodeHost::~NodeHost() {
  disk_.ask = {};
  Disks::All().Remove(disk_);
}

DiskFault NodeHost::Ask(DiskOp op, const std::string& path) {
  disk_.now_ns = world_.events.now().count();
  if (!world_.chaos) return {};
  const auto named = [&](Fault fault) {
    world_.faults.Hit(fault);
    world_.Trace(name_ + " " + std::string(Name(fault)) + " " + path.substr(disk_.folder().size()));
  };
  DiskFault fault;
  if (random_.Chance(trouble_ * 0.0015)) {
    (random_.Chance(0.5) ? fault.die_before : fault.die_after) = true;
    power_next_ = random_.Chance(0.6);
    named(op == DiskOp::kWrite     ? Fault::kAgentDiesAtWrite
          : op == DiskOp::kSync    ? Fault::kAgentDiesAtSync
          : op == DiskOp::kDirSync ? Fault::kAgentDiesAtDirSync
          : op == DiskOp::kRename  ? Fault::kAgentDiesAtRename
                                   : Fault::kAgentDiesAtUnlink);
  } else if (op == DiskOp::kWrite && random_.Chance(trouble_ * 0.0005)) {
    fault.error = EIO;
    named(Fault::kAgentDiskWriteFails);
  } else if ((op == DiskOp::kSync || op == DiskOp::kDirSync) && random_.Chance(trouble_ * 0.001)) {
    fault.error = EIO;
    named(Fault::kAgentDiskSyncFails);
  }
  return fault;
}

void NodeHost::Boot() {
  if (running_) return;
  running_ = true;
  disk_.now_ns = world_.events.now().count();
  const auto start = [&]() -> Status {
    auto opened = StateDir::Open(disk_.folder());
    RW_RETURN_IF_ERROR(opened.status());
    state_dir_ = std::make_unique<StateDir>(std::move(*opened));
    RW_ASSIGN_OR_RETURN(journal_, OpenFileJournal(state_dir_->journal()));
    NodeAgentOptions options;
    options.node = name_;
    options.version = RAILWRIGHT_VERSION;
    options.controller = "10.0.0.1:7443";
    options.boot_id = name_ + "-boot-" + std::to_string(boots_);
    ReconcilerOptions reconciler;
    reconciler.boot_id = options.boot_id;
    reconciler.seed = random_.Next();
    agent_ = std::make_unique<NodeAgent>(
        options, reconciler,
        NodeAgent::Parts{
            machine_,
            catalog_,
            checks_,
            *journal_,
            *state_dir_,
            clock_,
            [this](ToController message) { dialler_->Send(std::move(message)); },
            [this] { return dialler_->StateText(); },
            [](int) { return false; },
            [this](LogLevel level, const std::string& line) {
              if (!dead() && level != LogLevel::kInfo) world_.Trace(name_ + " says: " + line);
            },
            {},
            [this](const std::string&) { return Result<std::string>(way()); },
            [this]() -> Result<NodeTrust> { return TestSigner(name_, TestUuidOf(name_)).Trust(); },
            world_.tries ? std::function<std::uint64_t()>([this] { return dialler_->Redial(); }) : nullptr});
    return agent_->Start();
  };
  const Status status = start();
  if (dead()) return Crash(power_next_);
  if (!status.ok()) {
    const bool of_the_disk = status.error_number() == EIO || status.error_number() == ENOSPC;
    world_.Trace(name_ + " cannot start: " + status.message());
    if (!of_the_disk) world_.Broken("the agent of " + name_ + " does not start: " + status.ToString());
    disk_.Kill();
    return Buried(kStartAgain);
  }
  world_.Trace(name_ + " runs");
  up_since_ = world_.events.now();
  world_.invariants.Hello(*this, agent_->Hello());
  world_.invariants.MachineChanged(*this);
  dialler_->Start();
  Wake(Duration(0));
}

std::string NodeHost::way() const { return world_.tries ? "rail1" : "eno1"; }

bool NodeHost::Passes(std::size_t bytes) const {
  constexpr std::size_t kOneFrame = 8192;
  constexpr int kCarried = 4200;
  if (!world_.tries) return true;
  const std::string path = "/rtnl/link/rail1/mtu";
  if (!machine_.kernel.Exists(path)) return false;
  return bytes < kOneFrame || std::atoi(machine_.kernel.Value(path).c_str()) <= kCarried;
}

void NodeHost::Wake(Duration wait) {
  const Duration at = world_.events.now() + wait;
  if (!agent_ || (waking_ && wake_at_ <= at)) return;
  waking_ = true;
  wake_at_ = at;
  world_.events.After(wait, [this, number = ++wake_, life = life_] {
    if (number != wake_ || life != life_) return;
    waking_ = false;
    Turn();
  });
}

void NodeHost::Turn() {
  if (!agent_) return;
  disk_.now_ns = world_.events.now().count();
  if (!hints_.empty()) agent_->Notice({hints_.begin(), hints_.end()});
  hints_.clear();
  for (FromController& message : inbox.TakeAll()) {
    const auto* pauses = std::get_if<v1::PauseList>(&message.body);
    // The agent goes by the last Welcome that it has read, also when that connection is over by now.
    if (std::holds_alternative<v1::Welcome>(message.body)) read_ = message.connection;
    const bool counts = pauses != nullptr && message.connection == read_;
    const v1::PauseList list = pauses != nullptr ? *pauses : v1::PauseList();
    const std::uint64_t errors = disk_.errors();
    agent_->Handle(std::move(message));
    if (dead()) {
      // It may have been written or not: neither list is sure.
      if (counts) world_.invariants.PausesHandled(*this, list, false);
      return Crash(power_next_);
    }
    if (counts) world_.invariants.PausesHandled(*this, list, disk_.errors() == errors);
  }
  agent_->Tick();
  if (dead()) return Crash(power_next_);
  Wake(std::clamp<Duration>(agent_->NextDue() - clock_.Now(), milliseconds(1), minutes(1)));
}

void NodeHost::Crash(bool power) {
  if (!running_ && !power) return;
  disk_.Kill();
  world_.Trace(name_ + (power ? " loses power" : " is killed"));
  dialler_->Die(/*told=*/!power);
  Buried(power ? random_.Between(seconds(20), seconds(90)) : kStartAgain);
  if (!power) return;
  disk_.LosePower(random_);
  world_.invariants.LostPower(*this);
  machine_.Boot();
  ++boots_;
  world_.invariants.MachineChanged(*this);
}

// The process is gone, with all that it knew.
void NodeHost::Buried(Duration until_boot) {
  world_.invariants.AgentDied(*this);
  ++life_;
  waking_ = running_ = false;
  agent_.reset();
  journal_.reset();
  state_dir_.reset();
  inbox.TakeAll();
  hints_.clear();
  disk_.Revive();
  power_next_ = false;
  world_.events.After(until_boot, [this, life = life_] {
    if (life == life_) Boot();
  });
}

void NodeHost::Restart() {
  if (!agent_) return;
  world_.Trace(name_ + " is stopped");
  (void)agent_->Stop();
  if (dead()) return Crash(power_next_);
  dialler_->Die(/*told=*/true);
  Buried(kStartAgain);
}

void NodeHost::Hint(const std::string& prefix) {
  if (!agent_) return;
  hints_.push_back({prefix, "", 0, clock_.Now()});
  Wake(random_.Between(milliseconds(0), milliseconds(20)));
}

void NodeHost::Drift(const std::string& path, const std::string& value, bool hint) {
  if (!machine_.kernel.Exists(path) || machine_.kernel.Value(path) == value) return;
  world_.Trace(name_ + " drifts: " + path + " = " + value + (hint ? "" : ", unseen"));
  machine_.kernel.Put(path, value);
  world_.invariants.MachineChanged(*this);
  if (hint) Hint(path);
}

}  // namespace railwright::sim
