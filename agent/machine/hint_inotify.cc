// inotify on what is watched below /file and /proc/sys, and on the package database for /pkg.
//
// A file is watched together with every folder on the way to it, symbolic links followed, so that a
// replacement by rename, a deletion, a folder that appears later and a link that is turned elsewhere are
// all seen. A sysctl is watched itself. Its descriptor stays open: an inotify watch pins only the inode, and
// after the kernel has dropped the name from its cache the next writer gets another inode of the same sysctl,
// of which the watch knows nothing (tried; tests/hints looks that it is held).
#include <dirent.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <deque>
#include <set>

#include "agent/machine/linux_hints_netlink.h"

namespace railwright {
namespace {

constexpr std::uint32_t kFolder =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr std::uint32_t kFile =
    IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW;
constexpr std::uint32_t kSysctl = IN_MODIFY;
constexpr std::string_view kPackages = "/var/lib/dpkg/status";  // dpkg replaces it by rename
constexpr int kMostLinks = 40;                                  // as the kernel: MAXSYMLINKS
// A caller that hands in the same list again only pays for a look at what could have changed unseen (mounts)
// this often.
constexpr std::chrono::seconds kRecheck{1};

// inotify_event without its flexible array.
struct EventHeader {
  int watch;
  std::uint32_t mask, cookie, length;
};
static_assert(sizeof(EventHeader) == sizeof(inotify_event));

struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const Identity&, const Identity&) = default;
};

Identity IdentityOf(const struct stat& info) { return {info.st_dev, info.st_ino}; }

// One watched file: what is on the way to it.
struct File {
  std::string hint;
  std::set<int> watches;
  Identity found;  // the file itself; {} when it is not there
};

struct Sysctl {
  Descriptor pin;
  Identity found;
  int watch = -1;
  bool known = false;  // looked for before, so that another one than before is news
};

// Who wants to know of events in a folder (name) or on a file (name "").
using Interests = std::multimap<std::string, std::string>;  // name → watched path

class InotifyHints final : public HintSource {
 public:
  InotifyHints(Descriptor inotify, int reads)
      : inotify_(std::move(inotify)), reads_(reads), buffer_(kBuffer) {}

  int fd() const override { return inotify_.get(); }

  void Watch(const std::vector<std::string>& paths, HintSet& out) override {
    std::map<std::string, std::string> files;  // file → hint
    std::set<std::string> sysctls;
    for (const std::string& path : paths) {
      if (path.starts_with("/file/") && path.size() > 6) files.emplace(path.substr(5), path);
      if (path.starts_with("/proc/sys/")) sysctls.insert(path);
      if (path.starts_with("/pkg/")) files.emplace(kPackages, "/pkg");
    }
    const auto now = std::chrono::steady_clock::now();
    const bool same = std::equal(files.begin(), files.end(), files_.begin(), files_.end(),
                                 [](const auto& a, const auto& b) { return a.first == b.first; }) &&
                      std::equal(sysctls.begin(), sysctls.end(), sysctls_.begin(), sysctls_.end(),
                                 [](const auto& a, const auto& b) { return a == b.first; });
    if (same && now < checked_ + kRecheck) return;
    checked_ = now;
    for (auto it = files_.begin(); it != files_.end();) {
      if (files.contains(it->first)) {
        ++it;
      } else {
        Leave(it->first, it->second.watches, {});
        it = files_.erase(it);
      }
    }
    for (auto it = sysctls_.begin(); it != sysctls_.end();) {
      if (sysctls.contains(it->first)) {
        ++it;
      } else {
        Disarm(it->second);
        it = sysctls_.erase(it);
      }
    }
    for (const auto& [file, hint] : files) {
      const auto [it, fresh] = files_.try_emplace(file);
      it->second.hint = hint;
      if (Resolve(file, it->second) && !fresh) out.Add(hint);
    }
    for (const std::string& path : sysctls) sysctls_.try_emplace(path);
    LinksMoved(out);
  }

