#include "tests/sim/faults.h"

namespace railwright::sim {

std::string_view Name(Fault fault) {
  switch (fault) {
    case Fault::kAgentKilled: return "agent.killed";
    case Fault::kAgentPower: return "agent.power";
    case Fault::kAgentStopped: return "agent.stopped";
    case Fault::kAgentDiesAtWrite: return "agent.dies.write";
    case Fault::kAgentDiesAtSync: return "agent.dies.sync";
    case Fault::kAgentDiesAtDirSync: return "agent.dies.dirsync";
    case Fault::kAgentDiesAtRename: return "agent.dies.rename";
    case Fault::kAgentDiesAtUnlink: return "agent.dies.unlink";
    case Fault::kAgentDiesAtSet: return "agent.dies.set";
    case Fault::kAgentDiskFull: return "agent.disk.full";
    case Fault::kAgentDiskWriteFails: return "agent.disk.write";
    case Fault::kAgentDiskSyncFails: return "agent.disk.sync";
    case Fault::kControllerKilled: return "controller.killed";
    case Fault::kControllerPower: return "controller.power";
    case Fault::kControllerStopped: return "controller.stopped";
    case Fault::kControllerDiesAtWrite: return "controller.dies.write";
    case Fault::kControllerDiesAtSync: return "controller.dies.sync";
    case Fault::kStoreFull: return "store.full";
    case Fault::kStoreWriteFails: return "store.write";
    case Fault::kStoreSyncFails: return "store.sync";
    case Fault::kSetBusy: return "machine.busy";
    case Fault::kSetFails: return "machine.set";
    case Fault::kSetIgnored: return "machine.ignored";
    case Fault::kSetHalf: return "machine.half";
    case Fault::kGetFails: return "machine.get";
    case Fault::kDrift: return "machine.drift";
    case Fault::kDriftUnseen: return "machine.drift.unseen";
    case Fault::kLinkGone: return "machine.link.gone";
    case Fault::kConnectionDropped: return "net.dropped";
    case Fault::kPartition: return "net.partition";
    case Fault::kSilenceUp: return "net.silence.up";
    case Fault::kSilenceDown: return "net.silence.down";
    case Fault::kSlowNetwork: return "net.slow";
    case Fault::kClockStepped: return "clock.stepped";
    case Fault::kCount: break;
  }
  return "?";
}

}  // namespace railwright::sim
