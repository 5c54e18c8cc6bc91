// BuildState: desired states in one expression.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "railwright/state.h"

namespace railwright {

/// BuildState(3).Fabric("rail0").Enforce("link.mtu", "rail0", "4200").Done()
class BuildState {
 public:
  explicit BuildState(std::uint64_t generation, std::string node = "gpu-001") {
    state_.generation.value = generation;
    state_.node = std::move(node);
    state_.cluster = "pod-a";
    state_.hash = "hash-" + std::to_string(generation);
    state_.subnets = {"10.10.0.0/24"};
  }
  BuildState& Subnets(std::vector<std::string> subnets) {
    state_.subnets = std::move(subnets);
    return *this;
  }
  BuildState& AddPort(Port port) {
    state_.ports.push_back(std::move(port));
    return *this;
  }
  /// A fabric port selected by interface name; the name of the port unless given.
  BuildState& Fabric(std::string name, std::string netdev = {}, std::vector<std::string> addresses = {}) {
    return Netdev(PortRole::kFabric, std::move(name), std::move(netdev), std::move(addresses));
  }
  BuildState& Storage(std::string name, std::string netdev = {}) {
    return Netdev(PortRole::kStorage, std::move(name), std::move(netdev), {});
  }
  BuildState& Management(std::string name, std::string netdev = {}) {
    return Netdev(PortRole::kManagement, std::move(name), std::move(netdev), {});
  }
  BuildState& Enforce(std::string key, std::string target, std::string value) {
    return Wish(std::move(key), std::move(target), std::move(value), Mode::kEnforce);
  }
  BuildState& Observe(std::string key, std::string target, std::string value) {
    return Wish(std::move(key), std::move(target), std::move(value), Mode::kObserve);
  }
  /// What the profile of the wish added last allows.
  BuildState& Allow(Disruption most) {
    state_.settings.back().max_disruption = most;
    return *this;
  }
  BuildState& Restore(std::string key, std::string target) {
    state_.restore.push_back({std::move(key), std::move(target)});
    return *this;
  }
  DesiredState Done() const { return state_; }
  operator DesiredState() const { return state_; }  // NOLINT: implicit on purpose

 private:
  BuildState& Netdev(PortRole role, std::string name, std::string netdev,
                     std::vector<std::string> addresses) {
    Port port;
    port.role = role;
    port.netdev = netdev.empty() ? name : std::move(netdev);
    port.name = std::move(name);
    port.addresses = std::move(addresses);
    return AddPort(std::move(port));
  }
  BuildState& Wish(std::string key, std::string target, std::string value, Mode mode) {
    SettingSpec spec;
    spec.key = std::move(key);
    spec.target = std::move(target);
    spec.value = std::move(value);
    spec.mode = mode;
    spec.origin = {"Profile/test", "test.yaml:" + std::to_string(state_.settings.size() + 1) + ":3"};
    state_.settings.push_back(std::move(spec));
    return *this;
  }

  DesiredState state_;
};

}  // namespace railwright
