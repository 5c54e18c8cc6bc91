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

  virtual std::optional<Original> OriginalOf(const std::string& key, const std::string& target) const = 0;
  virtual std::vector<Original> Originals() const = 0;
  virtual std::vector<OpenStep> OpenSteps() const = 0;
  virtual std::vector<std::string> Prepared() const = 0;
  virtual std::optional<AwaitedBoot> AwaitedOf(const std::string& key, const std::string& target) const = 0;
  virtual std::vector<AwaitedBoot> Awaited() const = 0;
};

}  // namespace railwright
