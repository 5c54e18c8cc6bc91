// The named fault points, and how often each was hit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace railwright::sim {

enum class Fault : std::uint8_t {
  kAgentKilled,       ///< kill -9 between two turns of its loop
  kAgentPower,        ///< the node loses power: what was not synced is lost, runtime settings are the boot's
  kAgentStopped,      ///< an end in good order
  kAgentDiesAtWrite,  ///< within a system call on its state directory, before or after it took effect
  kAgentDiesAtSync,
  kAgentDiesAtDirSync,
  kAgentDiesAtRename,
  kAgentDiesAtUnlink,
  kAgentDiesAtSet,       ///< before or after a write to the machine
  kAgentDiskFull,        ///< ENOSPC for a while
  kAgentDiskWriteFails,  ///< EIO
  kAgentDiskSyncFails,   ///< EIO, and the dirty pages are dropped, as Linux does
  kControllerKilled,
  kControllerPower,
  kControllerStopped,
  kControllerDiesAtWrite,
  kControllerDiesAtSync,
  kStoreFull,
  kStoreWriteFails,
  kStoreSyncFails,
  kSetBusy,     ///< EBUSY
  kSetFails,    ///< EIO, nothing changed
  kSetIgnored,  ///< success is told, nothing changed
  kSetHalf,     ///< an error is told, and yet it took effect
  kGetFails,
  kDrift,        ///< somebody changes a value; a hint tells
  kDriftUnseen,  ///< no hint tells; a scan has to find it
  kLinkGone,     ///< an interface goes, and comes back
  kConnectionDropped,
  kPartition,  ///< nodes and controller do not reach one another; no end of a stream is told
  kSilenceUp,  ///< what the agent says does not arrive, the other direction works
  kSilenceDown,
  kSlowNetwork,   ///< seconds instead of milliseconds
  kClockStepped,  ///< a wall clock jumps, back or forth
  kCount
};

std::string_view Name(Fault fault);

class FaultCounts {
 public:
  void Hit(Fault fault) { ++counts_[static_cast<std::size_t>(fault)]; }
  std::uint64_t Of(Fault fault) const { return counts_[static_cast<std::size_t>(fault)]; }
  std::uint64_t All() const {
    std::uint64_t all = 0;
    for (const std::uint64_t count : counts_) all += count;
    return all;
  }
  void Add(const FaultCounts& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }

 private:
  std::array<std::uint64_t, static_cast<std::size_t>(Fault::kCount)> counts_{};
};

}  // namespace railwright::sim
