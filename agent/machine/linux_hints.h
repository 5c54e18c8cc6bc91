// What the sources of LinuxHints share: the set that merges hints, and what a source is. agent/machine only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "railwright/hints.h"
#include "railwright/result.h"

namespace railwright {

/// Hints on their way out: merged, bounded and paced.
///
/// Merged by prefix and process: a change of ours never hides one of somebody else, and a hint without a
/// process covers everything below its prefix. Bounded: more than kMost different prefixes are cut to their
/// first two components, and if that does not help, to "" (everything). Paced: the same prefix is given out
/// at most once in `pace` and "" once in `overrun_pace`; what comes earlier waits, it is never lost.
class HintSet {
 public:
  static constexpr std::size_t kMost = 256;
  using Time = std::chrono::steady_clock::time_point;

  HintSet(std::chrono::milliseconds pace, std::chrono::milliseconds overrun_pace)
      : pace_(pace), overrun_pace_(overrun_pace) {}

  /// A prefix that is no Machine path counts as an overrun.
  void Add(std::string prefix, std::string by = {}, int pid = 0);
  /// A source lost count: everything may have changed.
  void Overrun();
  /// Interfaces came, went or were renamed: paths that hold their names must be looked up again.
  void LinksMoved() { links_moved_ = true; }
  bool TakeLinksMoved() { return std::exchange(links_moved_, false); }

  /// What may be given out at `now`, sorted by prefix.
  std::vector<Hint> Take(Time now);
  /// When the first waiting hint may be given out; Time::max() when nothing waits.
  Time NextDue() const;

 private:
  using Key = std::pair<std::string, int>;  // prefix, pid
  void Bound();
  std::chrono::milliseconds PaceOf(std::string_view prefix) const;

  std::chrono::milliseconds pace_;
  std::chrono::milliseconds overrun_pace_;
  std::map<Key, std::string> waiting_;  // → by
  std::map<std::string, Time, std::less<>> given_;
  bool links_moved_ = false;
};

/// One thing that the kernel tells about. Used by one thread.
class HintSource {
 public:
  virtual ~HintSource() = default;
  /// Readable when Drain has something to do.
  virtual int fd() const = 0;
  /// Reads what is there, at most a bounded amount; what is left keeps fd() readable.
  virtual void Drain(HintSet& out) = 0;
  virtual void Watch(const std::vector<std::string>& paths, HintSet& out) {
    (void)paths;
    (void)out;
  }
  /// See HintSet::LinksMoved.
  virtual void LinksMoved(HintSet& out) { (void)out; }
};

struct LinuxHintsOptions {
  /// Receive buffer of each netlink socket, bytes. 1 MiB holds about a thousand route messages (measured in
  /// tests/hints); an overrun is not a loss, it costs one look at everything.
  int receive_buffer = 1 << 20;
  /// Datagrams read from one source in one Drain, so that a storm cannot hold the caller (1 ms or so).
  int reads = 1024;
  /// A second hint with the same prefix follows the first no sooner than this. Half of the 100 ms that drift
  /// may take from the event to its repair.
  std::chrono::milliseconds pace{50};
  /// The same for "look at everything": a full scan costs milliseconds.
  std::chrono::milliseconds overrun_pace{200};
};

// The sources, one file each. All sockets belong to the network namespace of the calling thread.
Result<std::unique_ptr<HintSource>> MakeRtnetlinkHints(const LinuxHintsOptions& options);
Result<std::unique_ptr<HintSource>> MakeNftablesHints(const LinuxHintsOptions& options);
Result<std::unique_ptr<HintSource>> MakeEthtoolHints(const LinuxHintsOptions& options);
Result<std::unique_ptr<HintSource>> MakeUeventHints(const LinuxHintsOptions& options);
Result<std::unique_ptr<HintSource>> MakeInotifyHints(const LinuxHintsOptions& options);

/// MakeLinuxHints (linux_machine.h) with the numbers that tests change.
Result<std::unique_ptr<Hints>> MakeLinuxHintsWith(const LinuxHintsOptions& options,
                                                  std::vector<std::string>* missing);

}  // namespace railwright
