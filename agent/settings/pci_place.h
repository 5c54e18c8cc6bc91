// The PCI function behind a port; shared by the settings of PCI configuration space and of the card's flash.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "railwright/setting.h"

namespace railwright {

/// Whether a function is a virtual one, as sysfs of its host tells; in a virtual machine it cannot be told.
inline Result<bool> IsVirtualFunction(const Machine& machine, const std::string& bdf) {
  const auto physical = machine.Get("/sys/bus/pci/devices/" + bdf + "/physfn/uevent");
  if (!physical.ok() && physical.status().code() != Code::kNotFound) return physical.status();
  return physical.ok();
}

/// The address of a port's PCI function, "0000:18:00.0", or why the port has none.
using PciPlace = std::variant<std::string, Observation>;

/// An interface that is not there at all is an error. NoPciDevice: it exists, and sits on no PCI function of
/// its own (a bridge, a veth; a virtio interface that is declared by its name).
inline Result<PciPlace> FindPciPlace(const Machine& machine, const Target& target) {
  const BoundPort& port = *target.port;
  if (!port.bdf.empty()) return PciPlace(port.bdf);
  const auto uevent = machine.Get("/sys/class/net/" + port.netdev + "/device/uevent");
  if (!uevent.ok()) {
    if (uevent.status().code() != Code::kNotFound) return uevent.status();
    if (const auto link = machine.Get("/rtnl/link/" + port.netdev); !link.ok()) return link.status();
  } else {
    constexpr std::string_view kSlot = "PCI_SLOT_NAME=";
    if (const auto at = uevent->find(kSlot); at != std::string::npos) {
      const auto from = at + kSlot.size();
      return PciPlace(uevent->substr(from, uevent->find('\n', from) - from));
    }
  }
  return PciPlace(
      Observation::NotApplicable("NoPciDevice", port.netdev + " sits on no PCI function of its own"));
}

}  // namespace railwright