  void LinksMoved(HintSet& out) override {
    for (auto& [path, sysctl] : sysctls_)
      if (Arm(path, sysctl)) out.Add(path);
  }

  void Drain(HintSet& out) override {
    std::set<std::string> moved;
    for (int i = 0; i < reads_; ++i) {
      const ssize_t size = read(inotify_.get(), buffer_.data(), buffer_.size());
      if (size <= 0) {
        if (size < 0 && errno == EINTR) continue;
        break;
      }
      ReadEvents(Bytes(buffer_.data(), static_cast<std::size_t>(size)), moved, out);
    }
    for (const std::string& file : moved)
      if (const auto it = files_.find(file); it != files_.end()) Resolve(file, it->second);
  }

 private:
  static constexpr std::size_t kBuffer = 16 * 1024;
  static_assert(kBuffer > sizeof(inotify_event) + NAME_MAX + 1);

  void ReadEvents(Bytes bytes, std::set<std::string>& moved, HintSet& out) {
    while (const auto event = ReadAs<EventHeader>(bytes)) {
      const std::size_t whole = sizeof(EventHeader) + event->length;
      if (whole > bytes.size()) return;
      const std::string name = TextOf(bytes.subspan(sizeof(EventHeader), event->length));
      bytes = bytes.subspan(whole);
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        out.Overrun();
        for (const auto& [file, state] : files_) moved.insert(file);
      } else {
        Happened(event->watch, event->mask, name, moved, out);
      }
    }
  }

  void Happened(int watch, std::uint32_t mask, const std::string& name, std::set<std::string>& moved,
                HintSet& out) {
    if (const auto sysctl = sysctl_of_.find(watch); sysctl != sysctl_of_.end()) {
      out.Add(sysctl->second);
      return;
    }
    const auto folder = interests_.find(watch);
    if (folder == interests_.end()) return;  // IN_IGNORED and stragglers of a watch that was taken back
    // An event of the folder or file itself concerns all that lies behind it.
    const bool itself = name.empty();
    const bool replaced = (mask & (IN_MODIFY | IN_CLOSE_WRITE)) == 0;
    for (const auto& [wanted, file] : folder->second) {
      if (!itself && !wanted.empty() && wanted != name) continue;
      if (const auto it = files_.find(file); it != files_.end()) out.Add(it->second.hint);
      if (replaced) moved.insert(file);
    }
    if ((mask & IN_IGNORED) != 0) {  // the kernel has taken it back: deleted or unmounted
      for (const auto& [wanted, file] : folder->second)
        if (const auto it = files_.find(file); it != files_.end()) it->second.watches.erase(watch);
      interests_.erase(folder);
    }
  }

  // Watches `target` for `file`; false when it is not there or cannot be watched.
  bool Want(const std::string& target, std::uint32_t mask, const std::string& name, const std::string& file,
            std::set<int>& watches) {
    const int watch = inotify_add_watch(inotify_.get(), target.c_str(), mask);
    if (watch < 0) return false;
    Interests& interests = interests_[watch];
    const auto [first, last] = interests.equal_range(name);
    if (std::none_of(first, last, [&](const auto& one) { return one.second == file; }))
      interests.emplace(name, file);
    watches.insert(watch);
    return true;
  }

  // Takes back the interest of `file` in the watches that are not in `kept`.
  void Leave(const std::string& file, const std::set<int>& watches, const std::set<int>& kept) {
    for (const int watch : watches) {
      if (kept.contains(watch)) continue;
      const auto it = interests_.find(watch);
      if (it == interests_.end()) continue;
      std::erase_if(it->second, [&](const auto& one) { return one.second == file; });
      if (it->second.empty()) {
        interests_.erase(it);
        inotify_rm_watch(inotify_.get(), watch);
      }
    }
  }

  // Walks to `file` and watches what is on the way, each folder before it is looked into. True when another
  // file than before (or none) is found there.
  bool Resolve(const std::string& file, File& state) {
    std::set<int> watches;
    std::deque<std::string> rest = Components(file);
    std::string here;  // "" is the root
    int links = 0;
    Identity found;
    while (!rest.empty()) {
      const std::string name = rest.front();
      rest.pop_front();
      if (name == "..") {
        here.erase(std::min(here.size(), here.rfind('/')));
        continue;
      }
      if (!Want(here.empty() ? "/" : here, kFolder, name, file, watches)) break;
      const std::string next = here + "/" + name;
      struct stat info {};
      if (lstat(next.c_str(), &info) != 0) break;  // the folder tells when it appears
      if (S_ISLNK(info.st_mode)) {
        char target[PATH_MAX];
        const ssize_t size = readlink(next.c_str(), target, sizeof target);
        if (size <= 0 || size == static_cast<ssize_t>(sizeof target) || ++links > kMostLinks) break;
        const std::string text(target, static_cast<std::size_t>(size));
        if (text.front() == '/') here.clear();
        auto more = Components(text);
        rest.insert(rest.begin(), more.begin(), more.end());
        continue;
      }
      here = next;
      if (!rest.empty()) continue;
      Want(here, S_ISDIR(info.st_mode) ? kFolder : kFile, "", file, watches);
      found = IdentityOf(info);
    }
    Leave(file, state.watches, watches);
    state.watches = std::move(watches);
    return std::exchange(state.found, found) != found;
  }

  static std::deque<std::string> Components(const std::string& path) {
    std::deque<std::string> components;
    std::size_t at = 0;
    while (at < path.size()) {
      const auto slash = std::min(path.find('/', at), path.size());
      std::string one = path.substr(at, slash - at);
      if (!one.empty() && one != ".") components.push_back(std::move(one));
      at = slash + 1;
    }
    return components;
  }

  // True when the sysctl is another one than before: its folder went or came back.
  bool Arm(const std::string& path, Sysctl& sysctl) {
    const bool news = std::exchange(sysctl.known, true);
    const bool had = sysctl.watch >= 0;
    struct stat info {};
    const bool there = stat(path.c_str(), &info) == 0;
    if (there && had && IdentityOf(info) == sysctl.found) return false;
    Disarm(sysctl);
    if (!there) return had;
    Descriptor pin(open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!pin || fstat(pin.get(), &info) != 0) return had;
    // By descriptor, so that exactly the inode that is pinned is watched.
    const std::string self = "/proc/self/fd/" + std::to_string(pin.get());
    const int watch = inotify_add_watch(inotify_.get(), self.c_str(), kSysctl);
    if (watch < 0) return had;
    sysctl_of_[watch] = path;
    sysctl.watch = watch;
    sysctl.found = IdentityOf(info);
    sysctl.pin = std::move(pin);
    return news;
  }

  void Disarm(Sysctl& sysctl) {
    if (sysctl.watch < 0) return;
    sysctl_of_.erase(sysctl.watch);
    inotify_rm_watch(inotify_.get(), sysctl.watch);
    sysctl.watch = -1;
    sysctl.pin = Descriptor();
  }

  Descriptor inotify_;
  int reads_;
  std::vector<std::uint8_t> buffer_;
  std::map<std::string, File> files_;
  std::map<std::string, Sysctl> sysctls_;
  std::map<int, Interests> interests_;
  std::map<int, std::string> sysctl_of_;
  std::chrono::steady_clock::time_point checked_{};
};

}  // namespace

Result<std::unique_ptr<HintSource>> MakeInotifyHints(const LinuxHintsOptions& options) {
  Descriptor inotify(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify) {
    const int error = errno;
    return FromErrno(error, "inotify: inotify_init1",
                     error == EMFILE ? "raise fs.inotify.max_user_instances" : "");
  }
  return std::unique_ptr<HintSource>(std::make_unique<InotifyHints>(std::move(inotify), options.reads));
}

}  // namespace railwright
