// The hints of the real kernel, each source within a second of the change, in a network namespace of its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include "agent/machine/linux_hints.h"
#include "agent/machine/linux_machine.h"

namespace railwright {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
namespace fs = std::filesystem;

// Runs a program to its end; its pid and exit status.
struct Ran {
  pid_t pid = 0;
  int status = -1;
};

Ran Spawn(const std::vector<std::string>& words, const std::string& input = {}, bool elsewhere = false) {
  int in[2];
  if (pipe2(in, O_CLOEXEC) != 0) return {};
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    if (elsewhere && unshare(CLONE_NEWNET) != 0) _exit(126);
    dup2(in[0], 0);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(in[0]);
  (void)!write(in[1], input.data(), input.size());
  close(in[1]);
  Ran ran{pid, -1};
  waitpid(pid, &ran.status, 0);
  return ran;
}

// Another process writes `text` to `path`, as `sysctl -w` does; optionally in a network namespace of its own.
bool WriteFromAnotherProcess(const std::string& path, const std::string& text, bool elsewhere = false) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (elsewhere && unshare(CLONE_NEWNET) != 0) _exit(1);
    const int fd = open(path.c_str(), O_WRONLY);
    _exit(fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  return status == 0;
}

constexpr const char* kIp = "/usr/sbin/ip";
constexpr const char* kNft = "/usr/sbin/nft";

void Write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

class LinuxHintsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root for a network namespace";
    ASSERT_EQ(unshare(CLONE_NEWNET), 0);
    char folder[] = "/tmp/railwright-hints-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  void Open(LinuxHintsOptions options = {}) {
    std::vector<std::string> missing;
    auto made = MakeLinuxHintsWith(options, &missing);
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    hints_ = std::move(*made);
    for (const auto& one : missing) ADD_FAILURE() << "missing: " << one;
  }

  void AddRail(const std::string& name = "rail0") {
    ASSERT_EQ(Spawn({kIp, "link", "add", name, "type", "veth", "peer", "name", "p" + name}).status, 0);
  }

  // All hints until nothing has come for `quiet`.
  std::vector<Hint> Settle(milliseconds quiet = milliseconds(120)) {
    std::vector<Hint> all;
    pollfd wait{hints_->fd(), POLLIN, 0};
    while (poll(&wait, 1, static_cast<int>(quiet.count())) > 0)
      for (Hint& hint : hints_->Drain()) all.push_back(std::move(hint));
    return all;
  }

  // A hint says "look again at this and all below".
  static bool Covers(const std::string& hint, const std::string& path) {
    return !hint.empty() && path.starts_with(hint) &&
           (path.size() == hint.size() || path[hint.size()] == '/');
  }
  static bool Has(const std::vector<Hint>& hints, const std::string& prefix) {
    return std::any_of(hints.begin(), hints.end(), [&](const Hint& one) { return one.prefix == prefix; });
  }
  static std::string Show(const std::vector<Hint>& hints) {
    std::ostringstream text;
    for (const Hint& one : hints) text << '"' << one.prefix << "\" " << one.by << '\n';
    return text.str();
  }

  // Does `change` and waits for a hint of `prefix`; the time counts from before the change.
  std::optional<Hint> After(const std::string& what, const std::string& prefix,
                            const std::function<bool()>& change) {
    Settle();
    const auto begin = steady_clock::now();
    EXPECT_TRUE(change()) << what;
    std::vector<Hint> seen;
    pollfd wait{hints_->fd(), POLLIN, 0};
    while (steady_clock::now() < begin + std::chrono::seconds(1)) {
      if (poll(&wait, 1, 100) <= 0) continue;
      for (Hint& hint : hints_->Drain()) {
        seen.push_back(hint);
        if (!Covers(hint.prefix, prefix)) continue;
        const auto took = std::chrono::duration<double, std::milli>(hint.at - begin).count();
        std::printf("%-44s %7.2f ms after the change began\n", what.c_str(), took);
        return hint;
      }
    }
    ADD_FAILURE() << what << ": no hint \"" << prefix << "\" within 1 s; seen:\n" << Show(seen);
    return std::nullopt;
  }
  std::optional<Hint> AfterIp(const std::string& what, const std::string& prefix,
                              std::vector<std::string> words) {
    words.insert(words.begin(), kIp);
    return After(what, prefix, [&] { return Spawn(words).status == 0; });
  }

  std::string folder_;
  std::unique_ptr<Hints> hints_;
};

