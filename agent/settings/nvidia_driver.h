// The NVIDIA kernel driver that is loaded, for the settings that compare it.
#pragma once

#include <optional>
#include <string>

#include "core/decode/driver_version.h"
#include "core/decode/values.h"
#include "railwright/machine.h"

namespace railwright {

inline constexpr std::string_view kNvidiaVersion = "/proc/driver/nvidia/version";

/// What /proc/driver/nvidia/version says; nullopt when no driver is loaded (the file is not there).
inline Result<std::optional<NvidiaDriver>> LoadedNvidiaDriver(const Machine& machine) {
  const auto text = machine.Get(kNvidiaVersion);
  if (!text.ok() && text.status().code() == Code::kNotFound) return std::optional<NvidiaDriver>();
  if (!text.ok()) return text.status();
  NvidiaDriver driver = ParseNvidiaVersion(*text);
  if (driver.version.empty())
    return Status(Code::kInternal, std::string(kNvidiaVersion) + ": " + Quoted(*text) + " names no version");
  return std::optional(std::move(driver));
}

}  // namespace railwright
