// Writing a register of DCQCN, with what its driver does not check; shared as dcqcn_place.h is.
#pragma once

#include <cstdio>
#include <string>

#include "agent/settings/dcqcn_place.h"

namespace railwright {

/// The fastest that a port may be told to be: its line rate, of which the rate after the first CNP may be 85
/// % (NVIDIA's page). Nothing is refused while the rate is not known (a link that is down).
inline Status RefuseAboveLineRate(const Machine& machine, const BoundPort& port, const DcqcnRegister& wanted,
                                  std::uint64_t number) {
  if (wanted.unit != "Mbit/s") return Ok();
  const auto speed = machine.Get("/sys/class/net/" + port.netdev + "/speed");
  const auto rate = speed.ok() ? ParseWhole(*speed, 1, UINT32_MAX) : Result<std::uint64_t>(std::uint64_t{0});
  if (!rate.ok() || *rate == 0) return Ok();
  const bool first_cnp = wanted.name == "rate_to_set_on_first_cnp";
  const std::uint64_t most = first_cnp ? *rate * 85 / 100 : *rate;
  if (number <= most) return Ok();
  return Status(Code::kFailedPrecondition,
                std::to_string(number) + " Mbit/s is more than " + port.netdev +
                    (first_cnp ? " may have after a first CNP: 85 % of " : " has: ") + std::to_string(*rate) +
                    " Mbit/s");
}

/// bnxt_re takes hexadecimal only (26 would be 0x26), keeps what is written in memory, and hands all of it to
/// the firmware when `apply` is written 1. What the firmware refused must not stay behind: it would be read
/// back as if it held.
inline Status WriteBnxt(Machine& machine, const DcqcnPlace& place, std::uint64_t number) {
  constexpr std::uint64_t kWidest = 0xffff;  // cc_param's fields have 16 bits at most
  if (number > kWidest)
    return Status(Code::kFailedPrecondition, place.path + ": " + std::to_string(number) +
                                                 " does not fit; bnxt_re takes 0…" + std::to_string(kWidest));
  char text[16];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  RW_RETURN_IF_ERROR(machine.Set(place.path, text));
  const Status applied = machine.Set(place.folder + "/apply", "1");
  if (applied.ok()) return applied;
  const Status back = machine.Set(place.path, Trimmed(place.text));
  if (back.ok()) return applied;
  return Status(applied.code(),
                applied.message() + "; and what was staged could not be taken back: " + back.message(),
                applied.error_number());
}

/// Writes `value`, a decimal number: a wish in the register's range, or an original. MLNX_OFED ignores what
/// it cannot parse and puts anything into the register instead, so nothing but a number leaves here.
inline Status WriteDcqcn(Machine& machine, const Target& target, const DcqcnRegister& wanted,
                         std::string_view value) {
  const std::uint64_t most = wanted.masked ? wanted.max : UINT32_MAX;
  RW_ASSIGN_OR_RETURN(const std::uint64_t number,
                      ParseWhole(NumberToStore(value), 0, most, AllowedValues(wanted)));
  RW_ASSIGN_OR_RETURN(const FoundDcqcn found, FindDcqcn(machine, target, wanted));
  if (const auto* none = std::get_if<Observation>(&found))
    return Status(Code::kFailedPrecondition, none->message);
  const auto& place = std::get<DcqcnPlace>(found);
  RW_RETURN_IF_ERROR(RefuseAboveLineRate(machine, *target.port, wanted, number));
  if (place.form == DcqcnPlace::Form::kBnxt) return WriteBnxt(machine, place, number);
  if (place.form == DcqcnPlace::Form::kNvconfig) {
    RW_ASSIGN_OR_RETURN(const auto mode, IgnoredBy(machine, place, wanted));
    if (mode && SameNvValue(mode->next, wanted.ignored_at)) {
      const std::string key = mode->path.substr(place.folder.size() + 1);
      return Status(Code::kFailedPrecondition, key + " is " + mode->next +
                                                   ", with which the firmware does not use " +
                                                   place.path.substr(place.folder.size() + 1) +
                                                   "; declare nic.nvconfig." + key + ": 0 beside it");
    }
  }
  const Status written = machine.Set(place.path, std::to_string(number));
  if (place.form == DcqcnPlace::Form::kInbox) return WithLockdown(machine, written);
  return ReadOnlyOfVirtualFunction(written);
}

}  // namespace railwright
