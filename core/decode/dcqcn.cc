#include "core/decode/dcqcn.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "core/decode/dcqcn_alias.h"
#include "core/decode/values.h"
#include "railwright/explain.h"

namespace railwright {
namespace {

// Mbit/s of the fastest port that there is; the port's own rate is looked at when a value is written.
constexpr std::uint64_t kFastest = 800'000;
constexpr std::uint64_t k17Bit = 131'071;
constexpr std::uint64_t k32Bit = UINT32_MAX;

constexpr std::array kRegisters{
    DcqcnRegister{.name = "clamp_tgt_rate",
                  .inbox = "rp_clamp_tgt_rate",
                  .max = 1,
                  .factory = "0",
                  .masked = true,
                  .what = "1: every cut lowers the target rate to the current one"},
    DcqcnRegister{.name = "clamp_tgt_rate_after_time_inc",
                  .inbox = "rp_clamp_tgt_rate_ati",
                  .max = 1,
                  .factory = "1",
                  .masked = true,
                  .what = "1: so does the first cut after an increase by the timer"},
    DcqcnRegister{.name = "rpg_time_reset",
                  .inbox = "rp_time_reset",
                  .min = 1,
                  .max = k17Bit,
                  .unit = "µs",
                  .factory = "300",
                  .what = "time between two increases"},
    DcqcnRegister{.name = "rpg_byte_reset",
                  .inbox = "rp_byte_reset",
                  .max = k32Bit,
                  .unit = "bytes",
                  .factory = "32767",
                  .what = "bytes sent between two increases; firmware without 32-bit rates ends at 32767"},
    DcqcnRegister{.name = "rpg_threshold",
                  .inbox = "rp_threshold",
                  .min = 1,
                  .max = 31,
                  .factory = "1",
                  .what = "increases before the next stage of recovery"},
    DcqcnRegister{.name = "rpg_max_rate",
                  .inbox = "rp_max_rate",
                  .max = kFastest,
                  .unit = "Mbit/s",
                  .factory = "0",
                  .what = "highest rate of a flow; 0 is the line rate"},
    DcqcnRegister{.name = "rpg_ai_rate",
                  .inbox = "rp_ai_rate",
                  .min = 1,
                  .max = 100'000,
                  .unit = "Mbit/s",
                  .factory = "5",
                  .what = "step of additive increase"},
    DcqcnRegister{.name = "rpg_hai_rate",
                  .inbox = "rp_hai_rate",
                  .min = 1,
                  .max = kFastest,
                  .unit = "Mbit/s",
                  .factory = "50",
                  .what = "step of hyper increase"},
    DcqcnRegister{.name = "rpg_gd",
                  .inbox = "rp_gd",
                  .min = 10,
                  .max = 11,
                  .factory = "11",
                  .what = "a cut is alpha / 2^rpg_gd; 11 is half of alpha"},
    DcqcnRegister{.name = "rpg_min_dec_fac",
                  .inbox = "rp_min_dec_fac",
                  .min = 1,
                  .max = 100,
                  .unit = "%",
                  .factory = "50",
                  .what = "what a cut leaves at least; 100 never cuts"},
    DcqcnRegister{.name = "rpg_min_rate",
                  .inbox = "rp_min_rate",
                  .min = 1,
                  .max = kFastest,
                  .unit = "Mbit/s",
                  .factory = "1",
                  .what = "lowest rate of a flow"},
    DcqcnRegister{.name = "rate_to_set_on_first_cnp",
                  .inbox = "rp_rate_to_set_on_first_cnp",
                  .max = kFastest * 85 / 100,
                  .unit = "Mbit/s",
                  .factory = "0",
                  .what = "rate after the first CNP, at most 85 % of the line rate; 0 is off"},
    DcqcnRegister{.name = "dce_tcp_g",
                  .inbox = "rp_dce_tcp_g",
                  .min = 1,
                  .max = 1023,
                  .factory = "1019",
                  .what = "1024ths of alpha that are left after each dce_tcp_rtt"},
    DcqcnRegister{.name = "dce_tcp_rtt",
                  .inbox = "rp_dce_tcp_rtt",
                  .min = 1,
                  .max = k17Bit,
                  .unit = "µs",
                  .factory = "1",
                  .what = "time between two updates of alpha"},
    DcqcnRegister{.name = "rate_reduce_monitor_period",
                  .inbox = "rp_rate_reduce_monitor_period",
                  .min = 1,
                  .max = k17Bit,
                  .unit = "µs",
                  .factory = "4",
                  .what = "least time between two cuts"},
    DcqcnRegister{.name = "initial_alpha_value",
                  .inbox = "rp_initial_alpha_value",
                  .min = 1,
                  .max = 1023,
                  .factory = "1023",
                  .what = "alpha at the first CNP of a flow, in 1024ths"},
    DcqcnRegister{.name = "min_time_between_cnps",
                  .notification = true,
                  .inbox = "np_min_time_between_cnps",
                  .bnxt = "min_time_bet_cnp",
                  .max = k17Bit,
                  .unit = "µs",
                  .factory = "2 or 4",
                  .what = "least time between two CNPs of the receiver"},
    DcqcnRegister{.name = "cnp_dscp",
                  .notification = true,
                  .inbox = "np_cnp_dscp",
                  .bnxt = "cnp_dscp",
                  .max = 63,
                  .factory = "48",
                  .masked = true,
                  .what = "DSCP of CNPs",
                  .ignored_by = "CNP_DSCP_MODE",
                  .ignored_at = "RX_PACKET(2)"},
    DcqcnRegister{.name = "cnp_802p_prio",
                  .notification = true,
                  .inbox = "np_cnp_prio",
                  .bnxt = "cnp_prio",
                  .max = 7,
                  .factory = "6",
                  .masked = true,
                  .what = "priority of CNPs",
                  .ignored_by = "CNP_RES_PRIO_MODE",
                  .ignored_at = "True(1)"},
};

constexpr std::string_view KeyOf(const DcqcnRegister& one) {
  if (one.name == "cnp_dscp") return "cnp.dscp";
  if (one.name == "cnp_802p_prio") return "cnp.priority";
  return {};
}

}  // namespace

std::span<const DcqcnRegister> DcqcnRegisters() { return kRegisters; }

const DcqcnRegister* FindDcqcnRegister(std::string_view name) {
  const auto* found = std::find_if(kRegisters.begin(), kRegisters.end(),
                                   [&](const DcqcnRegister& one) { return one.name == name; });
  return found == kRegisters.end() ? nullptr : found;
}

bool IsDcqcnKey(const DcqcnRegister& one) { return KeyOf(one).empty(); }

// All names are the same word in both places (mlxcfg_param_lib.h, and the listings of ConnectX-4 to -7).
std::string NvconfigName(const DcqcnRegister& one) {
  std::string name(one.name);
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

std::string AllowedValues(const DcqcnRegister& one) {
  std::string text = std::to_string(one.min) + "…" + std::to_string(one.max);
  if (!one.unit.empty()) text.append(" ").append(one.unit);
  return text;
}

Result<std::string> CanonicalDcqcn(const DcqcnRegister& one, std::string_view value) {
  RW_ASSIGN_OR_RETURN(const std::uint64_t number,
                      ParseWhole(Trimmed(value), one.min, one.max, AllowedValues(one)));
  return std::to_string(number);
}

Result<std::string> ReadDcqcn(std::string_view text) {
  const std::string_view whole = Trimmed(text);
  // MLNX_OFED's way of telling that its query failed.
  if (whole.empty())
    return Status(Code::kInternal, "it reads empty: the firmware did not answer; the kernel's log says more");
  const bool hexadecimal = whole.starts_with("0x") || whole.starts_with("0X");
  const std::string_view digits = hexadecimal ? whole.substr(2) : whole;
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hexadecimal ? 16 : 10);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return Status(Code::kInternal, "the driver says " + Quoted(text) + ", which is no number");
  return std::to_string(number);
}

std::string UnknownDcqcn(std::string_view name) {
  if (FindDcqcnAlias("dcqcn." + std::string(name)) != nullptr || name == "alias_profile")
    return "dcqcn." + std::string(name) + " is no register but an alias, which the controller expands; " +
           std::string(kDcqcnAliasRule);
  std::vector<std::string_view> known;
  for (const DcqcnRegister& one : kRegisters) {
    if (name == one.name && !IsDcqcnKey(one))
      return Quoted(name) + " has a setting of its own: " + std::string(KeyOf(one));
    if (name == one.inbox)
      return Quoted(name) + " is the inbox driver's name of " +
             (IsDcqcnKey(one) ? "dcqcn." + std::string(one.name) : std::string(KeyOf(one)));
    if (IsDcqcnKey(one)) known.push_back(one.name);
  }
  std::string message = "unknown register " + Quoted(name);
  constexpr std::size_t kLongestName = 64;
  if (const auto near = name.size() <= kLongestName ? Nearest(name, known) : std::string_view();
      !near.empty())
    return message + "; did you mean \"" + std::string(near) + "\"?";
  message += "; known are";
  for (const auto& one : known) message.append(&one == &known.front() ? " " : ", ").append(one);
  return message;
}

}  // namespace railwright
