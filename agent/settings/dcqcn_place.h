// Where a port's driver keeps a register of DCQCN; shared by dcqcn.<register>, cnp.dscp and cnp.priority.
#pragma once

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/settings/port_parameter.h"
#include "agent/settings/rdma_port.h"
#include "core/decode/dcqcn.h"
#include "core/decode/fields.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {

inline constexpr const char* kBnxtGroup = "/sys/kernel/config/bnxt_re";
inline constexpr const char* kDebugfs = "/sys/kernel/debug";
inline constexpr const char* kLockdown = "/sys/kernel/security/lockdown";

/// A register as one driver shows it. Which form there is decides what is there, never a driver's name.
struct DcqcnPlace {
  enum class Form : std::uint8_t {
    kOfed,   ///< /sys/class/net/<if>/ecn/roce_rp|roce_np/<name>, decimal
    kInbox,  ///< /sys/kernel/debug/mlx5/<bdf>/cc_params/<name>, decimal
    kBnxt,   ///< /sys/kernel/config/bnxt_re/<ibdev>/ports/1/cc/<name>, hexadecimal, staged until `apply`
    /// /nvconfig/<bdf>/<NAME>_P<n>: what the card holds for the next boot. Only where the driver of an NVIDIA
    /// card shows none of the others: a write comes into force later than with any of them.
    kNvconfig,
  };
  Form form = Form::kOfed;
  std::string folder;
  std::string path;
  std::string text;          ///< as read; of kNvconfig what runs
  StoredParameter stored{};  ///< of kNvconfig
};
/// The place, or why the port has none.
using FoundDcqcn = std::variant<DcqcnPlace, Observation>;

