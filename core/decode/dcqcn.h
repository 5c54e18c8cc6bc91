// The registers of DCQCN congestion control: what each driver calls them and what they may hold.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright {

/// One register. The name is that of MLNX_OFED's sysfs; ranges are the widths of the firmware's fields
/// (mstflint's mlxconfig database) and NVIDIA's page "DCQCN CC parameters".
struct DcqcnRegister {
  std::string_view name;      ///< "rpg_ai_rate", below ecn/roce_rp or ecn/roce_np
  bool notification = false;  ///< of the receiver (roce_np); else of the sender (roce_rp)
  std::string_view inbox;     ///< the inbox driver's name, below debugfs cc_params
  std::string_view bnxt{};    ///< Broadcom's name of the same thing, below configfs bnxt_re; "" when none
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  std::string_view unit{};   ///< "µs", "Mbit/s" (then the line rate is a bound too), "%", "bytes" or ""
  std::string_view factory;  ///< what most firmware comes with
  /// OFED keeps the low bits of a greater number and says nothing: 112 written to cnp_dscp becomes 48.
  bool masked = false;
  std::string_view what;  ///< what it does, in a few words
  /// A parameter of the card's flash (without `_P<n>`) that makes the firmware ignore this one while it is
  /// `ignored_at`, as mstconfig prints it; "" when there is none.
  std::string_view ignored_by{};
  std::string_view ignored_at{};
};

/// All registers, in the order of the firmware's fields: those of dcqcn.<register>, then cnp_dscp and
/// cnp_802p_prio, which have settings of their own.
std::span<const DcqcnRegister> DcqcnRegisters();
/// By OFED's name; nullptr when there is none.
const DcqcnRegister* FindDcqcnRegister(std::string_view name);
/// Whether dcqcn.<register> manages it; cnp_dscp and cnp_802p_prio are cnp.dscp and cnp.priority.
bool IsDcqcnKey(const DcqcnRegister& one);

/// The register's name in the card's flash, without the port's `_P1` or `_P2` (mstflint mlxconfig database,
/// configurations nv_roce_cc_ecn): "RPG_AI_RATE". It holds what the register is after a boot.
std::string NvconfigName(const DcqcnRegister& one);

/// "1…131071 µs".
std::string AllowedValues(const DcqcnRegister& one);
/// A whole decimal number in the register's range. InvalidArgument names the value and the range.
Result<std::string> CanonicalDcqcn(const DcqcnRegister& one, std::string_view value);
/// What a driver printed: decimal (mlx5), or hexadecimal behind "0x" (bnxt_re), as one decimal number up to
/// 32 bits. Internal otherwise, since nobody typed it; an empty text is a firmware that did not answer.
Result<std::string> ReadDcqcn(std::string_view text);
/// Why `name` is no register of dcqcn.<register>: it is another driver's name of one, has a setting of its
/// own, is an alias, or is near to one.
std::string UnknownDcqcn(std::string_view name);

}  // namespace railwright
