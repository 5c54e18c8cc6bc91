// Journal: what was there before our first write, durable before the write happens.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "railwright/result.h"
#include "railwright/state.h"

namespace railwright {

/// The value that a (key, target) had before Railwright first wrote it.
struct Original {
  std::string key;
  std::string target;
  enum class Kind : std::uint8_t { kValue, kAbsent, kUnknown } kind = Kind::kUnknown;
  std::string value;
  /// What the last profile that declared it allowed a write of it to disturb: so much may putting it back.
  Disruption max_disruption = Disruption::kTrafficBlip;
  friend bool operator==(const Original&, const Original&) = default;
};

/// A write that was begun and of which no end is recorded: the agent died in the middle.
struct OpenStep {
  std::string key;
  std::string target;
  std::string from;
  std::string to;
};

/// A value that is stored and waits for a boot, or a reset of its card, to bring it.
struct AwaitedBoot {
  std::string key;
  std::string target;
  std::string value;     ///< the concrete wish
  std::string boot_id;   ///< of the boot in which it was first seen stored; /proc/sys/kernel/random/boot_id
  std::string firmware;  ///< version that the port's card ran then; "" when it was not known
  std::chrono::system_clock::time_point since;  ///< when; kept to the microsecond
  friend bool operator==(const AwaitedBoot&, const AwaitedBoot&) = default;
};

/// Writes that are undone by the agent itself unless they are confirmed: what must be known to do so in
/// another life.
struct OpenTry {
  std::string boot_id;                    ///< of the boot in which it was begun
  std::chrono::milliseconds begun{0};     ///< Clock::BootNow of that boot
  std::chrono::milliseconds deadline{0};  ///< the same clock
  Generation generation;
  struct Step {
    std::string key;
    std::string target;
    Original::Kind kind = Original::Kind::kUnknown;  ///< of `before`
    std::string before;                              ///< what to go back to
    std::string to;
    std::vector<std::string> ports;  ///< declared ports that it disturbs; names of `evidence`
    friend bool operator==(const Step&, const Step&) = default;
  };
  std::vector<Step> steps;  ///< in the order of writing; undone in the reverse one
  /// What a port had before the first of the steps, and must have again.
  struct Evidence {
    std::string port;
    bool link = false;               ///< carrier, and an active RDMA port where there is one
    std::uint64_t speed = 0;         ///< Mbit/s; 0: was not told
    std::vector<std::string> gids;   ///< as sysfs writes them
    std::vector<std::string> peers;  ///< those that had answered
    /// What an interface has beside the values of the steps, and what may go with them: put back too.
    std::string addresses;  ///< lines of /rtnl/addr/<if>
    std::string routes;     ///< lines of /rtnl/route/main/<if>
    friend bool operator==(const Evidence&, const Evidence&) = default;
  };
  std::vector<Evidence> evidence;
  bool controller = false;  ///< it was connected, and must welcome a new connection
  std::vector<Port> ports;  ///< all that were declared, to find the targets again
  friend bool operator==(const OpenTry&, const OpenTry&) = default;
};

/// A wish that was tried and put back: not tried again by itself within its generation.
struct FailedTry {
  std::string key;
  std::string target;
  Generation generation;
  std::string reason;   ///< TryFailed, LinkStayedDown
  std::string message;  ///< what was missing, and what it is now
  friend bool operator==(const FailedTry&, const FailedTry&) = default;
};

class Journal {
 public:
  virtual ~Journal() = default;
  /// Durable when it returns Ok. Keeps the first value of a (key, target); of a later one only its
  /// max_disruption is taken.
  virtual Status RecordOriginal(const Original& original) = 0;
  /// Durable when it returns Ok; nothing may be written to the machine before.
  virtual Status Begin(const OpenStep& step) = 0;
  /// The step has ended, well or not.
  virtual Status End(const std::string& key, const std::string& target) = 0;
  /// The original was put back; it may be forgotten.
  virtual Status Forget(const std::string& key, const std::string& target) = 0;
  /// Machine paths made by Setting::Prepare, to be removed at stop. An empty list clears it. Durable when Ok.
  virtual Status RecordPrepared(const std::vector<std::string>& paths) = 0;
  /// Replaces what was remembered of this (key, target). Durable when it returns Ok.
  virtual Status RecordAwaited(const AwaitedBoot& awaited) = 0;
  /// It is in force, or nobody wishes it any more. Durable when it returns Ok.
  virtual Status ForgetAwaited(const std::string& key, const std::string& target) = 0;

  /// Replaces what was remembered of the node's one try; nothing of it may be written to the machine before.
  /// Durable when it returns Ok.
  virtual Status RecordTry(const OpenTry& open) = 0;
  /// It was confirmed, or undone. Durable when it returns Ok.
  virtual Status EndTry() = 0;
  /// Replaces what was remembered of this (key, target). Durable when it returns Ok.
  virtual Status RecordFailedTry(const FailedTry& failed) = 0;
  /// Durable when it returns Ok.
  virtual Status ForgetFailedTry(const std::string& key, const std::string& target) = 0;

  virtual std::optional<Original> OriginalOf(const std::string& key, const std::string& target) const = 0;
  virtual std::vector<Original> Originals() const = 0;
  virtual std::vector<OpenStep> OpenSteps() const = 0;
  virtual std::vector<std::string> Prepared() const = 0;
  virtual std::optional<AwaitedBoot> AwaitedOf(const std::string& key, const std::string& target) const = 0;
  virtual std::vector<AwaitedBoot> Awaited() const = 0;
  virtual std::optional<OpenTry> Try() const = 0;
  virtual std::vector<FailedTry> FailedTries() const = 0;
};

}  // namespace railwright
