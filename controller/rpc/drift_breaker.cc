#include "controller/rpc/drift_breaker.h"

#include <algorithm>

namespace railwright {

void DriftBreaker::DropOld(Drifts& drifts, Time now) {
  std::erase_if(drifts.nodes, [&](const auto& entry) { return entry.second + kWindow < now; });
}

void DriftBreaker::Note(const std::string& key, const std::string& node, Time at, Time now) {
  at = std::min(at, now);  // a node's clock may be ahead
  if (at + kWindow < now) return;
  if (keys_.size() >= kKeysMost && !keys_.contains(key)) return;
  Time& last = keys_[key].nodes[node];
  last = std::max(last, at);
}

std::vector<DriftBreaker::Trip> DriftBreaker::TakeTrips(std::size_t fleet, Time now) {
  std::vector<Trip> trips;
  for (auto it = keys_.begin(); it != keys_.end();) {
    auto& [key, drifts] = *it;
    DropOld(drifts, now);
    const std::size_t count = drifts.nodes.size();
    if (!drifts.told && count >= kNodesLeast && count * 100 > fleet * kPercent) {
      Trip& trip = trips.emplace_back();
      trip.key = key;
      for (const auto& [node, at] : drifts.nodes) trip.nodes.push_back(node);
      drifts.told = true;
    }
    it = count == 0 && !drifts.told ? keys_.erase(it) : std::next(it);
  }
  return trips;
}

void DriftBreaker::Forget(const std::string& key) {
  if (key.empty())
    keys_.clear();
  else
    keys_.erase(key);
}

}  // namespace railwright
