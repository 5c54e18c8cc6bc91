// DriftBreaker: one key that drifts on many nodes at once is nobody's accident. Plain values, no clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace railwright {

/// Counts the nodes on which a key drifted lately. What changes a key on many nodes within minutes is a
/// program or a person that means it (a playbook, a package, a vendor's script); putting it right everywhere
/// at once would be a second mass change. So from a share of the fleet on the key is fixed nowhere until a
/// person says so.
class DriftBreaker {
 public:
  using Time = std::chrono::system_clock::time_point;
  static constexpr std::chrono::minutes kWindow{10};
  /// It trips at more than this share of the declared nodes, in percent …
  static constexpr std::size_t kPercent = 5;
  /// … and not below this many: of four nodes one is a quarter, and still one node.
  static constexpr std::size_t kNodesLeast = 3;

  /// Keys come from agents, and one that lies must not fill the memory: further ones are not counted.
  static constexpr std::size_t kKeysMost = 10'000;

  /// `key` drifted on `node`. What is older than the window at `now` does not count.
  void Note(const std::string& key, const std::string& node, Time at, Time now);
  /// A key that has just become too much for a fleet of `fleet` nodes, with the nodes in order; nothing when
  /// none has. Each is told once, until Forget.
  struct Trip {
    std::string key;
    std::vector<std::string> nodes;
  };
  std::vector<Trip> TakeTrips(std::size_t fleet, Time now);
  /// A person resumed the key ("" = every key): counting begins anew.
  void Forget(const std::string& key);

 private:
  struct Drifts {
    std::map<std::string, Time> nodes;  ///< the last drift of each
    bool told = false;
  };
  void DropOld(Drifts& drifts, Time now);
  std::map<std::string, Drifts> keys_;
};

}  // namespace railwright
