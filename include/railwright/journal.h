// Journal: what was there before our first write, durable before the write happens.
#pragma once

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
  friend bool operator==(const Original&, const Original&) = default;
};

/// A write that was begun and of which no end is recorded: the agent died in the middle.
struct OpenStep {
  std::string key;
  std::string target;
  std::string from;
  std::string to;
};

class Journal {
 public:
  virtual ~Journal() = default;
  /// Durable when it returns Ok. Keeps the first original of a (key, target); later ones are ignored.
  virtual Status RecordOriginal(const Original& original) = 0;
  /// Durable when it returns Ok; nothing may be written to the machine before.
  virtual Status Begin(const OpenStep& step) = 0;
  /// The step has ended, well or not.
  virtual Status End(const std::string& key, const std::string& target) = 0;
  /// The original was put back; it may be forgotten.
  virtual Status Forget(const std::string& key, const std::string& target) = 0;
  /// Machine paths made at start, to be removed at stop. An empty list clears it. Durable when Ok.
  virtual Status RecordPrepared(const std::vector<std::string>& paths) = 0;

  virtual std::optional<Original> OriginalOf(const std::string& key, const std::string& target) const = 0;
  virtual std::vector<Original> Originals() const = 0;
  virtual std::vector<OpenStep> OpenSteps() const = 0;
  virtual std::vector<std::string> Prepared() const = 0;
};

}  // namespace railwright
