// What the qos.* settings, which are files of one folder, share: reading a path below /dcb, the driver of a
// port, and the note on DCBX in firmware.
#pragma once

#include <cerrno>
#include <string>
#include <variant>
#include <vector>

#include "core/decode/dcb.h"
#include "core/decode/dcb_app.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {

inline std::string DcbPath(const Target& target, std::string_view leaf) {
  return "/dcb/" + target.port->netdev + "/" + std::string(leaf);
}

/// The name of the driver of a port's device ("mlx5_core"), "" for a virtual interface.
inline Result<std::string> DriverOf(const Machine& machine, const Target& target) {
  const auto uevent = machine.Get("/sys/class/net/" + target.port->netdev + "/device/uevent");
  if (!uevent.ok() && uevent.status().code() == Code::kNotFound) return std::string();
  if (!uevent.ok()) return uevent.status();
  for (const std::string_view line : Lines(*uevent))
    if (line.starts_with("DRIVER=")) return std::string(line.substr(7));
  return std::string();
}

/// The text of a path, or why the port has none.
using DcbText = std::variant<std::string, Observation>;

/// Only the kernel's own EOPNOTSUPP proves that a port has no DCB.
inline Result<DcbText> ReadDcb(const Machine& machine, const Target& target, std::string_view leaf) {
  const auto text = machine.Get(DcbPath(target, leaf));
  if (text.ok()) return DcbText(*text);
  if (text.status().error_number() != EOPNOTSUPP) return text.status();
  RW_ASSIGN_OR_RETURN(const std::string driver, DriverOf(machine, target));
  return DcbText(Observation::NotApplicable(
      "NoDcb",
      target.port->netdev + (driver.empty() ? "" : " (" + driver + ")") + ": " + text.status().message()));
}

/// Adds to an observation who would override what is written. mlx5 takes writes in firmware mode and answers
/// success; its firmware then follows the switch (en_dcbnl.c).
inline Result<Observation> WithDcbxNote(const Machine& machine, const Target& target, Observation observed) {
  const auto text = machine.Get(DcbPath(target, "dcbx"));
  // A driver without a DCBX mode has nobody who overrides.
  if (!text.ok() && text.status().error_number() == EOPNOTSUPP) return observed;
  if (!text.ok()) return text.status();
  const auto mode = DcbxMode::Parse(*text);
  if (!mode.ok()) return mode.status().Within(DcbPath(target, "dcbx"));
  if (mode->host()) return observed;
  observed.message +=
      std::string(observed.message.empty() ? "" : "; ") +
      "the card's firmware speaks DCBX, so what is written here is overridden by what the switch "
      "announces; declare qos.dcbx: host";
  return observed;
}

/// Observe of a setting that is one structure: `show` makes the canonical value of the parsed text.
template <class Structure, class Show>
Result<Observation> ObserveDcb(const Machine& machine, const Target& target, std::string_view leaf,
                               Show show) {
  RW_ASSIGN_OR_RETURN(const DcbText read, ReadDcb(machine, target, leaf));
  if (const auto* none = std::get_if<Observation>(&read)) return *none;
  const auto structure = Structure::Parse(std::get<std::string>(read));
  if (!structure.ok()) return structure.status().Within(DcbPath(target, leaf));
  return WithDcbxNote(machine, target, Observation::Value(show(*structure)));
}

/// Sets the APP table. mlx5 falls back to trusting PCP when its firmware refuses one DSCP, and keeps listing
/// the others (en_dcbnl.c mlx5e_dcbnl_ieee_setapp, fw_err): nothing that can be read tells.
inline Status WriteApps(Machine& machine, const Target& target, const std::vector<DcbApp>& table) {
  const Status status = machine.Set(DcbPath(target, "app"), AppTableText(table));
  if (status.ok()) return status;
  return Status(status.code(),
                status.message() +
                    "; a ConnectX may now trust PCP although DSCPs are listed: set qos.trust to pcp, then to "
                    "dscp again",
                status.error_number());
}

/// How drift of them is noticed: changes through dcbnl tell; those that firmware makes do not.
inline Noticed DcbNoticed() {
  return {.by_event = true, .source = "dcbnl", .worst = std::chrono::milliseconds(0)};
}

}  // namespace railwright
