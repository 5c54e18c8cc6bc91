// Maintenance windows, against a model that looks at every minute.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "controller/fleet/rollout_policy.h"

namespace railwright {
namespace {

using namespace std::chrono;
using Time = system_clock::time_point;

// Monday.
constexpr sys_days kMonday{year{2026} / November / 30};

Time At(int day, int hour, int minute, int second = 0) {
  return kMonday + days(day) + hours(hour) + minutes(minute) + seconds(second);
}

Window Good(std::string_view text) {
  auto window = Window::Parse(text);
  if (!window.ok()) ADD_FAILURE() << window.status().message();
  return window.ok() ? *window : Window{};
}

TEST(WindowTest, DaysAndTimesAreRead) {
  const Window nights = Good("Mon-Fri 22:00-06:00");
  EXPECT_EQ(nights.days.to_string(), "0011111");
  EXPECT_EQ(nights.from, hours(22));
  EXPECT_EQ(nights.length, hours(8));
  EXPECT_EQ(nights.text, "Mon-Fri 22:00-06:00");
  const Window weekend = Good("Sat,Sun 00:00-24:00");
  EXPECT_EQ(weekend.days.to_string(), "1100000");
  EXPECT_EQ(weekend.from, minutes(0));
  EXPECT_EQ(weekend.length, hours(24));
  EXPECT_EQ(Good("daily 02:00-04:30").days.count(), 7U);
  EXPECT_EQ(Good("daily 02:00-04:30").length, minutes(150));
  EXPECT_EQ(Good("Fri-Mon 00:00-01:00").days.to_string(), "1110001");
  EXPECT_EQ(Good("Wed-Wed 00:00-01:00").days.to_string(), "0000100");
  EXPECT_EQ(Good("Mon-Wed, Sat 00:00 - 01:00").days.to_string(), "0100111");
}

TEST(WindowTest, AnEndAtOrBeforeTheBeginningIsTheNextDays) {
  EXPECT_EQ(Good("daily 22:00-00:00").length, hours(2));
  EXPECT_EQ(Good("daily 22:00-24:00").length, hours(2));
  EXPECT_EQ(Good("daily 22:00-22:00").length, hours(24));
  EXPECT_EQ(Good("daily 22:00-21:59").length, hours(24) - minutes(1));
  EXPECT_EQ(Good("daily 22:00-22:01").length, minutes(1));
  EXPECT_EQ(Good("daily 00:00-00:00").length, hours(24));
  EXPECT_EQ(Good("daily 23:59-24:00").length, minutes(1));
}

TEST(WindowTest, WhatIsWrongIsSaid) {
  const std::string no_window =
      " is no window; write days and times in UTC, as in \"Mon-Fri 22:00-06:00\", \"Sat,Sun 00:00-24:00\" or "
      "\"daily 02:00-04:00\"";
  const std::string days_allowed = "; allowed are: Mon, Tue, Wed, Thu, Fri, Sat, Sun, daily";
  const std::string begin = " is no time to begin at; allowed: 00:00 to 23:59";
  const std::string end = " is no time to end at; allowed: 00:00 to 24:00";
  for (const auto& [text, sentence] : std::vector<std::pair<std::string, std::string>>{
           {"", "\"\"" + no_window},
           {"always", "\"always\"" + no_window},
           {"Mon-Fri", "\"Mon-Fri\"" + no_window},
           {"22:00-06:00", "\"22:00-06:00\"" + no_window},
           {"daily 22:00", "\"daily 22:00\"" + no_window},
           {"mon 22:00-06:00", "\"mon\" is no day; did you mean \"Mon\"?"},
           {"dayly 22:00-06:00", "\"dayly\" is no day; did you mean \"daily\"?"},
           {"workdays 22:00-06:00", "\"workdays\" is no day" + days_allowed},
           {"Mon- 22:00-06:00", "\"\" is no day" + days_allowed},
           {"Mon,,Tue 22:00-06:00", "\"\" is no day" + days_allowed},
           {"Mon-Tue-Wed 22:00-06:00", "\"Tue-Wed\" is no day" + days_allowed},
           {"Mon,daily 22:00-06:00", "\"daily\" is no day; did you mean \"daily\"?"},
           {"daily 2:00-04:00", "\"2:00\"" + begin},
           {"daily 24:00-04:00", "\"24:00\"" + begin},
           {"daily 02:60-04:00", "\"02:60\"" + begin},
           {"daily 0x:00-04:00", "\"0x:00\"" + begin},
           {"daily 02:00:00-04:00", "\"02:00:00\"" + begin},
           {"daily 02:00-4:00", "\"4:00\"" + end},
           {"daily 02:00-24:01", "\"24:01\"" + end},
           {"daily 02:00-25:00", "\"25:00\"" + end},
           {"daily 02:00-04:00 CET", "\"04:00 CET\"" + end},
           {"daily 02:00-", "\"\"" + end}}) {
    const auto window = Window::Parse(text);
    ASSERT_FALSE(window.ok()) << text;
    EXPECT_EQ(window.status().message(), sentence) << text;
    EXPECT_EQ(window.status().code(), Code::kInvalidArgument);
  }
}

TEST(WindowTest, ANightOfTheLastDayEndsInTheNextWeek) {
  const Window sunday = Good("Sun 22:00-06:00");
  EXPECT_FALSE(sunday.Contains(At(6, 21, 59, 59)));
  EXPECT_TRUE(sunday.Contains(At(6, 22, 0)));
  EXPECT_TRUE(sunday.Contains(At(7, 5, 59, 59)));
  EXPECT_FALSE(sunday.Contains(At(7, 6, 0)));
  EXPECT_TRUE(sunday.Contains(At(0, 3, 0)));   // of the Sunday before
  EXPECT_FALSE(sunday.Contains(At(1, 3, 0)));  // Tuesday
}

TEST(WindowTest, TheNextOneIsAfterNow) {
  const Window daily = Good("daily 02:00-04:00");
  EXPECT_EQ(daily.Next(At(0, 1, 59, 59)), At(0, 2, 0));
  EXPECT_EQ(daily.Next(At(0, 2, 0)), At(1, 2, 0));
  EXPECT_EQ(daily.Next(At(0, 3, 0)), At(1, 2, 0));
  const Window monday = Good("Mon 00:00-24:00");
  EXPECT_EQ(monday.Next(At(0, 0, 0) - nanoseconds(1)), At(0, 0, 0));
  EXPECT_EQ(monday.Next(At(0, 0, 0)), At(7, 0, 0));
  EXPECT_EQ(monday.Next(At(6, 23, 59, 59)), At(7, 0, 0));
  EXPECT_EQ(Window{}.Next(At(0, 0, 0)), Time::max());  // it has no day
}

TEST(WindowTest, TimesBefore1970AreNothingSpecial) {
  const sys_days monday{year{1969} / December / 29};
  const Window nights = Good("Mon 22:00-06:00");
  EXPECT_TRUE(nights.Contains(monday + hours(23)));
  EXPECT_TRUE(nights.Contains(monday + hours(29)));
  EXPECT_FALSE(nights.Contains(monday + hours(30)));
  EXPECT_EQ(nights.Next(monday - seconds(1)), monday + hours(22));
}

// A window is the minutes of a week that it covers, painted one by one.
TEST(WindowTest, EveryMinuteIsAsInAModelThatPaintsTheWeek) {
  constexpr int kMinutesOfDay = 24 * 60, kMinutesOfWeek = 7 * kMinutesOfDay;
  const char* names[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  std::mt19937 random(20261201);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  for (int round = 0; round < 60; ++round) {
    const unsigned chosen = 1 + static_cast<unsigned>(below(127));
    // Often at the ends of the day, where mistakes are.
    const int from = round % 3 == 0 ? (round % 2) * (kMinutesOfDay - 1) : below(kMinutesOfDay);
    const int end = round % 5 == 0 ? kMinutesOfDay : round % 7 == 0 ? from : below(kMinutesOfDay + 1);
    std::string on;
    for (int day = 0; day < 7; ++day)
      if (chosen >> day & 1U) on += (on.empty() ? "" : ",") + std::string(names[day]);
    const auto time = [](int minute) {
      std::string text = "00:00";
      const int digits[] = {minute / 600, minute / 60 % 10, 0, minute % 60 / 10, minute % 10};
      for (const std::size_t i : {0U, 1U, 3U, 4U}) text[i] = static_cast<char>('0' + digits[i]);
      return text;
    };
    const Window window = Good(on + " " + time(from) + "-" + time(end));

    std::vector<bool> covered(kMinutesOfWeek), begins(kMinutesOfWeek);
    for (int day = 0; day < 7; ++day) {
      if (!(chosen >> day & 1U)) continue;
      const int first = day * kMinutesOfDay + from;
      begins[static_cast<std::size_t>(first)] = true;
      int at = first;
      do {  // up to the next time that the clock shows the end
        covered[static_cast<std::size_t>(at % kMinutesOfWeek)] = true;
        ++at;
      } while (at % kMinutesOfDay != end % kMinutesOfDay);
    }
    for (int minute = 0; minute < 2 * kMinutesOfWeek; ++minute) {
      const auto in_week = static_cast<std::size_t>(minute % kMinutesOfWeek);
      const Time at = kMonday + minutes(minute);
      ASSERT_EQ(window.Contains(at), covered[in_week]) << window.text << " minute " << minute;
      ASSERT_EQ(window.Contains(at + seconds(59) + nanoseconds(999'999'999)), covered[in_week])
          << window.text << " minute " << minute;
    }
    for (int sample = 0; sample < 200; ++sample) {
      const int minute = sample < 7 ? sample * kMinutesOfDay + from : below(kMinutesOfWeek);
      const int second = sample % 2 == 0 ? 0 : below(60);
      int next = minute + 1;
      while (!begins[static_cast<std::size_t>(next % kMinutesOfWeek)]) ++next;
      ASSERT_EQ(window.Next(kMonday + minutes(minute) + seconds(second)), kMonday + minutes(next))
          << window.text << " minute " << minute << ":" << second;
    }
  }
}

}  // namespace
}  // namespace railwright
