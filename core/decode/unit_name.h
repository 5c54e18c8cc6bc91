// Names of systemd units, the list that this build knows, and what starting or stopping each disturbs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"
#include "railwright/state.h"

namespace railwright {

/// systemd.unit(5): 1…255 letters, digits and : - _ . \ @ with a known suffix (".service" …).
bool IsUnitName(std::string_view name);

/// "openibd" is "openibd.service"; a name with a known suffix stays, and so does "".
std::string FullUnitName(std::string_view name);

/// Whose links a unit touches when it is started or stopped.
enum class Reach : std::uint8_t { kNoPort, kRdmaPorts, kEveryPort };

/// A unit of this field. Its names are those of the packages of Debian, Ubuntu and NVIDIA.
struct KnownUnit {
  std::string_view name;
  Disruption disruption;  ///< of starting, stopping or restarting it
  Reach reach;
};

/// nullptr when the list has no such unit.
const KnownUnit* FindKnownUnit(std::string_view unit);
/// The names on the list.
std::vector<std::string> KnownUnits();

/// What a profile asks of a unit: running or not, and what happens at boot.
struct UnitWish {
  std::string active;   ///< "running", "stopped" or "": either
  std::string enabled;  ///< "enabled", "disabled", "masked" or "": any

  /// `running`, `stopped`, `enabled`, `disabled`, `masked`, or one of each kind. `running masked` is refused:
  /// it would not survive a restart.
  static Result<UnitWish> Parse(std::string_view text);
  std::string Text() const;
};

}  // namespace railwright