inline bool Holds(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The entries of a port's interface in sysfs. NotFound when there is no such interface.
inline Result<std::vector<std::string>> EntriesOf(const Machine& machine, const BoundPort& port) {
  return machine.List("/sys/class/net/" + port.netdev);
}

/// MLNX_OFED gives virtual functions the files of their ports without the right to write them, root included.
inline Status ReadOnlyOfVirtualFunction(const Status& written) {
  if (written.error_number() != EACCES) return written;
  return Status(written.code(),
                written.message() +
                    ": the driver lets nobody write it on a virtual function; the physical function, on the "
                    "host, is the one to set",
                written.error_number());
}

/// EPERM of debugfs has one cause that the file does not tell: the kernel is locked down.
inline Status WithLockdown(const Machine& machine, const Status& refused) {
  if (refused.error_number() != EPERM) return refused;
  const auto lockdown = machine.Get(kLockdown);
  if (!lockdown.ok()) return refused;
  for (const std::string_view word : {"integrity", "confidentiality"}) {
    if (lockdown->find("[" + std::string(word) + "]") == std::string::npos) continue;
    return Status(refused.code(),
                  refused.message() + ": the kernel is locked down (" + kLockdown + " says " +
                      std::string(word) +
                      "), which closes debugfs; MLNX_OFED shows the registers in sysfs, and the firmware's "
                      "own configuration holds their values at boot",
                  refused.error_number());
  }
  return refused;
}

/// Why neither MLNX_OFED's nor bnxt_re's files nor cc_params of debugfs hold the register.
inline Result<Observation> WhyNoDcqcn(const Machine& machine, const BoundPort& port,
                                      const DcqcnRegister& wanted, bool bnxt_loaded) {
  const auto debugfs = machine.List(kDebugfs);
  if (!debugfs.ok() && debugfs.status().code() != Code::kNotFound) return debugfs.status();
  // An empty mount point says nothing of the card, so this is no "not applicable".
  if (!debugfs.ok() || debugfs->empty())
    return Status(Code::kFailedPrecondition,
                  std::string(kDebugfs) +
                      " is empty, so debugfs is not mounted, and the registers of the inbox driver cannot be "
                      "looked at: mount -t debugfs none " +
                      kDebugfs);
  const std::string device = std::string(kDebugfs) + "/mlx5/" + port.bdf;
  const auto entries = machine.List(device);
  if (entries.ok() && !Holds(*entries, "cc_params"))
    return Observation::NotApplicable("NoCongestionParams",
                                      device + " has no cc_params: the firmware of " + port.netdev +
                                          " does not let the driver query and modify congestion control");
  if (entries.ok())
    return Observation::NotApplicable("NoSuchRegister", device + "/cc_params has no " +
                                                            std::string(wanted.inbox) +
                                                            ": this kernel's driver does not know it");
  if (entries.status().code() != Code::kNotFound) return WithLockdown(machine, entries.status());
  if (bnxt_loaded) {
    const std::string own = std::string(kBnxtGroup) + "/" + port.ibdev;
    return Status(Code::kNotFound, own +
                                       ": bnxt_re has no directory of this device; the agent makes it with "
                                       "its next scan, by hand: mkdir " +
                                       own);
  }
  return Observation::NotApplicable(
      "NoDcqcn",
      port.netdev +
          ": its driver shows no registers of DCQCN (no ecn in sysfs, nothing in debugfs mlx5, no bnxt_re)");
}

/// The register in the card's flash, where the driver shows none (`none` says why). An error when it may be
/// there and could not be looked at: without mstconfig nothing is known of it.
inline Result<FoundDcqcn> FindStoredDcqcn(const Machine& machine, const BoundPort& port,
                                          const DcqcnRegister& wanted, Observation none) {
  RW_ASSIGN_OR_RETURN(const bool readable, HasReadableFlash(machine, port));
  if (!readable) return FoundDcqcn(std::move(none));
  const std::string name = NvconfigName(wanted);
  auto found = FindPortParameter(machine, port, name);
  if (!found.ok())
    return found.status().Within("the driver of " + port.netdev +
                                 " shows no such register, and its card's flash (NVCONFIG " + name +
                                 "), which holds it for the next boot, could not be read");
  if (!*found) {
    none.message += "; nor has the card's flash a parameter " + name + "_P1";
    return FoundDcqcn(std::move(none));
  }
  const std::string path = (*found)->path;
  const std::string running = NvValueToSet((*found)->current);
  return FoundDcqcn(DcqcnPlace{DcqcnPlace::Form::kNvconfig, path.substr(0, path.rfind('/')), path, running,
                               std::move(**found)});
}

/// Finds and reads a register. An error when something that could hold it could not be looked at.
inline Result<FoundDcqcn> FindDcqcn(const Machine& machine, const Target& target,
                                    const DcqcnRegister& wanted) {
  const BoundPort& port = *target.port;
  const std::string name(wanted.name);
  if (port.ibdev.empty()) {
    RW_ASSIGN_OR_RETURN(Observation none, ProveNoRdmaDevice(machine, port, "it has no congestion control"));
    return FoundDcqcn(std::move(none));
  }
  RW_ASSIGN_OR_RETURN(const std::vector<std::string> entries, EntriesOf(machine, port));
  if (Holds(entries, "ecn")) {
    // MLNX_OFED has cc_params too, but in some builds those of a card's second port are the first one's.
    DcqcnPlace place{DcqcnPlace::Form::kOfed, "/sys/class/net/" + port.netdev + "/ecn/", {}, {}, {}};
    place.folder += wanted.notification ? "roce_np" : "roce_rp";
    place.path = place.folder + "/" + name;
    auto text = machine.Get(place.path);
    if (!text.ok() && text.status().code() == Code::kNotFound)
      return FoundDcqcn(Observation::NotApplicable(
          "NoSuchRegister", place.path + ": not there, so this driver does not know the register"));
    if (!text.ok()) return text.status();
    place.text = *std::move(text);
    return FoundDcqcn(std::move(place));
  }
  if (port.bdf.empty()) {
    RW_ASSIGN_OR_RETURN(Observation none, ProveNoCard(machine, port, "NoDcqcn"));
    return FoundDcqcn(std::move(none));
  }
  DcqcnPlace inbox{
      DcqcnPlace::Form::kInbox, std::string(kDebugfs) + "/mlx5/" + port.bdf + "/cc_params", {}, {}, {}};
  inbox.path = inbox.folder + "/" + std::string(wanted.inbox);
  auto text = machine.Get(inbox.path);
  if (text.ok()) {
    inbox.text = *std::move(text);
    return FoundDcqcn(std::move(inbox));
  }
  if (text.status().code() != Code::kNotFound) return WithLockdown(machine, text.status());
  const auto group = machine.List(kBnxtGroup);
  if (!group.ok() && group.status().code() != Code::kNotFound) return group.status();
  if (!group.ok() || !Holds(*group, port.ibdev)) {
    RW_ASSIGN_OR_RETURN(Observation none, WhyNoDcqcn(machine, port, wanted, group.ok()));
    if (none.reason == "NoSuchRegister") return FoundDcqcn(std::move(none));  // the others are in cc_params
    return FindStoredDcqcn(machine, port, wanted, std::move(none));
  }
  if (wanted.bnxt.empty())
    return FoundDcqcn(Observation::NotApplicable(
        "NoCounterpart",
        port.netdev +
            ": bnxt_re has registers of its own (g, rtt, init_cp, ai_rate_incr …), and none of them is " +
            name + " in meaning and unit"));
  DcqcnPlace bnxt{
      DcqcnPlace::Form::kBnxt, std::string(kBnxtGroup) + "/" + port.ibdev + "/ports/1/cc", {}, {}, {}};
  bnxt.path = bnxt.folder + "/" + std::string(wanted.bnxt);
  text = machine.Get(bnxt.path);
  if (!text.ok() && text.status().code() == Code::kNotFound)
    return FoundDcqcn(Observation::NotApplicable(
        "NoSuchRegister", bnxt.path + ": not there, so this driver does not know the register"));
  if (!text.ok()) return text.status();
  bnxt.text = *std::move(text);
  return FoundDcqcn(std::move(bnxt));
}

// "48 (unused: CNP_DSCP_MODE_P1 RX_PACKET(2))": a value that the firmware does not use fulfils no wish.
inline constexpr std::string_view kUnused = " (unused: ";

/// What makes the firmware ignore a stored register (DcqcnRegister::ignored_by): the parameter, for the same
/// port; nullopt when nothing does so or this firmware has no such parameter.
inline Result<std::optional<StoredParameter>> IgnoredBy(const Machine& machine, const DcqcnPlace& place,
                                                        const DcqcnRegister& wanted) {
  if (wanted.ignored_by.empty()) return std::optional<StoredParameter>();
  return ReadStored(machine, place.folder + "/" + std::string(wanted.ignored_by) +
                                 place.path.substr(place.path.rfind('_')));
}

/// A register in the card's flash, in decimal numbers.
inline Result<Observation> ShowStoredDcqcn(const Machine& machine, const Target& target,
                                           const DcqcnRegister& wanted, const DcqcnPlace& place) {
  StoredParameter decimal = place.stored;
  for (std::string* text : {&decimal.current, &decimal.next}) {
    auto number = ReadDcqcn(NvValueToSet(*text));
    if (!number.ok()) return number.status().Within(place.path);
    *text = *std::move(number);
  }
  Observation seen = ShowStored(decimal, target.wish);
  seen.message = "the driver shows no such register: this is what the card's flash holds (" +
                 place.path.substr(place.folder.size() + 1) + "), in force after a boot";
  RW_ASSIGN_OR_RETURN(const auto mode, IgnoredBy(machine, place, wanted));
  if (!mode) return seen;
  const bool now = SameNvValue(mode->current, wanted.ignored_at);
  const bool then = SameNvValue(mode->next, wanted.ignored_at);
  if (!now && !then) return seen;
  seen.value += std::string(kUnused) + mode->path.substr(place.folder.size() + 1) + " " + mode->current +
                (now == then ? "" : ", next boot " + mode->next) + ")";
  seen.pending_reboot = !then && !target.wish.empty() && SameNvValue(decimal.next, target.wish);
  return seen;
}

/// A register's value as it was found.
inline Result<Observation> ShowDcqcn(const Machine& machine, const Target& target,
                                     const DcqcnRegister& wanted, const DcqcnPlace& place) {
  if (place.form == DcqcnPlace::Form::kNvconfig) return ShowStoredDcqcn(machine, target, wanted, place);
  auto value = ReadDcqcn(place.text);
  if (!value.ok()) return value.status().Within(place.path);
  return Observation::Value(*std::move(value));
}

/// The register's value, one decimal number (in the card's flash: as ShowStored has it), or why the port has
/// none.
inline Result<Observation> ObserveDcqcn(const Machine& machine, const Target& target,
                                        const DcqcnRegister& wanted) {
  RW_ASSIGN_OR_RETURN(const FoundDcqcn found, FindDcqcn(machine, target, wanted));
  if (const auto* none = std::get_if<Observation>(&found)) return *none;
  return ShowDcqcn(machine, target, wanted, std::get<DcqcnPlace>(found));
}

/// The number in a wish or an original: "26" of "48 (next boot 26) (unused: …)".
inline std::string_view NumberToStore(std::string_view shown) {
  return ValueToStore(shown.substr(0, shown.find(kUnused)));
}

/// Setting::WritesTo of a register: a place that others may name only when it is the card's flash.
inline std::optional<WritePlace> DcqcnWritesTo(std::string_view desired, const Observation& seen) {
  if (seen.stored_in.empty()) return std::nullopt;
  return PlaceInFlash(seen.stored_in, std::string(NumberToStore(desired)));
}

}  // namespace railwright
