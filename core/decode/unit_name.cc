#include "core/decode/unit_name.h"

#include <algorithm>
#include <array>

#include "core/decode/values.h"

namespace railwright {
namespace {

constexpr std::array<std::string_view, 10> kSuffixes{".service", ".socket",    ".timer", ".target", ".mount",
                                                     ".path",    ".automount", ".slice", ".scope",  ".swap"};

std::string_view SuffixOf(std::string_view name) {
  for (const std::string_view suffix : kSuffixes)
    if (name.ends_with(suffix) && name.size() > suffix.size()) return suffix;
  return {};
}

constexpr std::array kKnown{
    KnownUnit{"NetworkManager.service", Disruption::kTrafficBlip, Reach::kEveryPort},
    KnownUnit{"docker.service", Disruption::kFunctionReset, Reach::kNoPort},  // containers end
    KnownUnit{"ibacm.service", Disruption::kNone, Reach::kNoPort},
    KnownUnit{"irqbalance.service", Disruption::kNone, Reach::kNoPort},
    KnownUnit{"lldpad.service", Disruption::kTrafficBlip, Reach::kEveryPort},  // sets PFC and ETS anew
    KnownUnit{"lldpd.service", Disruption::kNone, Reach::kNoPort},
    KnownUnit{"nvidia-dcgm.service", Disruption::kNone, Reach::kNoPort},
    // What runs on the GPUs ends with the two that connect them.
    KnownUnit{"nvidia-fabricmanager.service", Disruption::kFunctionReset, Reach::kNoPort},
    KnownUnit{"nvidia-imex.service", Disruption::kFunctionReset, Reach::kNoPort},
    KnownUnit{"nvidia-persistenced.service", Disruption::kNone, Reach::kNoPort},
    // Unloads and loads the drivers of every RDMA device.
    KnownUnit{"openibd.service", Disruption::kFunctionReset, Reach::kRdmaPorts},
    KnownUnit{"opensm.service", Disruption::kTrafficBlip, Reach::kRdmaPorts},
    KnownUnit{"rdma.service", Disruption::kFunctionReset, Reach::kRdmaPorts},
    KnownUnit{"rdma-load-modules@rdma.service", Disruption::kNone, Reach::kNoPort},
    KnownUnit{"rdma-ndd.service", Disruption::kNone, Reach::kNoPort},
    KnownUnit{"rshim.service", Disruption::kNone, Reach::kNoPort},
    KnownUnit{"systemd-networkd.service", Disruption::kTrafficBlip, Reach::kEveryPort},
    KnownUnit{"tuned.service", Disruption::kTrafficBlip, Reach::kEveryPort},  // sysctls of the interfaces
    KnownUnit{"unattended-upgrades.service", Disruption::kNone, Reach::kNoPort},
};

constexpr std::string_view kAllowed =
    "running or stopped, and/or enabled, disabled or masked (running enabled)";

}  // namespace

bool IsUnitName(std::string_view name) {
  return !name.empty() && name.size() <= 255 && !SuffixOf(name).empty() && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view(":-_.\\@").find(c) != std::string_view::npos;
         });
}

std::string FullUnitName(std::string_view name) {
  const bool full =
      name.empty() || std::any_of(kSuffixes.begin(), kSuffixes.end(),
                                  [&](std::string_view suffix) { return name.ends_with(suffix); });
  return full ? std::string(name) : std::string(name) + ".service";
}

const KnownUnit* FindKnownUnit(std::string_view unit) {
  const auto found =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const KnownUnit& one) { return one.name == unit; });
  return found == kKnown.end() ? nullptr : &*found;
}

std::vector<std::string> KnownUnits() {
  std::vector<std::string> names;
  for (const KnownUnit& one : kKnown) names.emplace_back(one.name);
  return names;
}

Result<UnitWish> UnitWish::Parse(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return Status(Code::kInvalidArgument, Quoted(text) + " " + why + "; allowed: " + std::string(kAllowed));
  };
  UnitWish wish;
  for (const std::string_view word : Words(text, " \t,")) {
    const bool running = word == "running" || word == "stopped";
    if (!running && word != "enabled" && word != "disabled" && word != "masked")
      return refuse("holds " + Quoted(word));
    std::string& place = running ? wish.active : wish.enabled;
    if (!place.empty() && place != word) return refuse("asks for " + place + " and " + std::string(word));
    place = word;
  }
  if (wish.active.empty() && wish.enabled.empty()) return refuse("is empty");
  if (wish.active == "running" && wish.enabled == "masked")
    return refuse("asks for a unit that runs and can never be started");
  return wish;
}

std::string UnitWish::Text() const {
  return active + (active.empty() || enabled.empty() ? "" : " ") + enabled;
}

}  // namespace railwright
