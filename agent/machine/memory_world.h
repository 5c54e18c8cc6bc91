// What a Set would have done, in memory: for machines that are not there.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decode/fields.h"
#include "railwright/result.h"

namespace railwright::machine {

/// Changes laid over recorded answers. It does what the kernel would do to the same path and to those that
/// show the same thing: an MTU changes the interface's fields, a table the ruleset and its generation.
class MemoryWorld {
 public:
  using Recorded = std::function<Result<std::string>(std::string_view path)>;
  /// `recorded` answers what no Set has changed.
  explicit MemoryWorld(Recorded recorded) : recorded_(std::move(recorded)) {}

  Result<std::string> Get(std::string_view path) const;
  Status Set(std::string_view path, std::string_view value);
  /// Adds to `names` what Sets have made directly below `path`, and takes out what they removed.
  std::vector<std::string> WithChanges(std::string_view path, std::vector<std::string> names) const;

 private:
  Status Retrain(std::string_view path, Fields& fec) const;
  Status SetLink(std::string_view path, std::string_view value);
  Status SetTable(std::string_view path, std::string_view value);
  Status SetGpu(std::string_view path, std::string_view value, const std::string& before);
  Status SetUnit(std::string_view path, std::string_view value, const std::string& before);
  void Put(std::string_view path, std::optional<std::string> value);

  Recorded recorded_;
  std::map<std::string, std::optional<std::string>, std::less<>> changed_;  // nullopt: removed
};

}  // namespace railwright::machine
