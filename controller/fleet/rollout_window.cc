// The windows of a RolloutPolicy: parts of each week, in UTC.
#include <algorithm>
#include <array>
#include <utility>

#include "controller/fleet/rollout_policy.h"
#include "core/decode/values.h"

namespace railwright {

namespace {

using std::chrono::minutes;

constexpr minutes kDay{24 * 60}, kWeek{7 * 24 * 60};
constexpr std::array<std::string_view, 7> kDays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

// "22:00"; 24:00 as an end only.
Result<minutes> ReadTimeOfDay(std::string_view text, bool begins) {
  const auto digit = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '9' ? text[at] - '0' : 99; };
  if (text.size() == 5 && text[2] == ':') {
    const int hour = digit(0) * 10 + digit(1), minute = digit(3) * 10 + digit(4);
    if (minute < 60 && (hour < 24 || (!begins && hour == 24 && minute == 0)))
      return minutes(hour * 60 + minute);
  }
  return Status(Code::kInvalidArgument,
                fleet::Quoted(text) + (begins ? " is no time to begin at; allowed: 00:00 to 23:59"
                                              : " is no time to end at; allowed: 00:00 to 24:00"));
}

Result<std::size_t> ReadDay(std::string_view text) {
  const auto* found = std::find(kDays.begin(), kDays.end(), text);
  if (found != kDays.end()) return static_cast<std::size_t>(found - kDays.begin());
  std::vector<std::string_view> known(kDays.begin(), kDays.end());
  known.emplace_back("daily");
  return Status(Code::kInvalidArgument,
                fleet::Quoted(text) + " is no day" + fleet::DidYouMean(text, known, "allowed are"));
}

// "daily", "Mon-Fri", "Sat,Sun", "Fri-Mon", "Mon-Wed,Sat".
Result<std::bitset<7>> ReadDays(std::string_view text) {
  std::bitset<7> days;
  if (text == "daily") return days.set();
  for (std::string_view rest = text;;) {
    const auto comma = std::min(rest.find(','), rest.size());
    const std::string_view part = Trimmed(rest.substr(0, comma));
    const auto dash = std::min(part.find('-'), part.size());
    RW_ASSIGN_OR_RETURN(const std::size_t first, ReadDay(part.substr(0, dash)));
    std::size_t last = first;
    if (dash < part.size()) {
      RW_ASSIGN_OR_RETURN(last, ReadDay(part.substr(dash + 1)));
    }
    for (std::size_t day = first; days.set(day), day != last;) day = (day + 1) % 7;
    if (comma == rest.size()) return days;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

bool Window::Contains(std::chrono::system_clock::time_point now) const {
  using namespace std::chrono;
  const auto day = floor<std::chrono::days>(now);
  const minutes at = kDay * (weekday(day).iso_encoding() - 1) + floor<minutes>(now - day);
  for (int i = 0; i < 7; ++i) {
    if (!days[static_cast<std::size_t>(i)]) continue;
    // Since it began last; on the round of the week, so that Sunday's night ends on Monday.
    const minutes since = (at - (kDay * i + from) + kWeek) % kWeek;
    if (since < length) return true;
  }
  return false;
}

std::chrono::system_clock::time_point Window::Next(std::chrono::system_clock::time_point now) const {
  using namespace std::chrono;
  auto day = floor<std::chrono::days>(now);
  // Of the days from today to the same one next week one begins it.
  for (int i = 0; i <= 7; ++i, day += std::chrono::days(1)) {
    const system_clock::time_point begin = day + from;
    if (days[weekday(day).iso_encoding() - 1] && begin > now) return begin;
  }
  return system_clock::time_point::max();  // it has no day
}

Result<Window> Window::Parse(std::string_view text) {
  const auto digit = std::min(text.find_first_of("0123456789"), text.size());
  const auto dash = text.find('-', digit);
  const std::string_view on = Trimmed(text.substr(0, digit));
  if (dash == std::string_view::npos || on.empty())
    return Status(Code::kInvalidArgument,
                  fleet::Quoted(text) +
                      " is no window; write days and times in UTC, as in \"Mon-Fri 22:00-06:00\", "
                      "\"Sat,Sun 00:00-24:00\" or \"daily 02:00-04:00\"");
  Window window;
  window.text = text;
  RW_ASSIGN_OR_RETURN(window.days, ReadDays(on));
  RW_ASSIGN_OR_RETURN(window.from, ReadTimeOfDay(Trimmed(text.substr(digit, dash - digit)), true));
  RW_ASSIGN_OR_RETURN(const minutes end, ReadTimeOfDay(Trimmed(text.substr(dash + 1)), false));
  window.length = end > window.from ? end - window.from : end + kDay - window.from;
  return window;
}

}  // namespace railwright
