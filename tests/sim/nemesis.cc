#include "tests/sim/nemesis.h"

#include "tests/sim/controller_host.h"
#include "tests/sim/network.h"
#include "tests/sim/node_host.h"
#include "tests/sim/world.h"

namespace railwright::sim {
namespace {

// How often which, of what this one does; the disks and kernels fail by themselves.
const std::vector<Fault>& Urn() {
  static const std::vector<Fault> urn = [] {
    std::vector<Fault> all;
    const auto add = [&](Fault fault, int times) {
      all.insert(all.end(), static_cast<std::size_t>(times), fault);
    };
    add(Fault::kDrift, 14);
    add(Fault::kDriftUnseen, 5);
    add(Fault::kLinkGone, 3);
    add(Fault::kAgentKilled, 6);
    add(Fault::kAgentPower, 5);
    add(Fault::kAgentStopped, 3);
    add(Fault::kAgentDiskFull, 3);
    add(Fault::kControllerKilled, 3);
    add(Fault::kControllerPower, 3);
    add(Fault::kControllerStopped, 2);
    add(Fault::kStoreFull, 3);
    add(Fault::kConnectionDropped, 6);
    add(Fault::kPartition, 3);
    add(Fault::kSilenceUp, 3);
    add(Fault::kSilenceDown, 3);
    add(Fault::kSlowNetwork, 2);
    add(Fault::kClockStepped, 2);
    return all;
  }();
  return urn;
}

}  // namespace

void Nemesis::Begin() {
  pace_ = random_.Between(seconds(4), seconds(40));
  world_.events.After(random_.Between(seconds(5), seconds(20)), [this] { Next(); });
}

void Nemesis::Next() {
  if (!world_.chaos) return;
  world_.events.After(random_.Between(Duration(0), pace_ * 2), [this] { Next(); });
  Do(random_.Pick(Urn()));
}

void Nemesis::Do(Fault fault) {
  NodeHost& node = *random_.Pick(world_.nodes);
  ControllerHost& controller = *world_.controller;
  world_.faults.Hit(fault);
  switch (fault) {
    case Fault::kAgentKilled: return node.Crash(false);
    case Fault::kAgentPower: return node.Crash(true);
    case Fault::kAgentStopped: return node.Restart();
    case Fault::kControllerKilled: return controller.Crash(false);
    case Fault::kControllerPower: return controller.Crash(true);
    case Fault::kControllerStopped: return controller.Restart();
    case Fault::kAgentDiskFull:
    case Fault::kStoreFull: {
      const bool agent = fault == Fault::kAgentDiskFull;
      Disk& disk = agent ? node.disk() : controller.disk();
      world_.Trace((agent ? node.name() : "controller") + " disk is full");
      disk.full = true;
      world_.events.After(While(), [&disk] { disk.full = false; });
      return;
    }
    case Fault::kConnectionDropped:
      world_.Trace(node.name() + " loses its connection");
      if (node.dialler().stream()) node.dialler().stream()->Break();
      return;
    case Fault::kPartition:
    case Fault::kSilenceUp:
    case Fault::kSilenceDown: return Block(fault);
    case Fault::kSlowNetwork:
      world_.Trace("the network is slow");
      world_.slow = true;
      world_.events.After(While(), [this] { world_.slow = false; });
      return;
    case Fault::kClockStepped: {
      const Duration by = random_.Between(seconds(0), minutes(120)) - minutes(60);
      if (random_.Chance(0.3))
        controller.clock().StepWall(by);
      else
        node.clock().StepWall(by);
      return;
    }
    default: return Drift(fault);
  }
}

void Nemesis::Block(Fault fault) {
  const bool up = fault != Fault::kSilenceDown, down = fault != Fault::kSilenceUp;
  const Duration lasts = While();
  const double share = fault == Fault::kPartition && random_.Chance(0.5) ? 0.7 : 0;
  NodeHost& one = *random_.Pick(world_.nodes);
  for (const auto& node : world_.nodes) {
    if (node.get() != &one && !random_.Chance(share)) continue;
    world_.Trace(node->name() + " " + std::string(Name(fault)));
    node->dialler().Block(up, down);
    world_.events.After(lasts, [dialler = &node->dialler()] { dialler->Block(false, false); });
  }
}

void Nemesis::Drift(Fault fault) {
  // Some days one program changes the same value on many nodes.
  const bool mass = random_.Chance(0.08);
  const std::string path = random_.Pick(KnobPaths());
  NodeHost& one = *random_.Pick(world_.nodes);
  const std::string link = random_.Chance(0.5) ? "rail0" : "rail1";
  const Duration lasts = random_.Between(seconds(1), seconds(60));
  for (const auto& node : world_.nodes) {
    if (node.get() != &one && !(mass && random_.Chance(0.8))) continue;
    if (fault == Fault::kLinkGone) {
      world_.Trace(node->name() + " loses " + link);
      node->machine().LinkGoes(link);
      world_.invariants.MachineChanged(*node);
      node->Hint("/rtnl/link/" + link);
      world_.events.After(lasts, [this, host = node.get(), link] {
        host->machine().LinkComes(link);
        world_.invariants.MachineChanged(*host);
        host->Hint("/rtnl/link/" + link);
      });
      continue;
    }
    std::string value = std::to_string(random_.Below(3));
    if (path.ends_with("/mtu")) value = random_.Chance(0.5) ? "1500" : "2048";
    if (path.ends_with("/pause")) value = random_.Chance(0.5) ? "autoneg=0 rx=1 tx=1" : "autoneg=0 rx=1 tx=0";
    node->Drift(path, value, fault == Fault::kDrift);
  }
}

void Nemesis::End() {
  world_.slow = false;
  world_.controller->disk().full = false;
  for (const auto& node : world_.nodes) {
    node->disk().full = false;
    node->dialler().Block(false, false);
  }
}

}  // namespace railwright::sim
