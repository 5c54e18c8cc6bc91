// A parameter of a card's flash as a value: what runs, and what the next boot brings. Shared by
// nic.nvconfig.<KEY> and by the settings that have no other place on some drivers.
#pragma once

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include "core/decode/fields.h"
#include "core/decode/mstconfig.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {

/// As mstconfig prints it: "True(1)", "48".
struct StoredParameter {
  std::string path;     ///< /nvconfig/<bdf>/<KEY>
  std::string current;  ///< what the firmware runs with
  std::string next;     ///< what the flash holds for the next boot
};

/// nullopt: this firmware has no such parameter. Errors are those of Machine (Unimplemented names the package
/// to install); Internal when the listing does not tell both values.
inline Result<std::optional<StoredParameter>> ReadStored(const Machine& machine, std::string path) {
  const auto text = machine.Get(path);
  // Without an errno, or with ENODEV, it is the card that is not there.
  if (!text.ok() && text.status().code() == Code::kNotFound && text.status().error_number() == ENOENT)
    return std::optional<StoredParameter>();
  if (!text.ok()) return text.status();
  const auto parameter = Fields::Parse(*text);
  if (!parameter.ok()) return parameter.status().Within(path);
  const std::string* current = parameter->Find("current");
  const std::string* next = parameter->Find("next");
  if (current == nullptr || next == nullptr)
    return Status(Code::kInternal, path + ": " + Quoted(*text) + " does not tell current and next");
  return std::optional(StoredParameter{std::move(path), *current, *next});
}

inline constexpr std::string_view kNextBoot = " (next boot ";

/// "0", or "0 (next boot 1)" while the flash holds something else than what runs: that fulfils no wish, not
/// even for 0, and is pending for 1.
inline Observation ShowStored(const StoredParameter& stored, std::string_view wish) {
  const bool settled = SameNvValue(stored.current, stored.next);
  Observation seen = Observation::Value(
      settled ? stored.current : stored.current + std::string(kNextBoot) + NvValueToSet(stored.next) + ")");
  seen.pending_reboot = !wish.empty() && !SameNvValue(stored.current, wish) && SameNvValue(stored.next, wish);
  seen.stored_in = stored.path;
  return seen;
}

/// What to store to have `shown` again: of the flash, not of what runs.
inline std::string_view ValueToStore(std::string_view shown) {
  const auto at = shown.find(kNextBoot);
  if (at == std::string_view::npos || !shown.ends_with(')')) return shown;
  shown.remove_prefix(at + kNextBoot.size());
  shown.remove_suffix(1);
  return shown;
}

/// The place of a parameter, from Observation::stored_in. Those of a port (`_P1` … at the end) are the
/// card's, whichever of its functions is asked; others may be each function's own.
inline WritePlace PlaceInFlash(std::string_view stored_in, std::string value) {
  const auto slash = stored_in.rfind('/');
  const auto dot = stored_in.rfind('.', slash);
  const std::string_view key = stored_in.substr(slash);
  const bool of_port = key.size() > 3 && key[key.size() - 3] == '_' && key[key.size() - 2] == 'P';
  std::string path(stored_in);
  if (of_port && dot != std::string_view::npos) path.erase(dot, slash - dot);
  return {std::move(path), std::move(value), {}};
}

}  // namespace railwright
