// The four kinds of Machine beside tests' FaultyMachine, and the real source of hints.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "railwright/hints.h"
#include "railwright/machine.h"

namespace railwright {

/// On a filesystem that does not outlive a boot, in a folder that only root writes.
inline constexpr char kRulesetFile[] = "/run/railwright-agent/nft-ruleset";
inline constexpr char kPackageFile[] = "/run/railwright-agent/packages";

struct LinuxMachineOptions {
  std::string root{};  ///< prefix of every /sys, /proc, /file path; "" in production
  /// Where the last listing of the nftables ruleset is kept for the next program (kRulesetFile); "" nowhere.
  std::string ruleset_file{};
  /// Where the package database, taken apart, is kept for the next program (kPackageFile); "" nowhere.
  std::string package_file{};
  /// NVIDIA's management library, as dlopen(3) takes it.
  std::string nvml_library{"libnvidia-ml.so.1"};
  /// Queries of a card's firmware (seconds each) run in a thread of their own, and are Unavailable until they
  /// have ended; for who looks again. Else Get waits for them.
  bool firmware_in_background = false;
  /// How long such an answer counts; that of a register (what others write, and a reset forgets) a fifth of
  /// it.
  std::chrono::seconds firmware_kept{600};
};

/// The host's kernel. Picks a backend by path prefix; agent/machine/README.md has the table of paths.
/// `counters` of programs spawned are in agent/tools.
std::unique_ptr<Machine> MakeLinuxMachine(LinuxMachineOptions options = {});

/// A recorded machine: a directory tree of small text files (agent/machine/README.md, "Snapshots").
/// Set changes only memory, so plans can be tried against it. NotFound when `directory` is none.
Result<std::unique_ptr<Machine>> OpenSnapshotMachine(const std::string& directory);

/// Wraps `inner` and writes what is read, errors included, below `directory` as a snapshot. With `redact`,
/// serial numbers, MACs, addresses, host names and secrets are replaced, the same value by the same
/// replacement. Set is refused. Flushes at destruction.
Result<std::unique_ptr<Machine>> MakeRecordingMachine(Machine& inner, const std::string& directory,
                                                      bool redact);

/// Hints of this host: rtnetlink, nftables (with the process), ethtool, uevent, inotify on watched files.
/// Sources that this kernel lacks are left out and named in `missing`.
Result<std::unique_ptr<Hints>> MakeLinuxHints(std::vector<std::string>* missing);

}  // namespace railwright
