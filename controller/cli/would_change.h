// WouldChange: what only a profile's mode keeps from being changed; what an adopted cluster is asked for.
// Pure.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace railwright::cli {

struct WouldChange {
  std::size_t values = 0;
  std::set<std::string> nodes, keys;

  /// Counts a step or finding whose reason is ObserveMode; others are none.
  void Add(std::string_view reason, const std::string& node, const std::string& key);
  /// "in mode observe: 3 values on 2 nodes gpu-[001-002] would be changed; switch on with mode: enforce for
  /// link.mtu, link.pause"; "" when there is none.
  std::string Sentence() const;
  /// {values, nodes[], keys[]}
  nlohmann::ordered_json ToJson() const;
};

}  // namespace railwright::cli
