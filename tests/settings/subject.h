// Subject: one setting of the catalogue with a target, as the reconciler would use it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "railwright/machine.h"
#include "railwright/setting.h"

namespace railwright {

/// A fabric port whose interface has its name.
inline Port FabricPort(std::string name, std::vector<std::string> addresses = {},
                       std::vector<std::string> gateways = {}) {
  Port port;
  port.name = name;
  port.netdev = std::move(name);
  port.role = PortRole::kFabric;
  port.addresses = std::move(addresses);
  port.gateways = std::move(gateways);
  return port;
}

/// "link.mtu" on port rail0 (interface rail0, RDMA device mlx5_0), or a node key, by its full key.
class Subject {
 public:
  explicit Subject(const std::string& key, Port port = FabricPort("rail0"), int index = 0) {
    auto match = Catalogue().Find(key);
    EXPECT_TRUE(match.ok()) << match.status().ToString();
    setting = match->setting;
    bound.port = std::move(port);
    bound.netdev = bound.port.netdev.empty() ? bound.port.name : bound.port.netdev;
    bound.ibdev = "mlx5_" + std::to_string(index);
    bound.index = index;
    facts.node = "gpu-001";
    facts.subnets = {"10.10.0.0/16"};
    facts.ports = {bound};
    target.param = match->param;
    target.facts = &facts;
    if (setting->TargetsOf(match->param) == TargetKind::kPort) {
      target.name = bound.port.name;
      target.port = &facts.ports.front();
    }
  }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  Result<std::string> Canonical(std::string_view value) const {
    return setting->Canonical(target.param, value);
  }
  /// The canonical form, or the message of the refusal.
  std::string Said(std::string_view value) const {
    const auto canonical = Canonical(value);
    return canonical.ok() ? *canonical : canonical.status().message();
  }
  /// Canonical and Desired; the wish is remembered, as the reconciler does.
  std::string Wish(std::string_view value) {
    const auto canonical = Canonical(value);
    EXPECT_TRUE(canonical.ok()) << canonical.status().ToString();
    if (!canonical.ok()) return {};
    const auto desired = setting->Desired(target, *canonical);
    EXPECT_TRUE(desired.ok()) << desired.status().ToString();
    if (desired.ok()) target.wish = *desired;
    return target.wish;
  }
  Observation See(const Machine& machine) const {
    auto observed = setting->Observe(machine, target);
    EXPECT_TRUE(observed.ok()) << observed.status().ToString();
    return observed.ok() ? *observed : Observation::NotApplicable("TestFailed", observed.status().ToString());
  }
  bool Satisfied(const Machine& machine) const {
    const auto observed = setting->Observe(machine, target);
    return observed.ok() && setting->Satisfied(target, target.wish, *observed);
  }
  Status Apply(Machine& machine, std::string_view value) const {
    return setting->Apply(machine, target, value);
  }

  const Setting* setting = nullptr;
  BoundPort bound;
  NodeFacts facts;
  Target target;

 private:
  static const Catalog& Catalogue() {
    static const Catalog catalog = MakeCatalog();
    return catalog;
  }
};

}  // namespace railwright
