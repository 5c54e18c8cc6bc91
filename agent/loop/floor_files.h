// FloorFiles: the floor under the generations, kept twice, so that no single damage can lower it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/identity/floor.h"
#include "railwright/result.h"

namespace railwright {

/// `floor` and `floor.2` in `<state-dir>/trust`. Each begins with the line
///
///     railwright-floor 1 <write> <SHA-256 of "<write>\n" and all behind this line, 64 hex>
///
/// behind which Floor::Text stands; <write> counts the writes. Of two whole files the later write counts. One
/// thread uses it.
class FloorFiles {
 public:
  explicit FloorFiles(const std::string& trust_directory)
      : first_(trust_directory + "/floor"), second_(trust_directory + "/floor.2") {}

  /// The floor; one of nothing when there is neither file (a new node, or one whose floor was reset). A file
  /// that is absent, damaged or behind beside a whole one is written anew. DataLoss: none is whole, or the
  /// two contradict each other; the message says how to reset them.
  Result<identity::Floor> Read();
  /// Both files, one after the other, each synced and renamed. On an error the floor on disk is the old one
  /// or the new one.
  Status Write(const identity::Floor& floor);

  const std::string& first() const { return first_; }
  const std::string& second() const { return second_; }

  static std::string Text(std::uint64_t write, const identity::Floor& floor);
  static Result<std::pair<std::uint64_t, identity::Floor>> Parse(std::string_view text);

 private:
  std::string first_, second_;
  std::uint64_t write_ = 0;
};

}  // namespace railwright
