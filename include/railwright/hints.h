// Hints: "look again at this prefix". They carry no state, so a lost or doubled one is harmless.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace railwright {

struct Hint {
  /// A Machine path prefix, e.g. "/rtnl/link/rail0"; "" after an overrun: everything may have changed.
  std::string prefix;
  /// Who did it, when the kernel tells: "nft[4711]". Empty when it does not.
  std::string by;
  /// Process that did it, when known; 0 otherwise. Used to recognise our own doing.
  int pid = 0;
  /// When it was taken off the socket.
  std::chrono::steady_clock::time_point at{};
};

/// A source of hints that a poll loop owns. One thread uses it.
class Hints {
 public:
  virtual ~Hints() = default;
  /// Readable when Drain would return something; -1 when the source has no descriptor (tests).
  virtual int fd() const = 0;
  /// All that has come since, merged by prefix; never blocks.
  virtual std::vector<Hint> Drain() = 0;
  /// The Machine paths that are of interest now. Sources that need registration per object (inotify on
  /// /file, /proc/sys, /sys) watch exactly these; the others ignore it. Replaces the previous list.
  virtual void Watch(const std::vector<std::string>& paths) = 0;
};

}  // namespace railwright
