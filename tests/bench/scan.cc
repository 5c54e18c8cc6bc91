// A no-op scan of 30 settings on this kernel: what the resident loop costs beside the raw reads of the same
// files and messages, and what a one-shot check costs beside a bare program linked to the same libraries. CPU
// time throughout.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "agent/journal/file_journal.h"
#include "agent/machine/linux_machine.h"
#include "agent/reconcile/reconciler.h"
#include "agent/tools/tools.h"
#include "tests/bench/raw_reads.h"

namespace {

using namespace railwright;

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "bench_scan: %s\n", what.c_str());
  std::exit(1);
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}
double CpuSeconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

int Run(const std::vector<std::string>& argv, bool quiet = true) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (quiet) {
      const int null = open("/dev/null", O_WRONLY);
      dup2(null, 1);
      dup2(null, 2);
    }
    std::vector<char*> raw;
    for (const auto& word : argv) raw.push_back(const_cast<char*>(word.c_str()));
    raw.push_back(nullptr);
    execv(raw[0], raw.data());
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

SettingSpec Spec(std::string key, std::string target, std::string value) {
  return {std::move(key),
          std::move(target),
          std::move(value),
          Mode::kEnforce,
          {"Profile/bench", "bench.yaml:1:1"}};
}

// 30 (key, target)s over two rails: links, addresses, routing, sysctls, firewall, files.
DesiredState ThirtySettings() {
  DesiredState state;
  state.generation = Generation{1};
  state.hash = "bench";
  state.node = "bench";
  state.subnets = {"10.210.0.0/24", "10.211.0.0/24"};
  for (int rail = 0; rail < 2; ++rail) {
    const std::string name = "rail" + std::to_string(rail);
    state.ports.push_back(
        {name, PortRole::kFabric, "", name, {"10.21" + std::to_string(rail) + ".0.1/24"}, {}});
    state.settings.push_back(Spec("link.mtu", name, "4200"));
    state.settings.push_back(Spec("rail.address", name, "declared"));
    state.settings.push_back(Spec("rail.routing", name, "per-rail"));
    state.settings.push_back(Spec("sysctl.net.ipv4.conf.{netdev}.rp_filter", name, "2"));
    state.settings.push_back(Spec("sysctl.net.ipv4.conf.{netdev}.arp_ignore", name, "1"));
    state.settings.push_back(Spec("sysctl.net.ipv4.conf.{netdev}.arp_announce", name, "2"));
  }
  for (const char* name : {"net.ipv4.conf.all.arp_ignore", "net.ipv4.conf.all.arp_filter"})
    state.settings.push_back(Spec(std::string("sysctl.") + name, "", "1"));
  state.settings.push_back(Spec("sysctl.net.ipv4.conf.all.arp_announce", "", "2"));
  state.settings.push_back(Spec("sysctl.net.ipv4.conf.all.rp_filter", "", "2"));
  state.settings.push_back(Spec("sysctl.net.ipv4.conf.default.rp_filter", "", "2"));
  state.settings.push_back(Spec("firewall.rdma", "", "allow"));
  state.settings.push_back(Spec("limits.memlock", "", "unlimited"));
  for (const char* variable :
       {"NCCL_IB_TC", "NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT", "NCCL_IB_QPS_PER_CONNECTION"})
    state.settings.push_back(Spec(std::string("nccl.") + variable, "", "7"));
  for (const char* file : {"a", "b", "c", "d", "e", "f", "g"})
    state.settings.push_back(Spec(std::string("file./etc/modprobe.d/railwright-") + file + ".conf", "",
                                  "options dummy numdummies=0\n"));
  return state;
}

