// Log: where the running agent's lines go.
#pragma once

#include <functional>
#include <string>

namespace railwright {

enum class LogLevel : std::uint8_t { kInfo, kWarning, kError };
/// One line, without a newline. Called in the loop's thread.
using Log = std::function<void(LogLevel, const std::string&)>;

/// To standard error: with the syslog prefix of sd-daemon(3) when systemd's journal reads it, with a time
/// otherwise. Control characters are shown, not sent.
Log StandardErrorLog();

}  // namespace railwright
