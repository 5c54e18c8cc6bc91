// SimMachine: a node's kernel, with the faults that kernels show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/machine.h"
#include "tests/support/fake_machine.h"

namespace railwright::sim {

class NodeHost;

class SimMachine final : public Machine {
 public:
  explicit SimMachine(NodeHost& host) : host_(host) { Boot(); }

  Result<std::string> Get(std::string_view path) const override;
  Result<std::vector<std::string>> List(std::string_view path) const override;
  Status Set(std::string_view path, std::string_view value) override;

  /// Runtime settings are those of the boot again.
  void Boot();
  void LinkGoes(const std::string& netdev);
  void LinkComes(const std::string& netdev);

  FakeMachine kernel;

 private:
  Status Interrupted(std::string_view path) const;
  NodeHost& host_;
};

/// Every path that a profile of the simulation may set.
const std::vector<std::string>& KnobPaths();

}  // namespace railwright::sim
