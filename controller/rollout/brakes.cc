#include "controller/rollout/brakes.h"

#include <algorithm>

#include "controller/fleet/resolve.h"

namespace railwright {

std::vector<std::string> FailureCount::TooMany(std::size_t fleet, Amount most, Clock::Steady now) {
  std::erase_if(nodes_, [&](const auto& entry) { return now - entry.second > kWindow; });
  std::vector<std::string> nodes;
  if (nodes_.size() < kNodesLeast || nodes_.size() <= most.Of(fleet)) return nodes;
  for (const auto& [node, at] : nodes_) nodes.push_back(node);
  return nodes;
}

void SilentRacks::Note(const std::string& node, const std::string& rack, bool silent, Clock::Steady now) {
  if (const auto old = rack_of_.find(node); old != rack_of_.end() && old->second != rack) Drop(node);
  if (rack.empty()) return;
  Rack& here = racks_[rack];
  if (!silent) {
    rack_of_[node] = rack;
    here.heard.insert(node);
    here.silent.erase(node);
  } else if (here.heard.contains(node)) {
    here.silent.try_emplace(node, now);
  }
}

void SilentRacks::Drop(const std::string& node) {
  const auto found = rack_of_.find(node);
  if (found == rack_of_.end()) return;
  Rack& rack = racks_[found->second];
  rack.heard.erase(node);
  rack.silent.erase(node);
  rack_of_.erase(found);
}

bool SilentRacks::Look(Clock::Steady now, std::chrono::system_clock::time_point wall) {
  bool moved = false;
  for (auto& [name, rack] : racks_) {
    const bool frozen = frozen_.contains(name);
    std::vector<std::string> lately;
    for (const auto& [node, since] : rack.silent)
      if (now - since <= kAtOnce) lately.push_back(node);
    if (!frozen && lately.size() >= kNodesLeast && lately.size() * 3 >= rack.heard.size()) {
      frozen_[name] = {std::to_string(lately.size()) + " of the " + std::to_string(rack.heard.size()) +
                           " nodes of rack " + name + " went silent within " +
                           std::to_string(kAtOnce.count()) + " s (" + FoldNames(lately) + ")",
                       wall};
      rack.back_since = {};
      moved = true;
    } else if (frozen) {
      if (rack.silent.size() * 3 >= rack.heard.size() && !rack.silent.empty()) {
        rack.back_since = {};
      } else if (rack.back_since == Clock::Steady{}) {
        rack.back_since = now;
      } else if (now - rack.back_since >= kBackFor) {
        frozen_.erase(name);
        moved = true;
      }
    }
  }
  return moved;
}

void SilentRacks::Reset() {
  for (auto& [name, rack] : racks_) {
    for (const auto& [node, since] : rack.silent) {
      rack.heard.erase(node);
      rack_of_.erase(node);
    }
    rack.silent.clear();
  }
  frozen_.clear();
}

}  // namespace railwright
