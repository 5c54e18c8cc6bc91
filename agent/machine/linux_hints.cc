// LinuxHints: one epoll descriptor over all sources of this kernel.
#include "agent/machine/linux_hints.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "agent/machine/linux_hints_netlink.h"
#include "agent/machine/linux_machine.h"
#include "agent/machine/paths.h"

namespace railwright {
namespace {

// Whether `path` is `prefix` or below it; "" is above everything.
bool Covers(std::string_view prefix, std::string_view path) {
  return path.starts_with(prefix) &&
         (path.size() == prefix.size() || prefix.empty() || path[prefix.size()] == '/');
}

// "/rtnl/addr/rail0" → "/rtnl/addr"
std::string FirstTwo(const std::string& path) {
  const auto second = path.find('/', 1);
  if (second == std::string::npos) return path;
  return path.substr(0, path.find('/', second + 1));
}

}  // namespace

void HintSet::Add(std::string prefix, std::string by, int pid) {
  // A name out of a message that no path can hold: what it concerns is not known.
  if (!machine::PathProblem(prefix).empty()) return Overrun();
  waiting_.try_emplace({std::move(prefix), pid}, std::move(by));
  if (waiting_.size() > kMost) Bound();
}

void HintSet::Overrun() {
  waiting_.clear();
  waiting_.try_emplace({"", 0}, "");
}

void HintSet::Bound() {
  std::map<Key, std::string> shorter;
  // Who did it is lost together with what exactly was done.
  for (const auto& [key, by] : waiting_) shorter.try_emplace({FirstTwo(key.first), 0}, "");
  waiting_ = std::move(shorter);
  if (waiting_.size() > kMost / 2) Overrun();
}

std::chrono::milliseconds HintSet::PaceOf(std::string_view prefix) const {
  return prefix.empty() ? overrun_pace_ : pace_;
}

std::vector<Hint> HintSet::Take(Time now) {
  std::vector<Hint> ready;
  std::erase_if(given_, [&](const auto& one) { return one.second + PaceOf(one.first) <= now; });
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const auto& [prefix, pid] = it->first;
    if (given_.contains(prefix)) {
      ++it;
      continue;
    }
    ready.push_back({prefix, it->second, pid, now});
    it = waiting_.erase(it);
  }
  // A hint without a process already says "somebody may have changed all below".
  std::vector<Hint> merged;
  for (const Hint& hint : ready) {
    given_[hint.prefix] = now;
    const bool covered = std::any_of(ready.begin(), ready.end(), [&](const Hint& other) {
      return &other != &hint && other.pid == 0 && hint.pid == 0 && other.prefix != hint.prefix &&
             Covers(other.prefix, hint.prefix);
    });
    if (!covered) merged.push_back(hint);
  }
  return merged;
}

HintSet::Time HintSet::NextDue() const {
  Time due = Time::max();
  for (const auto& [key, by] : waiting_) {
    const auto given = given_.find(key.first);
    due = std::min(due, given == given_.end() ? Time::min() : given->second + PaceOf(key.first));
  }
  return due;
}

namespace {

class LinuxHints final : public Hints {
 public:
  LinuxHints(Descriptor epoll, Descriptor timer, const LinuxHintsOptions& options)
      : epoll_(std::move(epoll)), timer_(std::move(timer)), set_(options.pace, options.overrun_pace) {}

  int fd() const override { return epoll_.get(); }

  Status AddTimer() { return Register(timer_.get(), kTimer); }

  Status Add(std::unique_ptr<HintSource> source) {
    RW_RETURN_IF_ERROR(Register(source->fd(), static_cast<std::uint32_t>(sources_.size())));
    sources_.push_back(std::move(source));
    return Ok();
  }

  std::vector<Hint> Drain() override {
    epoll_event events[kMostSources];
    const int ready = epoll_wait(epoll_.get(), events, kMostSources, 0);
    for (int i = 0; i < ready; ++i) {
      const std::uint32_t which = events[i].data.u32;
      if (which == kTimer) {
        std::uint64_t expirations = 0;
        (void)!read(timer_.get(), &expirations, sizeof expirations);
      } else if (which < sources_.size()) {
        sources_[which]->Drain(set_);
      }
    }
    if (set_.TakeLinksMoved())
      for (const auto& source : sources_) source->LinksMoved(set_);
    return Give();
  }

  void Watch(const std::vector<std::string>& paths) override {
    for (const auto& source : sources_) source->Watch(paths, set_);
    Arm();  // what the registration found changed is readable at once
  }

 private:
  static constexpr int kMostSources = 8;
  static constexpr std::uint32_t kTimer = 0xffffffff;

  Status Register(int fd, std::uint32_t which) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = which;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      return FromErrno(errno, "epoll_ctl for a source of hints");
    return Ok();
  }

  std::vector<Hint> Give() {
    auto hints = set_.Take(std::chrono::steady_clock::now());
    Arm();
    return hints;
  }

  // The descriptor turns readable when a waiting hint falls due.
  void Arm() {
    const auto due = set_.NextDue();
    itimerspec when{};
    if (due != HintSet::Time::max()) {
      const auto wait = std::max<std::chrono::nanoseconds>(
          due == HintSet::Time::min() ? std::chrono::nanoseconds(1) : due - std::chrono::steady_clock::now(),
          std::chrono::nanoseconds(1));
      when.it_value.tv_sec = wait.count() / 1'000'000'000;
      when.it_value.tv_nsec = wait.count() % 1'000'000'000;
    } else if (!armed_) {
      return;
    }
    armed_ = due != HintSet::Time::max();
    timerfd_settime(timer_.get(), 0, &when, nullptr);
  }

  Descriptor epoll_;
  Descriptor timer_;
  std::vector<std::unique_ptr<HintSource>> sources_;
  HintSet set_;
  bool armed_ = false;
};

}  // namespace

Result<std::unique_ptr<Hints>> MakeLinuxHintsWith(const LinuxHintsOptions& options,
                                                  std::vector<std::string>* missing) {
  Descriptor epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return FromErrno(errno, "epoll_create1");
  Descriptor timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer) return FromErrno(errno, "timerfd_create");
  auto hints = std::make_unique<LinuxHints>(std::move(epoll), std::move(timer), options);
  RW_RETURN_IF_ERROR(hints->AddTimer());
  for (const auto make :
       {MakeRtnetlinkHints, MakeNftablesHints, MakeEthtoolHints, MakeUeventHints, MakeInotifyHints}) {
    auto source = make(options);
    const Status status = source.ok() ? hints->Add(std::move(*source)) : source.status();
    if (!status.ok() && missing != nullptr) missing->push_back(status.message());
  }
  return std::unique_ptr<Hints>(std::move(hints));
}

Result<std::unique_ptr<Hints>> MakeLinuxHints(std::vector<std::string>* missing) {
  return MakeLinuxHintsWith({}, missing);
}

}  // namespace railwright