TEST_F(LinuxHintsTest, EachKindOfRtnetlinkChangeIsSeen) {
  AddRail();
  Open();
  AfterIp("link mtu", "/rtnl/link/rail0", {"link", "set", "rail0", "mtu", "1400"});
  AfterIp("link up", "/rtnl/link/rail0", {"link", "set", "rail0", "up"});
  AfterIp("peer up", "/rtnl/link/prail0", {"link", "set", "prail0", "up"});
  AfterIp("address added", "/rtnl/addr/rail0", {"addr", "add", "10.10.0.1/24", "dev", "rail0"});
  AfterIp("IPv6 address added", "/rtnl/addr/rail0",
          {"addr", "add", "fd00:10::1/64", "dev", "rail0", "nodad"});
  AfterIp("route added", "/rtnl/route/101",
          {"route", "add", "10.11.0.0/24", "dev", "rail0", "src", "10.10.0.1", "table", "101"});
  AfterIp("IPv6 route added", "/rtnl/route/101",
          {"-6", "route", "add", "fd00:11::/64", "dev", "rail0", "table", "101"});
  AfterIp("rule added", "/rtnl/rule/1101",
          {"rule", "add", "from", "10.10.0.1", "lookup", "101", "prio", "1101"});
  AfterIp("rule removed", "/rtnl/rule/1101", {"rule", "del", "prio", "1101"});
  AfterIp("route gone with its link", "/rtnl/route", {"link", "set", "rail0", "down"});
  AfterIp("address removed", "/rtnl/addr/rail0", {"addr", "del", "10.10.0.1/24", "dev", "rail0"});
  AfterIp("link renamed", "/rtnl/link/rail7", {"link", "set", "rail0", "name", "rail7"});
  AfterIp("link removed", "/rtnl/link", {"link", "del", "rail7"});
}

TEST_F(LinuxHintsTest, AnNftChangeCarriesTheProcessThatDidIt) {
  Open();
  Ran ran;
  const auto hint = After("nft change", "/nft", [&] {
    ran = Spawn({kNft, "-f", "-"}, "add table inet foreign\n");
    return ran.status == 0;
  });
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->pid, ran.pid);
  EXPECT_EQ(hint->by, "nft[" + std::to_string(ran.pid) + "]");
}

