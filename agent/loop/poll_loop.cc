#include "agent/loop/poll_loop.h"

#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/files/descriptor.h"

namespace railwright {

using std::chrono::milliseconds;

namespace {

sigset_t Signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  return set;
}

// Whether anything happened to `name` in the folder that `fd` watches; reads all events.
bool Touched(int fd, const std::string& name) {
  bool touched = false;
  alignas(inotify_event) std::array<char, 4096> buffer;
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) return touched;
    for (ssize_t at = 0; at < got;) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* text = buffer.data() + at + sizeof event;
      if ((event.mask & IN_Q_OVERFLOW) != 0 || (event.len > 0 && name == text)) touched = true;
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
}

int ReadSignal(int fd) {
  signalfd_siginfo info{};
  return ::read(fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info)
             ? static_cast<int>(info.ssi_signo)
             : 0;
}

}  // namespace

Status BlockSignals() {
  const sigset_t set = Signals();
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0)
    return FromErrno(error, "pthread_sigmask");
  if (::signal(SIGPIPE, SIG_IGN) == SIG_ERR) return FromErrno(errno, "signal");
  return Ok();
}

Result<int> RunLoop(const LoopParts& parts) {
  const sigset_t set = Signals();
  const Descriptor signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (signals.get() < 0) return FromErrno(errno, "signalfd");
  const Descriptor folder(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (folder.get() < 0) return FromErrno(errno, "inotify_init1");
  const std::string pause_file = parts.state_dir.local_pauses();
  if (::inotify_add_watch(folder.get(), parts.state_dir.directory().c_str(),
                          IN_MOVED_TO | IN_MOVED_FROM | IN_CLOSE_WRITE | IN_DELETE | IN_ONLYDIR) < 0)
    return FromErrno(errno, "watching " + parts.state_dir.directory());
  const std::string pause_name = pause_file.substr(pause_file.rfind('/') + 1);

  std::vector<std::string> watched;
  bool watch_again = true;
  while (true) {
    const auto now = parts.clock.Now();
    auto wait = std::chrono::ceil<milliseconds>(parts.agent.NextDue() - now);
    if (parts.supervisor.interval()) wait = std::min(wait, *parts.supervisor.interval());
    wait = std::clamp(wait, milliseconds(0), milliseconds(60'000));
    std::array<pollfd, 4> fds{{{signals.get(), POLLIN, 0},
                               {parts.bell.fd(), POLLIN, 0},
                               {folder.get(), POLLIN, 0},
                               {parts.hints.fd(), POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), static_cast<int>(wait.count())) < 0 && errno != EINTR)
      return FromErrno(errno, "poll");

    while (const int number = ReadSignal(signals.get())) {
      if (number == SIGTERM || number == SIGINT) return number;
      parts.log(LogLevel::kInfo, "SIGHUP: looking at everything again");
      parts.agent.Refresh();
    }
    if (Touched(folder.get(), pause_name)) parts.agent.LookAtPauses();
    if (fds[3].revents != 0) parts.agent.Notice(parts.hints.Drain());
    if (fds[1].revents != 0) parts.bell.Clear();
    for (FromController& message : parts.inbox.TakeAll()) parts.agent.Handle(std::move(message));

    if (parts.agent.Tick() || watch_again) {
      watch_again = false;
      std::vector<std::string> paths = parts.agent.WatchedPaths();
      if (paths != watched) parts.hints.Watch(watched = std::move(paths));
    }
    if (parts.agent.Ready()) parts.supervisor.Ready();
    parts.supervisor.Status(parts.agent.Summary());
    parts.supervisor.Alive(parts.clock.Now());
  }
}

}  // namespace railwright
