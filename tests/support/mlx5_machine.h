// Mlx5Machine: a host in memory whose port rail0 has data center bridging as mlx5 does it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/fake_machine.h"
#include "tests/support/mlx5_dcb.h"

namespace railwright {

/// FakeMachine with /dcb/rail0 and /ethtool/rail0/pfc_storm_prevention: the paths behave as the backend over
/// that driver does. Errors of the driver come as the backend tells them ("answered in the payload").
class Mlx5Machine final : public FakeMachine {
 public:
  Mlx5Machine();
  Mlx5Dcb dcb;
  /// Values given to Set below /dcb/rail0, "pfc: enabled=3".
  std::vector<std::string> dcb_writes;

  /// Shows what `dcb` has now, after a test has changed it.
  void Show();
  Status Set(std::string_view path, std::string_view value) override;

 private:
  Status SetStorm(std::string_view value);
  int SetFields(std::string_view leaf, std::string_view changed);
  int SetApps(std::string_view value);
};

}  // namespace railwright
