#include "agent/loop/log.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

#include "core/text/table.h"
#include "core/text/times.h"

namespace railwright {

Log StandardErrorLog() {
  const bool to_journal = std::getenv("JOURNAL_STREAM") != nullptr;
  return [to_journal](LogLevel level, const std::string& text) {
    const std::string_view priority = level == LogLevel::kError     ? "<3>"
                                      : level == LogLevel::kWarning ? "<4>"
                                                                    : "<6>";
    const std::string_view word = level == LogLevel::kError     ? " error: "
                                  : level == LogLevel::kWarning ? " warning: "
                                                                : " ";
    std::string line =
        to_journal ? std::string(priority) : Rfc3339(std::chrono::system_clock::now()) + std::string(word);
    line += Printable(text);
    line += '\n';
    // One write, so that lines of several processes do not mix; a reader that is gone is no reason to stop.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  };
}

}  // namespace railwright
