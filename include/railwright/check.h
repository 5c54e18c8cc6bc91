// Check: a read-only health probe, derived from its folder as settings are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "railwright/machine.h"
#include "railwright/setting.h"
#include "railwright/state.h"

namespace railwright {

struct CheckInfo {
  std::string key;   ///< "firewall.foreign"
  std::string code;  ///< "RW-2101", unique among settings and checks
  std::string help;
  std::string why;
  std::string interface;
  Noticed noticed;
};

class Check {
 public:
  virtual ~Check() = default;
  virtual const CheckInfo& info() const = 0;
  /// One finding per target, at least one: Compliant with its evidence when all is well, Unknown when it
  /// could not be told. Key and code are those of info(). Never writes.
  virtual std::vector<Finding> Run(const Machine& machine, const NodeFacts& facts) const = 0;
};

/// Generated: all checks of this build. Defined in the checks library.
std::vector<std::unique_ptr<const Check>> MakeChecks();

}  // namespace railwright
