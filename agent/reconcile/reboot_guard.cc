#include "agent/reconcile/reboot_guard.h"

#include <array>
#include <chrono>
#include <ctime>

#include "agent/reconcile/text.h"

namespace railwright {
namespace {

// "3f2a91c0": as much of a boot id as `journalctl --list-boots` needs to be found in.
std::string Brief(const std::string& boot_id) { return OneLine(boot_id.substr(0, boot_id.find('-')), 64); }

std::string Utc(Clock::Wall at) {
  const std::time_t seconds = Clock::Wall::clock::to_time_t(at);
  std::tm utc{};
  std::array<char, 32> text{};
  if (::gmtime_r(&seconds, &utc) == nullptr ||
      std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &utc) == 0)
    return "an unknown time";
  return text.data();
}

// A value that Railwright does not write was put there, and taken out again, by somebody who knows.
bool Written(const Wish& wish) {
  return wish.setting->info().effect != Effect::kNeedsReboot &&
         (wish.restore || wish.setting->OnlyLookedAt(wish.target, wish.desired).empty());
}

}  // namespace

std::string FirmwareOf(const Machine& machine, const Wish& wish) {
  const BoundPort* port = wish.target.port;
  if (port == nullptr || port->ibdev.empty()) return {};
  std::string version = machine.Get("/sys/class/infiniband/" + port->ibdev + "/fw_ver").value_or({});
  while (version.ends_with('\n') || version.ends_with(' ')) version.pop_back();
  return version;
}

std::optional<AwaitedBoot> AwaitedAfter(const std::optional<AwaitedBoot>& remembered, const Wish& wish,
                                        const Sight& sight, const Boot& boot) {
  if (boot.id.empty() || !sight.looked || !sight.error.ok() ||
      sight.observation.kind == Observation::Kind::kNotApplicable)
    return remembered;
  const bool waits = sight.observation.pending_reboot;
  const bool same =
      remembered && remembered->value == wish.desired &&
      (remembered->firmware.empty() || boot.firmware.empty() || remembered->firmware == boot.firmware);
  if (same && waits) {
    std::optional<AwaitedBoot> awaited = remembered;
    // Not told at first: the RDMA driver may have come later.
    if (awaited->firmware.empty() && awaited->boot_id == boot.id) awaited->firmware = boot.firmware;
    return awaited;
  }
  if (waits)
    return AwaitedBoot{wish.spec.key, wish.spec.target,
                       wish.desired,  boot.id,
                       boot.firmware, std::chrono::floor<std::chrono::microseconds>(boot.now)};
  // Neither in force nor stored any more, after a boot: firmware may have dropped it there. It is stored once
  // more, and must not ask for another boot.
  const bool lost = same && !sight.satisfied && remembered->boot_id != boot.id && Written(wish);
  return lost ? remembered : std::nullopt;
}

void TellRebootDidNotHelp(Finding& finding, const std::optional<AwaitedBoot>& awaited, const Wish& wish,
                          const Sight& sight, const std::string& boot_id) {
  if (!awaited || boot_id.empty() || awaited->boot_id == boot_id || awaited->value != wish.desired ||
      !sight.looked || !sight.error.ok() || !sight.observation.pending_reboot)
    return;
  const std::string declared =
      wish.spec.origin.document.empty() ? std::string("its profile") : wish.spec.origin.document;
  finding.verdict = Verdict::kDrifted;
  finding.reason = "RebootDidNotHelp";
  finding.message =
      OneLine(Subject(wish.spec.key, wish.spec.target) + ": " +
                  (wish.desired.empty() ? "nothing" : OneLine(wish.desired)) + " is stored since " +
                  Utc(awaited->since) + " (boot " + Brief(awaited->boot_id) +
                  "), and the node has booted since (boot " + Brief(boot_id) + "), yet it reads " +
                  (sight.observation.value.empty() ? "nothing" : OneLine(sight.observation.value)) +
                  (awaited->firmware.empty() ? "" : ", firmware " + OneLine(awaited->firmware, 64)),
              1024);
  const BoundPort* port = wish.target.port;
  if (wish.setting->info().effect == Effect::kNeedsReboot) {
    finding.fix =
        "see that the boot loader's own configuration was made anew from what is set, and that the "
        "node boots that entry";
  } else if (port != nullptr && !port->bdf.empty()) {
    finding.fix = "drain the node, then power-cycle it or reset the card: `mstfwreset -d " + port->bdf +
                  " -y r` (a warm reboot does not reset every card)";
  } else {
    finding.fix = "drain the node, then power-cycle it (a warm reboot does not reset every device)";
  }
  finding.fix += "; if that does not bring it either: look for it in the release notes of the firmware, or ";
  finding.fix += wish.restore ? "declare " + wish.spec.key + " again as it is"
                              : "take " + wish.spec.key + " out of " + declared;
}

}  // namespace railwright