TEST_F(LinuxHintsTest, AHugeNftTransactionIsOneHintAndNoOverrun) {
  LinuxHintsOptions options;
  options.receive_buffer = 16 * 1024;
  Open(options);
  std::string rules = "add table inet t\nadd chain inet t c { type filter hook input priority 0; }\n";
  for (int i = 0; i < 2'000; ++i)
    rules += "add rule inet t c tcp dport " + std::to_string(1 + i) + " accept\n";
  ASSERT_EQ(Spawn({kNft, "-f", "-"}, rules).status, 0);
  const auto hints = Settle();
  ASSERT_EQ(hints.size(), 1U) << Show(hints);
  EXPECT_EQ(hints[0].prefix, "/nft");
}

TEST_F(LinuxHintsTest, AnNftChangeInAnotherNamespaceIsNotSeen) {
  Open();
  ASSERT_EQ(Spawn({kNft, "-f", "-"}, "add table inet elsewhere\n", true).status, 0);
  const auto hints = Settle();
  EXPECT_TRUE(hints.empty()) << Show(hints);
}

TEST_F(LinuxHintsTest, EthtoolChangesAreSeen) {
  ASSERT_EQ(Spawn({kIp, "link", "add", "rail0", "numtxqueues", "2", "numrxqueues", "2", "type", "veth",
                   "peer", "name", "prail0", "numtxqueues", "2", "numrxqueues", "2"})
                .status,
            0);
  Open();
  After("ethtool channels", "/ethtool/rail0", [] {
    return Spawn({"/usr/sbin/ethtool", "-L", "rail0", "tx", "1"}).status == 0;
  });
  After("ethtool features", "/ethtool/rail0", [] {
    return Spawn({"/usr/sbin/ethtool", "-K", "rail0", "tso", "off"}).status == 0;
  });
}

TEST_F(LinuxHintsTest, UeventsOfInterfacesAreSeen) {
  AddRail();
  ASSERT_EQ(unshare(CLONE_NEWNS), 0);
  ASSERT_EQ(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
  ASSERT_EQ(mount("sysfs", folder_.c_str(), "sysfs", 0, nullptr), 0);
  Open();
  After("uevent", "/sys/class/net/rail0", [&] {
    Write(folder_ + "/class/net/rail0/uevent", "change");
    return true;
  });
  ASSERT_EQ(umount(folder_.c_str()), 0);
}

TEST_F(LinuxHintsTest, WhatIsNotAllowedIsNamedAndTheRestWorks) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) _exit(2);
    std::vector<std::string> missing;
    const auto hints = MakeLinuxHints(&missing);
    const bool named = missing.size() == 1 && missing[0].starts_with("nftables: ") &&
                       missing[0].ends_with("Operation not permitted");
    _exit(hints.ok() && (*hints)->fd() >= 0 && named ? 0 : 1);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

// --- files -------------------------------------------------------------------------------------------------

TEST_F(LinuxHintsTest, AFileIsSeenHoweverItChanges) {
  const fs::path file = fs::path(folder_) / "nccl.conf";
  Write(file, "NCCL_DEBUG=INFO\n");
  Open();
  const std::string hint = "/file" + file.string();
  hints_->Watch({hint});
  After("file written in place", hint, [&] {
    Write(file, "a\n");
    return true;
  });
  const auto replace = [&] {
    Write(folder_ + "/.new", "b\n");
    fs::rename(folder_ + "/.new", file);
    return true;
  };
  After("file replaced by rename", hint, replace);
  After("file written after the replacement", hint, [&] {
    Write(file, "c\n");
    return true;
  });
  After("file replaced once more", hint, replace);
  After("file deleted", hint, [&] { return fs::remove(file); });
  After("file created again", hint, [&] {
    Write(file, "d\n");
    return true;
  });
  After("file written after its creation", hint, [&] {
    Write(file, "e\n");
    return true;
  });
  After("file mode", hint, [&] { return chmod(file.c_str(), 0600) == 0; });
  Settle();
  Write(folder_ + "/other.conf", "x\n");
  const auto other = Settle();
  EXPECT_TRUE(other.empty()) << Show(other);
  hints_->Watch({});
  Write(file, "f\n");
  const auto after = Settle();
  EXPECT_TRUE(after.empty()) << Show(after);
}

TEST_F(LinuxHintsTest, AFileWhoseFoldersAppearLaterIsSeen) {
  const fs::path file = fs::path(folder_) / "a/b/c/limits.conf";
  Open();
  const std::string hint = "/file" + file.string();
  hints_->Watch({hint});
  After("first folder created", hint, [&] { return fs::create_directory(folder_ + "/a"); });
  After("more folders and the file at once", hint, [&] {
    fs::create_directories(file.parent_path());
    Write(file, "x\n");
    return true;
  });
  After("file written", hint, [&] {
    Write(file, "y\n");
    return true;
  });
  After("a folder on the way moved away", hint, [&] {
    fs::rename(folder_ + "/a/b", folder_ + "/a/old");
    return true;
  });
  After("and another put in its place", hint, [&] {
    fs::create_directories(folder_ + "/new/c");
    Write(folder_ + "/new/c/limits.conf", "z\n");
    fs::rename(folder_ + "/new", folder_ + "/a/b");
    return true;
  });
  After("file written in the new place", hint, [&] {
    Write(file, "y\n");
    return true;
  });
}

TEST_F(LinuxHintsTest, AFileBehindALinkIsSeen) {
  fs::create_directories(folder_ + "/one");
  fs::create_directories(folder_ + "/two");
  Write(folder_ + "/one/real.conf", "1\n");
  Write(folder_ + "/two/real.conf", "2\n");
  fs::create_symlink("one/real.conf", folder_ + "/nccl.conf");
  Open();
  const std::string hint = "/file" + folder_ + "/nccl.conf";
  hints_->Watch({hint});
  After("file behind a link written", hint, [&] {
    Write(folder_ + "/one/real.conf", "3\n");
    return true;
  });
  After("link turned elsewhere", hint, [&] {
    fs::create_symlink(folder_ + "/two/real.conf", folder_ + "/.link");
    fs::rename(folder_ + "/.link", folder_ + "/nccl.conf");
    return true;
  });
  After("new file behind it written", hint, [&] {
    Write(folder_ + "/two/real.conf", "4\n");
    return true;
  });
  Settle();
  Write(folder_ + "/one/real.conf", "5\n");
  const auto hints = Settle();
  EXPECT_TRUE(hints.empty()) << Show(hints);
}

// As the quickstart's nodes have it: their /etc is an overlay over the host's.
TEST_F(LinuxHintsTest, AFileOnAnOverlayIsSeenThroughItsCopyUp) {
  ASSERT_EQ(unshare(CLONE_NEWNS), 0);
  ASSERT_EQ(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
  for (const char* one : {"/lower", "/upper", "/work", "/etc"}) fs::create_directory(folder_ + one);
  Write(folder_ + "/lower/nccl.conf", "1\n");
  const std::string options =
      "lowerdir=" + folder_ + "/lower,upperdir=" + folder_ + "/upper,workdir=" + folder_ + "/work";
  const std::string etc = folder_ + "/etc";
  if (mount("overlay", etc.c_str(), "overlay", 0, options.c_str()) != 0)
    GTEST_SKIP() << "this kernel mounts no overlay: " << strerror(errno);
  Open();
  const std::string file = etc + "/nccl.conf";
  hints_->Watch({"/file" + file});
  After("lower file written (copied up)", "/file" + file, [&] {
    Write(file, "2\n");
    return true;
  });
  After("written again", "/file" + file, [&] {
    Write(file, "3\n");
    return true;
  });
  After("replaced by rename", "/file" + file, [&] {
    Write(etc + "/.new", "4\n");
    fs::rename(etc + "/.new", file);
    return true;
  });
  ASSERT_EQ(umount(etc.c_str()), 0);
}

TEST_F(LinuxHintsTest, ALinkInACircleIsNoEndlessWalk) {
  fs::create_symlink(folder_ + "/b", folder_ + "/a");
  fs::create_symlink(folder_ + "/a", folder_ + "/b");
  Open();
  hints_->Watch({"/file" + folder_ + "/a"});
  After("circle broken", "/file" + folder_ + "/a", [&] { return fs::remove(folder_ + "/b"); });
}

// --- /proc/sys ---------------------------------------------------------------------------------------------

TEST_F(LinuxHintsTest, ASysctlWrittenByAnotherProcessIsSeenAndOnlyInOurNamespace) {
  const std::string path = "/proc/sys/net/ipv4/conf/lo/arp_ignore";
  Open();
  hints_->Watch({path, "/proc/sys/net/ipv4/conf/all/arp_announce"});
  After("sysctl written by another process", path, [&] { return WriteFromAnotherProcess(path, "1\n"); });
  After("sysctl all.arp_announce", "/proc/sys/net/ipv4/conf/all/arp_announce",
        [] { return WriteFromAnotherProcess("/proc/sys/net/ipv4/conf/all/arp_announce", "2\n"); });
  Settle();
  ASSERT_TRUE(WriteFromAnotherProcess(path, "2\n", true));
  const auto hints = Settle();
  EXPECT_TRUE(hints.empty()) << Show(hints);
  std::string value;
  std::getline(std::ifstream(path), value);
  EXPECT_EQ(value, "1");
}

TEST_F(LinuxHintsTest, RpFilterIsAnnouncedByTheKernelWithoutAWatch) {
  Open();
  After("rp_filter by netconf", "/proc/sys/net/ipv4/conf/lo/rp_filter",
        [] { return WriteFromAnotherProcess("/proc/sys/net/ipv4/conf/lo/rp_filter", "2\n"); });
}

TEST_F(LinuxHintsTest, SysctlsOfAnInterfaceThatComesGoesAndIsRenamedAreSeen) {
  const std::string path = "/proc/sys/net/ipv4/conf/rail0/arp_ignore";
  Open();
  hints_->Watch({path});
  After("interface appears", path, [&] {
    return Spawn({kIp, "link", "add", "rail0", "type", "veth", "peer", "name", "p0"}).status == 0;
  });
  After("its sysctl written", path, [&] { return WriteFromAnotherProcess(path, "1\n"); });
  AfterIp("interface goes", path, {"link", "del", "rail0"});
  ASSERT_EQ(Spawn({kIp, "link", "add", "eth7", "type", "veth", "peer", "name", "p7"}).status, 0);
  AfterIp("another gets its name", path, {"link", "set", "eth7", "name", "rail0"});
  After("its sysctl written", path, [&] { return WriteFromAnotherProcess(path, "2\n"); });
}

// The inode that is watched goes, and another of the same path comes, before anybody has looked.
TEST_F(LinuxHintsTest, ASysctlMadeAnewIsWatchedAnew) {
  const std::string path = "/proc/sys/net/ipv4/conf/rail0/arp_ignore";
  const auto inode = [&] {
    struct stat info {};
    EXPECT_EQ(stat(path.c_str(), &info), 0);
    return info.st_ino;
  };
  AddRail();
  Open();
  hints_->Watch({path});
  Settle();
  for (int round = 0; round < 3; ++round) {
    const ino_t before = inode();
    ASSERT_EQ(Spawn({kIp, "link", "del", "rail0"}).status, 0);
    AddRail();
    ASSERT_NE(inode(), before) << "the kernel has made it anew";
    const auto hints = Settle();
    EXPECT_TRUE(std::any_of(hints.begin(), hints.end(), [&](const Hint& one) {
      return Covers(one.prefix, path);
    })) << Show(hints);
    After("sysctl made anew, then written", path, [&] { return WriteFromAnotherProcess(path, "1\n"); });
  }
}

// An inotify watch alone pins the inode, not the name: after the kernel had dropped the name from its cache,
// the next writer got another inode, of which the watch knew nothing (tried with drop_caches, which is the
// whole host's). An open descriptor keeps the name, so that there is no other inode to get.
TEST_F(LinuxHintsTest, AWatchedSysctlIsHeldOpenSoThatItsNameCannotBeDropped) {
  const std::string path = "/proc/sys/net/ipv4/conf/lo/arp_ignore";
  const auto held = [&] {
    int count = 0;
    struct stat wanted {};
    EXPECT_EQ(stat(path.c_str(), &wanted), 0);
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      struct stat info {};
      if (stat(entry.path().c_str(), &info) == 0 && info.st_dev == wanted.st_dev &&
          info.st_ino == wanted.st_ino)
        ++count;
    }
    return count;
  };
  Open();
  EXPECT_EQ(held(), 0);
  hints_->Watch({path});
  EXPECT_EQ(held(), 1);
  After("sysctl written", path, [&] { return WriteFromAnotherProcess(path, "1\n"); });
  EXPECT_EQ(held(), 1);
  hints_->Watch({});
  EXPECT_EQ(held(), 0) << "and let go with the watch";
}

// --- load --------------------------------------------------------------------------------------------------

TEST_F(LinuxHintsTest, AnOverrunIsTheEverythingHintOnce) {
  AddRail();
  ASSERT_EQ(Spawn({kIp, "link", "set", "rail0", "up"}).status, 0);
  LinuxHintsOptions options;
  options.receive_buffer = 2'048;
  Open(options);
  Settle();
  std::string routes;
  for (int i = 0; i < 1'000; ++i)
    routes += "route add 10." + std::to_string(100 + i / 250) + "." + std::to_string(i % 250) +
              ".0/24 dev rail0 table 101\n";
  ASSERT_EQ(Spawn({kIp, "-batch", "-"}, routes).status, 0);
  const auto hints = Settle();
  EXPECT_EQ(std::count_if(hints.begin(), hints.end(), [](const Hint& one) { return one.prefix.empty(); }), 1)
      << Show(hints);
  // Names are known again afterwards.
  AfterIp("link mtu after the overrun", "/rtnl/link/rail0", {"link", "set", "rail0", "mtu", "1400"});
}

TEST_F(LinuxHintsTest, AStormCostsLittleAndEndsInFewHints) {
  AddRail();
  ASSERT_EQ(Spawn({kIp, "link", "set", "rail0", "up"}).status, 0);
  Open();
  Settle();
  constexpr int kRoutes = 10'000;
  std::string routes;
  for (int i = 0; i < kRoutes; ++i)
    routes += "route add 10." + std::to_string(100 + i / 250) + "." + std::to_string(i % 250) +
              ".0/24 dev rail0 table 101\n";
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const long resident = before.ru_maxrss;
  ASSERT_EQ(Spawn({kIp, "-batch", "-"}, routes).status, 0);
  const auto longest_begin = steady_clock::now();
  auto first = hints_->Drain();
  const auto longest = steady_clock::now() - longest_begin;
  const auto rest = Settle();
  getrusage(RUSAGE_SELF, &after);
  const auto cpu = [](const rusage& use) {
    return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 +
           static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e3;
  };
  std::printf("storm of %d routes: %zu hints, first Drain %.2f ms, %.1f ms of CPU, %ld KiB more resident\n",
              kRoutes, first.size() + rest.size(), std::chrono::duration<double, std::milli>(longest).count(),
              cpu(after) - cpu(before), after.ru_maxrss - resident);
  EXPECT_LE(first.size() + rest.size(), 20U) << Show(first) << Show(rest);
  EXPECT_TRUE(Has(first, "") || Has(first, "/rtnl/route/101")) << Show(first);
  EXPECT_LT(after.ru_maxrss - resident, 4 * 1024);
}

TEST_F(LinuxHintsTest, AWatchListHandedInAgainGivesNoHint) {
  Open();
  std::vector<std::string> paths;
  for (int i = 0; i < 40; ++i) paths.push_back("/file" + folder_ + "/f" + std::to_string(i));
  for (const char* one : {"arp_ignore", "arp_announce", "rp_filter", "arp_filter"})
    paths.push_back(std::string("/proc/sys/net/ipv4/conf/lo/") + one);
  const auto first = steady_clock::now();
  hints_->Watch(paths);
  const auto second = steady_clock::now();
  for (int i = 0; i < 100; ++i) hints_->Watch(paths);
  const auto third = steady_clock::now();
  std::printf("Watch of %zu paths: %.3f ms, the same again %.4f ms\n", paths.size(),
              std::chrono::duration<double, std::milli>(second - first).count(),
              std::chrono::duration<double, std::milli>(third - second).count() / 100);
  const auto hints = Settle();
  EXPECT_TRUE(hints.empty()) << Show(hints);
}

TEST_F(LinuxHintsTest, SocketsBelongToTheNamespaceOfTheirMaker) {
  Open();
  // The thread moves on; the hints stay where they were made.
  ASSERT_EQ(unshare(CLONE_NEWNET), 0);
  ASSERT_EQ(Spawn({kNft, "-f", "-"}, "add table inet other\n").status, 0);
  const auto hints = Settle();
  EXPECT_TRUE(hints.empty()) << Show(hints);
}

}  // namespace
}  // namespace railwright