void PrivateWorld() {
  if (unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) Die("needs root (unshare): run tests/bench/run.sh as root");
  (void)mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  std::filesystem::create_directories("/run/railwright-bench");
  if (mount("tmpfs", "/run/railwright-bench", "tmpfs", 0, nullptr) != 0) Die("cannot mount a tmpfs");
  for (const char* folder : {"upper", "work", "state"})
    std::filesystem::create_directories(std::string("/run/railwright-bench/") + folder);
  if (mount("overlay", "/etc", "overlay", 0,
            "lowerdir=/etc,upperdir=/run/railwright-bench/upper,workdir=/run/railwright-bench/work") != 0)
    Die(std::string("cannot lay an overlay over /etc: ") + std::strerror(errno));
  if (mount("sysfs", "/sys", "sysfs", 0, nullptr) != 0) Die("cannot mount sysfs");
  for (const char* rail : {"rail0", "rail1"}) {
    const std::string peer = std::string("p") + rail;
    if (Run({"/usr/sbin/ip", "link", "add", rail, "mtu", "9000", "type", "veth", "peer", "name", peer, "mtu",
             "9000"}) != 0)
      Die("cannot make a veth pair");
    Run({"/usr/sbin/ip", "link", "set", rail, "up"});
    Run({"/usr/sbin/ip", "link", "set", peer, "up"});
  }
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) Die("usage: bench_scan AGENT BARE PROFILE.yaml");
  const std::string agent = argv[1], bare = argv[2], profile = argv[3];
  PrivateWorld();

  auto machine = MakeLinuxMachine();
  const Catalog catalog = MakeCatalog();
  const auto checks = MakeChecks();
  auto journal = OpenFileJournal("/run/railwright-bench/state/journal");
  if (!journal.ok()) Die(journal.status().ToString());
  const SystemClock clock;
  ReconcilerOptions options;
  options.scan_interval = std::chrono::hours(24);
  Reconciler reconciler(*machine, catalog, checks, **journal, clock, options);
  if (auto status = reconciler.Start(); !status.ok()) Die(status.ToString());
  const DesiredState state = ThirtySettings();
  if (auto status = reconciler.Accept(state); !status.ok()) Die(status.ToString());
  for (int i = 0; i < 20 && !reconciler.Report().settled; ++i) reconciler.Tick();
  int compliant = 0;
  for (const Finding& finding : reconciler.Report().findings) {
    if (finding.verdict == Verdict::kCompliant)
      ++compliant;
    else
      std::fprintf(stderr, "bench_scan: %s %s is %s: %s\n", finding.key.c_str(), finding.target.c_str(),
                   std::string(Name(finding.verdict)).c_str(), finding.message.c_str());
  }
  if (compliant < 30)
    Die("only " + std::to_string(compliant) + " of 30 settings are compliant: no no-op to measure");

  bench::RawReads raw(reconciler.WatchedPaths());
  for (const auto& path : raw.unknown())
    std::fprintf(stderr, "bench_scan: no raw read for %s (not counted)\n", path.c_str());

  // Alternating blocks, so that a drift of the machine's speed hits both alike.
  const std::uint64_t spawned_before = ProgramsSpawned();
  constexpr int kBlocks = 15, kRuns = 40;
  std::vector<double> resident, floor, ratio;
  std::uint64_t sum = 0;
  for (int block = 0; block < kBlocks; ++block) {
    double start = CpuSeconds(RUSAGE_SELF);
    for (int i = 0; i < kRuns; ++i) {
      reconciler.Refresh();
      reconciler.Tick();
    }
    resident.push_back((CpuSeconds(RUSAGE_SELF) - start) / kRuns * 1e6);
    start = CpuSeconds(RUSAGE_SELF);
    for (int i = 0; i < kRuns; ++i) sum += raw.Run();
    floor.push_back((CpuSeconds(RUSAGE_SELF) - start) / kRuns * 1e6);
    ratio.push_back(resident.back() / floor.back());
  }
  const std::uint64_t spawned = ProgramsSpawned() - spawned_before;
  if (sum == 0) Die("the raw reads read nothing");
  if (!reconciler.TakeChanges().empty() && reconciler.Report().verdict != Verdict::kCompliant)
    Die("the scans were no no-ops");

  // One-shot: the same 30 settings by a fresh process, beside a bare program.
  std::vector<double> oneshot, bare_cpu, oneshot_ratio;
  for (int round = 0; round < 12; ++round) {
    double start = CpuSeconds(RUSAGE_CHILDREN);
    const int rc = Run({agent, "check", "-f", profile, "-o", "json"});
    const double used = CpuSeconds(RUSAGE_CHILDREN) - start;
    start = CpuSeconds(RUSAGE_CHILDREN);
    if (Run({bare}) != 0) Die("the bare program failed");
    const double least = CpuSeconds(RUSAGE_CHILDREN) - start;
    if (round == 0 && rc != 0) {
      Run({agent, "check", "-f", profile, "-o", "table"}, false);
      Die("the one-shot check did not find everything compliant (exit " + std::to_string(rc) + ")");
    }
    if (round < 2) continue;  // page cache
    oneshot.push_back(used * 1e6);
    bare_cpu.push_back(least * 1e6);
    oneshot_ratio.push_back(used / least);
  }

  nlohmann::ordered_json out;
  out["benchmark"] = "scan";
  out["settings"] = compliant;
  out["files"] = raw.files();
  out["messages"] = raw.messages();
  out["unmatched_paths"] = raw.unknown().size();
  out["resident_us"] = Median(resident);
  out["raw_reads_us"] = Median(floor);
  out["resident_ratio"] = Median(ratio);
  out["oneshot_us"] = Median(oneshot);
  out["bare_us"] = Median(bare_cpu);
  out["oneshot_ratio"] = Median(oneshot_ratio);
  out["programs_spawned"] = spawned;
  std::printf("%s\n", out.dump(2).c_str());
  return 0;
}
