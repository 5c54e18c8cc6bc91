// Which parameter of a card's flash is a port's own: the one ending in _P1, or in _P2. Shared by
// dcqcn_place.h and ecn_switch.h.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/settings/pci_place.h"
#include "agent/settings/stored_parameter.h"

namespace railwright {

/// Whether a port's function is one whose flash mstconfig reads: a physical function of an NVIDIA (Mellanox)
/// card. Nothing else may lead to a program being run.
inline Result<bool> HasReadableFlash(const Machine& machine, const BoundPort& port) {
  constexpr std::string_view kMellanox = "0x15b3";
  if (port.bdf.empty()) return false;
  const auto vendor = machine.Get("/sys/bus/pci/devices/" + port.bdf + "/vendor");
  if (!vendor.ok() && vendor.status().code() != Code::kNotFound) return vendor.status();
  if (!vendor.ok() || Trimmed(*vendor) != kMellanox) return false;
  RW_ASSIGN_OR_RETURN(const bool is_virtual, IsVirtualFunction(machine, port.bdf));
  return !is_virtual;
}

/// The number that a port's driver tells of it, from 1; nullopt when it tells none. mlx5 names its uplink
/// "p0", "p1" after the firmware's native_port_num (linux/mlx5/driver.h mlx5_get_dev_index, en/devlink.c; in
/// older kernels after the PCI function), and that holds in a virtual machine, too. A driver with two ports
/// on one function numbers them in dev_port, from 0. FailedPrecondition when the two differ.
inline Result<std::optional<int>> ToldPortNumber(const Machine& machine, const BoundPort& port) {
  const std::string folder = "/sys/class/net/" + port.netdev;
  constexpr int kMost = 8;  // mlxconfig knows _P1 … _P8
  std::optional<int> told;
  const auto name = machine.Get(folder + "/phys_port_name");
  // EOPNOTSUPP: the driver names no ports.
  if (!name.ok() && name.status().code() != Code::kNotFound && name.status().error_number() != EOPNOTSUPP)
    return name.status();
  if (name.ok() && Trimmed(*name).starts_with('p'))
    if (const auto number = ParseWhole(Trimmed(*name).substr(1), 0, kMost - 1); number.ok())
      told = static_cast<int>(*number) + 1;
  const auto index = machine.Get(folder + "/dev_port");
  if (!index.ok() && index.status().code() != Code::kNotFound) return index.status();
  if (!index.ok()) return told;
  RW_ASSIGN_OR_RETURN(const std::uint64_t below, ParseWhole(Trimmed(*index), 0, kMost - 1));
  const int of_function = static_cast<int>(below) + 1;
  if (below != 0 && told && *told != of_function)
    return Status(Code::kFailedPrecondition, folder + ": phys_port_name is " + std::string(Trimmed(*name)) +
                                                 " and dev_port " + std::to_string(below) +
                                                 ", so which port of its card it is cannot be told");
  if (below != 0) told = of_function;
  return told;
}

/// Which port of its card a port is, from 1: what its driver tells (ToldPortNumber); else its PCI function
/// (0000:3b:00.1 is port 2: a ConnectX card has a function for each port, in their order). Function 0 is
/// port 1 of a card with one port, or with function 1 beside it: a virtual machine may have been given either
/// port as its function 0. FailedPrecondition when it cannot be told. `base` is a parameter without `_P<n>`;
/// mlxconfig lists one for each port of the card (mlxcfg_tlv.cpp getMaxPort: register MGIR, num_ports).
inline Result<int> PortOnCard(const Machine& machine, const BoundPort& port, const std::string& base) {
  RW_ASSIGN_OR_RETURN(const std::optional<int> told, ToldPortNumber(machine, port));
  if (told) return *told;
  const int function = port.bdf.back() - '0';
  if (function > 0) return function + 1;
  const std::string second = base + "_P2";
  RW_ASSIGN_OR_RETURN(const auto of_second, ReadStored(machine, "/nvconfig/" + port.bdf + "/" + second));
  if (!of_second) return 1;
  const auto beside =
      machine.Get("/sys/bus/pci/devices/" + port.bdf.substr(0, port.bdf.size() - 1) + "1/vendor");
  if (beside.ok()) return 1;
  if (beside.status().code() != Code::kNotFound) return beside.status();
  return Status(Code::kFailedPrecondition,
                port.netdev + ": its card has two ports (" + second +
                    " is there), its driver does not tell which one it is (phys_port_name), and function 1 "
                    "of " +
                    port.bdf +
                    " is not on this machine, so it may be either; nic.nvconfig.<KEY> sets a parameter by "
                    "its own name");
}

/// The parameter `base` of the port itself, "CNP_DSCP_P2"; nullopt: this firmware has none for any port.
/// Only for a port with HasReadableFlash. Errors: as ReadStored and PortOnCard, and FailedPrecondition for
/// the second port of a card that lists only the first's.
inline Result<std::optional<StoredParameter>> FindPortParameter(const Machine& machine, const BoundPort& port,
                                                                const std::string& base) {
  const std::string folder = "/nvconfig/" + port.bdf + "/";
  RW_ASSIGN_OR_RETURN(const auto first, ReadStored(machine, folder + base + "_P1"));
  if (!first) return std::optional<StoredParameter>();
  RW_ASSIGN_OR_RETURN(const int number, PortOnCard(machine, port, base));
  if (number == 1) return first;
  const std::string own = base + "_P" + std::to_string(number);
  RW_ASSIGN_OR_RETURN(auto parameter, ReadStored(machine, folder + own));
  if (parameter) return parameter;
  return Status(Code::kFailedPrecondition, port.netdev + " is port " + std::to_string(number) +
                                               " of its card, whose firmware lists " + base + "_P1 and no " +
                                               own + ", so which one is its own cannot be told");
}

}  // namespace railwright
