// ControllerElsewhere: a node whose controller lives in a network namespace of its own at the other end of
// rail0, so that everything between the two goes through what is changed.
#pragma once

#include <string>
#include <vector>

#include "tests/e2e/one_node.h"

namespace railwright {

class ControllerElsewhere : public OneNode {
 protected:
  static constexpr const char* kController = "10.220.0.254";

  /// rail0 has 10.220.0.1/24; the controller runs, and no agent yet.
  void SetUp() override;
  static void Do(const std::vector<std::string>& words);
  /// `words`, to be run at the other end.
  std::vector<std::string> There(const std::vector<std::string>& words) const;

  Child elsewhere_;
  std::vector<std::string> there_;
};

}  // namespace railwright
