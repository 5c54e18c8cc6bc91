// Which parameters of a card's flash a profile may set.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// Ok for a parameter of RoCE, QoS, congestion control or PCI ordering; of a port with `_P1` … `_P8` at its
/// end. InvalidArgument for all others: some take the card off the network or make it another device
/// (INTERNAL_CPU_MODEL, SRIOV_EN, EXP_ROM_*, KEEP_LINK_UP_*, *_BOOT_*).
Status CheckNvParameter(std::string_view name);

/// InvalidArgument when `value` would take the port away from Ethernet (LINK_TYPE_P1 other than ETH), or is
/// no value at all (IsNvValue).
Status CheckNvValue(std::string_view name, std::string_view value);

/// The list, patterns with * included, for messages and recordings.
const std::vector<std::string>& KnownNvParameters();

}  // namespace railwright
