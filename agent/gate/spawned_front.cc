#include "agent/gate/spawned_front.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "agent/gate/become_front.h"

namespace railwright::gate {
namespace {

using std::chrono::milliseconds;

constexpr const char* kProgram = "railwright-agent-front";
/// A front whose socket is closed is about to end, or hangs.
constexpr milliseconds kGrace{2'000};

// Times, and what a build with sanitizers is told; nothing else of the environment is the front's business.
std::vector<std::string> Environment() {
  std::vector<std::string> environment{"PATH=/usr/bin:/bin"};
  for (const char* name : {"TZ", "LANG", "LC_ALL", "JOURNAL_STREAM", "ASAN_OPTIONS", "LSAN_OPTIONS",
                           "TSAN_OPTIONS", "UBSAN_OPTIONS"})
    if (const char* value = std::getenv(name)) environment.push_back(std::string(name) + "=" + value);
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

class SpawnedFront final : public Door {
 public:
  explicit SpawnedFront(SpawnOptions options) : options_(std::move(options)), backoff_(options_.waits) {}
  ~SpawnedFront() override { Close(milliseconds(0)); }

  int fd() const override { return watch_.get(); }

  std::optional<Time> due() const override {
    if (closed_) return std::nullopt;
    return pid_ > 0 ? kill_at_ : std::optional(start_at_);
  }

  std::optional<Descriptor> Look(Time now) override {
    if (pid_ > 0) {
      if (kill_at_ && now >= *kill_at_) {
        ::kill(pid_, SIGKILL);
        kill_at_.reset();
      }
      Reap(now);
    }
    if (pid_ > 0 || closed_ || now < start_at_) return std::nullopt;
    auto socket = Spawn(now);
    if (socket.ok()) return std::move(*socket);
    Again(socket.status().message(), now);
    return std::nullopt;
  }

  void Lost(bool misbehaved, Time now) override {
    cut_ = misbehaved;
    if (pid_ > 0) kill_at_ = misbehaved ? now : now + kGrace;
  }

  std::string text() const override { return text_; }

  void Close(milliseconds patience) override {
    closed_ = true;
    if (pid_ <= 0) return;
    pollfd ended{watch_.get(), POLLIN, 0};
    if (::poll(&ended, 1, static_cast<int>(patience.count())) <= 0) ::kill(pid_, SIGKILL);
    Wait(0);
  }

 private:
  Result<Descriptor> Spawn(Time now) {
    const Descriptor program(::open(options_.program.c_str(), O_PATH | O_CLOEXEC));
    if (!program) return FromErrno(errno, options_.program);
    int sockets[2], pipe[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
      return FromErrno(errno, "socketpair");
    Descriptor ours(sockets[0]), theirs(sockets[1]);
    if (::pipe2(pipe, O_CLOEXEC) != 0) return FromErrno(errno, "pipe2");
    Descriptor told(pipe[0]), tells(pipe[1]);

    std::vector<std::string> words{options_.program};
    words.insert(words.end(), options_.words.begin(), options_.words.end());
    words.insert(words.end(), {"--gate-fd", "3"});
    std::vector<std::string> environment = Environment();
    const std::vector<char*> argv = Pointers(words), envp = Pointers(environment);
    const Becoming becoming{.program = options_.program.c_str(),
                            .program_fd = program.get(),
                            .argv = argv.data(),
                            .environment = envp.data(),
                            .socket = theirs.get(),
                            .failure = tells.get(),
                            .parent = ::getpid(),
                            .drop = ::geteuid() == 0,
                            .uid = options_.user.uid,
                            .gid = options_.user.gid};
    const pid_t pid = ::fork();
    if (pid < 0) return FromErrno(errno, "fork");
    if (pid == 0) BecomeFront(becoming);
    theirs.Close();
    tells.Close();
    pid_ = pid;
    int error = 0;
    ssize_t got = 0;
    while ((got = ::read(told.get(), &error, sizeof error)) < 0 && errno == EINTR) {
    }
    if (got == static_cast<ssize_t>(sizeof error)) {
      Wait(0);
      return FromErrno(error, options_.program + " as " + options_.user.name);
    }
    watch_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!watch_) {
      const int lost = errno;
      ::kill(pid_, SIGKILL);
      Wait(0);
      return FromErrno(lost, "pidfd_open");
    }
    backoff_.Began(now);
    kill_at_.reset();
    cut_ = false;
    text_.clear();
    return ours;
  }

  // The exit status, when it has ended.
  std::optional<int> Wait(int flags) {
    int status = 0;
    pid_t got = 0;
    while ((got = ::waitpid(pid_, &status, flags)) < 0 && errno == EINTR) {
    }
    if (got == 0) return std::nullopt;
    pid_ = -1;
    watch_.Close();
    kill_at_.reset();
    return status;
  }

  void Reap(Time now) {
    const auto status = Wait(WNOHANG);
    if (!status) return;
    if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0 && !cut_ && options_.ended_in_order) {
      closed_ = true;
      text_ = "ended in order";
      return options_.ended_in_order();
    }
    Again(WIFSIGNALED(*status) ? "it ended by signal " + std::to_string(WTERMSIG(*status))
                               : "it ended with exit code " + std::to_string(WEXITSTATUS(*status)),
          now);
  }

  void Again(const std::string& why, Time now) {
    const milliseconds wait = backoff_.Failed(now);
    start_at_ = now + wait;
    text_ = why + "; it starts again in " + std::to_string(wait.count()) + " ms";
    if (options_.told) options_.told("the half that talks to the network: " + text_);
  }

  const SpawnOptions options_;
  Backoff backoff_;
  pid_t pid_ = -1;
  Descriptor watch_;  // pidfd of pid_
  Time start_at_{};
  std::optional<Time> kill_at_;
  std::string text_;
  bool cut_ = false;  // from here
  bool closed_ = false;
};

}  // namespace

Result<std::string> FindFront() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return FromErrno(error.value(), "/proc/self/exe");
  const std::filesystem::path folder = self.parent_path();
  const std::array<std::filesystem::path, 2> places{
      folder / kProgram, folder.parent_path() / "libexec" / "railwright" / kProgram};
  for (const auto& place : places)
    if (::access(place.c_str(), X_OK) == 0) return place.string();
  return Status(Code::kNotFound, "the half that talks to the network is not installed: neither " +
                                     places[0].string() + " nor " + places[1].string() +
                                     " is there; install the railwright-agent package whole");
}

std::unique_ptr<Door> MakeSpawnedFront(SpawnOptions options) {
  return std::make_unique<SpawnedFront>(std::move(options));
}

}  // namespace railwright::gate
