#include "core/decode/nvconfig_names.h"

#include <algorithm>

#include "core/decode/mstconfig.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

// "LINK_TYPE_P1" → "LINK_TYPE".
std::string_view WithoutPort(std::string_view name) {
  if (name.size() > 3 && name[name.size() - 3] == '_' && name[name.size() - 2] == 'P' && name.back() >= '1' &&
      name.back() <= '8')
    name.remove_suffix(3);
  return name;
}

}  // namespace

const std::vector<std::string>& KnownNvParameters() {
  static const std::vector<std::string> names{
      // PCI: ordering, outstanding reads, address translation.
      "ADVANCED_PCI_SETTINGS", "ATS_ENABLED", "MAX_ACC_OUT_READ", "PCI_WR_ORDERING",
      // RoCE and its congestion control.
      "CLAMP_TGT_RATE", "CLAMP_TGT_RATE_AFTER_TIME_INC", "CNP_802P_PRIO", "CNP_DSCP", "CNP_DSCP_MODE",
      "CNP_RES_PRIO_MODE", "DCE_TCP_G", "DCE_TCP_RTT", "INITIAL_ALPHA_VALUE", "MIN_TIME_BETWEEN_CNPS",
      "RATE_REDUCE_MONITOR_PERIOD", "RATE_TO_SET_ON_FIRST_CNP", "ROCE_ADAPTIVE_ROUTING_EN", "ROCE_CC_*",
      "ROCE_CONTROL", "ROCE_RTT_*", "RPG_*", "TX_SCHEDULER_LOCALITY_MODE", "USER_PROGRAMMABLE_CC",
      // Link layer and QoS: who negotiates, what there is.
      "DCBX_CEE", "DCBX_IEEE", "DCBX_WILLING", "LINK_TYPE", "LLDP_NB_DCBX", "LLDP_NB_RX_MODE",
      "LLDP_NB_TX_MODE", "NUM_OF_PFC", "NUM_OF_TC", "NUM_OF_VL"};
  return names;
}

Status CheckNvParameter(std::string_view name) {
  if (!IsNvName(name))
    return Status(
        Code::kInvalidArgument,
        "parameter " + Quoted(name) + "; allowed: A-Z 0-9 _ as mstconfig prints it, no array element");
  const std::string_view base = WithoutPort(name);
  const auto& known = KnownNvParameters();
  if (std::any_of(known.begin(), known.end(),
                  [&](const std::string& pattern) { return FitsPattern(pattern, base); }))
    return Ok();
  return Status(Code::kInvalidArgument, "parameter " + std::string(name) +
                                            " is not one that Railwright sets, since some make a card "
                                            "unreachable; allowed, with _P1 … _P8 where it is of a port: " +
                                            Joined(known, ", "));
}

Status CheckNvValue(std::string_view name, std::string_view value) {
  if (!IsNvValue(value))
    return Status(Code::kInvalidArgument, Quoted(value) +
                                              "; allowed: a number, True, False, or a word of letters, "
                                              "digits, _ . - as mstconfig prints it");
  // Ethernet is 2.
  if (WithoutPort(name) == "LINK_TYPE" && !SameNvValue(value, "ETH(2)"))
    return Status(Code::kInvalidArgument, Quoted(value) + "; allowed: ETH, since RoCE needs Ethernet");
  return Ok();
}

}  // namespace railwright
