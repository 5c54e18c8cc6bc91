// What `railctl watch` shows of each event: a line for people, or an object a line. Pure.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/text/table.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

/// "13:04:59", the operator's own time of day.
std::string TimeOfDay(std::chrono::system_clock::time_point at);

class WatchView {
 public:
  explicit WatchView(const Terminal& terminal) : terminal_(terminal) {}

  /// One line, or "" when the event changes nothing that is shown (a heartbeat).
  std::string Line(const v1::WatchEvent& event, std::chrono::system_clock::time_point now);
  /// {"type":"node"|"change"|"generation", "at", …}: what the event holds, one object each.
  std::vector<nlohmann::ordered_json> Objects(const v1::WatchEvent& event,
                                              std::chrono::system_clock::time_point now) const;

 private:
  Terminal terminal_;
  std::map<std::string, std::string> shown_;  // node → what its last line said
  std::size_t widest_ = 0;
};

}  // namespace railwright::cli
