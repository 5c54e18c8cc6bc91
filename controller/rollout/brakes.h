// The brakes that the controller pulls by itself: the mass-failure breaker and racks that go silent at once.
// Plain values, no clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/fleet/rollout_policy.h"
#include "railwright/clock.h"

namespace railwright {

/// Counts the nodes that failed lately, whichever rollout they failed in. More than a share of the fleet
/// within minutes is no matter of one node: everything stops until a person has looked.
class FailureCount {
 public:
  static constexpr std::chrono::minutes kWindow{10};
  /// It does not trip below so many: of ten nodes one is a tenth, and still one node.
  static constexpr std::size_t kNodesLeast = 3;

  void Note(const std::string& node, Clock::Steady now) { nodes_[node] = now; }
  /// The nodes that failed within the window, when they are too many for a fleet of `fleet` nodes; else none.
  std::vector<std::string> TooMany(std::size_t fleet, Amount most, Clock::Steady now);
  void Forget() { nodes_.clear(); }

 private:
  std::map<std::string, Clock::Steady> nodes_;
};

/// A third of a rack that goes silent at once is the rack's failure, or the network's, or ours: nothing is
/// put right there until it is over. It ends by itself when the nodes are back, or when a person says so.
class SilentRacks {
 public:
  static constexpr std::chrono::seconds kAtOnce{60};
  static constexpr std::size_t kNodesLeast = 2;  ///< one node is one node, also in a rack of three
  static constexpr std::chrono::seconds kBackFor{60};

  /// Whether a node is heard of now. One that was never heard of does not count, nor one without a rack.
  void Note(const std::string& node, const std::string& rack, bool silent, Clock::Steady now);
  void Drop(const std::string& node);  ///< it left the inventory

  struct Frozen {
    std::string reason;
    std::chrono::system_clock::time_point since{};
  };
  /// True when some rack was frozen or thawed.
  bool Look(Clock::Steady now, std::chrono::system_clock::time_point wall);
  const std::map<std::string, Frozen>& frozen() const { return frozen_; }
  /// A person says that it is over: who is silent now does not count until it was heard of again.
  void Reset();

 private:
  struct Rack {
    std::set<std::string> heard;                  // silent ones included
    std::map<std::string, Clock::Steady> silent;  // since
    Clock::Steady back_since{};
  };
  std::map<std::string, Rack> racks_;
  std::map<std::string, std::string> rack_of_;
  std::map<std::string, Frozen> frozen_;
};

}  // namespace railwright
