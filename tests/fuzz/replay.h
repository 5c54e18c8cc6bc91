// The fuzz targets of this build as functions, for the test that replays their corpora.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace railwright::fuzz {

struct Target {
  std::string name;
  int (*run)(const std::uint8_t* data, std::size_t size);
  /// For the names of tests.
  friend std::ostream& operator<<(std::ostream& out, const Target& target) { return out << target.name; }
};

/// Generated: one for each file of tests/fuzz/targets.
const std::vector<Target>& Targets();

}  // namespace railwright::fuzz
