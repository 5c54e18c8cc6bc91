// How long a change takes to reach many agents and come back stored.
//
//   push [--agents N] [--rounds N] [--controller PATH]
//
// A real railwright-controller (SQLite, synchronous=FULL) as a process of its own, and N agents simulated in
// this one, each with a connection of its own over a Unix socket. A state is about 8 KiB, a report about 1
// KiB. Prints one JSON object. Figures are of both ends on the same cores; `controller_cpu_us_per_node` is
// the one that carries over.
#include <absl/synchronization/mutex.h>
#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "core/wire/wire.h"
#include "railwright/v1/admin.grpc.pb.h"
#include "railwright/v1/agent.grpc.pb.h"

extern char** environ;

namespace {

using namespace railwright;
using Clock = std::chrono::steady_clock;

double Since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Counts up to a number and wakes the one who waits for it.
class Counter {
 public:
  void Reset() {
    std::lock_guard lock(mutex_);
    count_ = 0;
  }
  void Up() {
    std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  bool Await(int wanted, std::chrono::seconds patience = std::chrono::seconds(120)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return count_ >= wanted; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

Counter welcomed, acknowledged, done;

/// Reports once for each state that it is sent.
class SimulatedAgent final : public grpc::ClientBidiReactor<v1::AgentMessage, v1::ControllerMessage> {
 public:
  SimulatedAgent(const std::string& address, std::string node, std::string state_hash,
                 std::uint64_t generation)
      : node_(std::move(node)), hash_(std::move(state_hash)), generation_(generation) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    channel_ = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
    stub_ = v1::AgentService::NewStub(channel_);
    context_.set_wait_for_ready(true);
    stub_->async()->Connect(&context_, this);
    v1::AgentMessage message;
    auto& hello = *message.mutable_hello();
    hello.set_node(node_);
    hello.set_version(RAILWRIGHT_VERSION);
    hello.set_wire(kWire);
    hello.set_wire_min(kWireMin);
    hello.mutable_features()->Assign(WireFeatures().begin(), WireFeatures().end());
    hello.set_boot_id("bench");
    hello.set_state_hash(hash_);
    hello.set_generation(generation_);
    Send(std::move(message));
    StartRead(&incoming_);
    StartCall();
  }
  void Stop() { context_.TryCancel(); }
  const std::string& hash() const { return hash_; }
  std::uint64_t generation() const { return generation_; }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    if (incoming_.has_welcome()) welcomed.Up();
    if (incoming_.has_report_ack() && incoming_.report_ack().sequence() == sequence_) acknowledged.Up();
    if (incoming_.has_desired()) {
      hash_ = incoming_.desired().hash();
      generation_ = incoming_.desired().generation();
      v1::AgentMessage message;
      auto& report = *message.mutable_report();
      report.set_sequence(++sequence_);
      report.set_generation(generation_);
      report.set_state_hash(hash_);
      report.set_full(true);
      report.set_hash(std::string(64, 'a'));
      report.set_verdict(v1::VERDICT_COMPLIANT);
      report.set_settled(true);
      for (int i = 0; i < 4; ++i) {
        auto& finding = *report.add_findings();
        finding.set_code("RW-1101");
        finding.set_key("link.mtu");
        finding.set_target("rail" + std::to_string(i));
        finding.set_desired("4200");
        finding.set_observed("4200");
        finding.set_verdict(v1::VERDICT_COMPLIANT);
        finding.add_evidence(std::string(150, 'e'));
      }
      Send(std::move(message));
    }
    StartRead(&incoming_);
  }
  void OnWriteDone(bool ok) override {
    std::lock_guard lock(mutex_);
    outgoing_.pop_front();
    if (ok && !outgoing_.empty()) StartWrite(&outgoing_.front());
  }
  void OnDone(const grpc::Status&) override { done.Up(); }

 private:
  /// The answer to a message may be read before its own OnWriteDone is called, so the next one may have to
  /// wait.
  void Send(v1::AgentMessage message) {
    std::lock_guard lock(mutex_);
    outgoing_.push_back(std::move(message));
    if (outgoing_.size() == 1) StartWrite(&outgoing_.front());
  }
  const std::string node_;
  std::string hash_;
  std::uint64_t generation_, sequence_ = 0;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::AgentService::Stub> stub_;
  grpc::ClientContext context_;
  std::mutex mutex_;
  std::deque<v1::AgentMessage> outgoing_;  ///< the first is being written
  v1::ControllerMessage incoming_;
};

class Controller {
 public:
  Controller(std::string program, std::string directory)
      : program_(std::move(program)), directory_(std::move(directory)) {
    Start();
  }
  ~Controller() { End(SIGTERM); }
  void Start() {
    // Through setpriv, so that no controller outlives a benchmark that was killed.
    std::vector<std::string> words{"/usr/bin/setpriv", "--pdeathsig", "KILL", program_, "serve",
                                   "--state-dir",      directory_};
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, (directory_ + "/log").c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) {
      std::fprintf(stderr, "push: cannot start %s\n", program_.c_str());
      std::exit(1);
    }
    posix_spawn_file_actions_destroy(&actions);
  }
  void End(int signal) {
    if (pid_ < 0) return;
    kill(pid_, signal);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  std::string address() const { return "unix:" + directory_ + "/controller.sock"; }
  /// User and system time so far, seconds.
  double Cpu() const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/stat");
    std::string line;
    std::getline(in, line);
    std::istringstream fields(line.substr(line.rfind(')') + 2));
    std::string skip;
    for (int i = 0; i < 11; ++i) fields >> skip;
    double user = 0, system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  double RssKiB() const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/statm");
    double size = 0, resident = 0;
    in >> size >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
  }

 private:
  const std::string program_, directory_;
  pid_t pid_ = -1;
};

std::string Site(int agents, int round) {
  std::ostringstream yaml;
  yaml << "kind: Cluster\nname: bench\nnodes:\n  - {name: \"n[00001-"
       << std::string(5 - std::to_string(agents).size(), '0') << agents << "]\", role: gpu}\nports:\n"
       << "  - {name: rail0, select: {netdev: rail0}, role: fabric, address: \"10.0.0.0/8\"}\n";
  std::string text = yaml.str();
  text.replace(text.find("10.0.0.0/8"), 10, "fd00::{index}/64");
  text +=
      "---\nkind: Profile\nname: base\nfor: {role: gpu}\nmode: enforce\nsettings:\n  link.mtu: {fabric: " +
      std::to_string(4200 + round) + "}\n";
  for (int i = 0; i < 60; ++i)
    text += "  nccl.NCCL_BENCH_" + std::to_string(i) + ": " + std::string(64, 'v') + "\n";
  // What is measured is the way to every node, not how long a wave must hold.
  return text +
         "---\nkind: RolloutPolicy\nname: at-once\nwaves: [all]\nsoak: 0s\nmax_unavailable: 100%\n"
         "max_failed: 100%\nbreaker: 100%\n";
}

double Apply(const std::string& address, const std::string& yaml) {
  auto stub = v1::AdminService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  v1::ApplyRequest request;
  auto* file = request.add_files();
  file->set_name("bench.yaml");
  file->set_text(yaml);
  const auto begin = Clock::now();
  auto reader = stub->Apply(&context, request);
  v1::ApplyEvent event;
  while (reader->Read(&event)) {
  }
  const auto status = reader->Finish();
  if (!status.ok()) {
    std::fprintf(stderr, "push: apply: %s\n", status.error_message().c_str());
    std::exit(1);
  }
  return Since(begin);
}

std::string NameOf(int index) {
  char name[16];
  std::snprintf(name, sizeof name, "n%05d", index % 100'000);
  return name;
}

void Need(bool reached, const char* what) {
  if (reached) return;
  std::fprintf(stderr, "push: not within two minutes: %s\n", what);
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  int agents = 1000, rounds = 5;
  std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "railwright-controller";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--agents")) agents = std::atoi(argv[i + 1]);
    if (!std::strcmp(argv[i], "--rounds")) rounds = std::atoi(argv[i + 1]);
    if (!std::strcmp(argv[i], "--controller")) program = argv[i + 1];
  }
  if (argc % 2 == 0 || agents < 1 || agents > 50'000 || rounds < 1) {
    std::fprintf(stderr, "usage: push [--agents 1…50000] [--rounds N] [--controller PATH]\n");
    return 64;
  }
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);

  std::string directory = "/tmp/railwright-push-XXXXXX";
  if (!mkdtemp(directory.data())) return 1;
  {
    Controller controller(program, directory);
    const double resolve = Apply(controller.address(), Site(agents, 0));
    const double rss_before = controller.RssKiB();
    double cpu = controller.Cpu();
    auto begin = Clock::now();
    std::vector<std::unique_ptr<SimulatedAgent>> fleet;
    for (int i = 1; i <= agents; ++i)
      fleet.push_back(std::make_unique<SimulatedAgent>(controller.address(), NameOf(i), "", 0));
    Need(acknowledged.Await(agents), "every agent connected, sent its state and its report stored");
    const double join = Since(begin), join_cpu = controller.Cpu() - cpu;
    const double rss = controller.RssKiB();

    double best = 1e9, total = 0, push_cpu = 0, apply_only = 0;
    for (int round = 1; round <= rounds; ++round) {
      acknowledged.Reset();
      cpu = controller.Cpu();
      begin = Clock::now();
      apply_only += Apply(controller.address(), Site(agents, round));
      Need(acknowledged.Await(agents), "every agent sent the change and its report stored");
      const double took = Since(begin);
      best = std::min(best, took);
      total += took;
      push_cpu += controller.Cpu() - cpu;
    }

    // kill -9, and everybody comes back with the state that it has.
    std::vector<std::pair<std::string, std::uint64_t>> known;
    for (const auto& agent : fleet) known.emplace_back(agent->hash(), agent->generation());
    controller.End(SIGKILL);
    Need(done.Await(agents), "every stream ended with the controller");
    fleet.clear();
    welcomed.Reset();
    done.Reset();
    controller.Start();
    begin = Clock::now();
    for (int i = 1; i <= agents; ++i) {
      const auto& [hash, generation] = known[static_cast<std::size_t>(i - 1)];
      fleet.push_back(std::make_unique<SimulatedAgent>(controller.address(), NameOf(i), hash, generation));
    }
    Need(welcomed.Await(agents), "every agent welcomed again");
    const double rejoin = Since(begin);
    for (const auto& agent : fleet) agent->Stop();
    Need(done.Await(agents), "every stream cancelled");

    std::printf(
        "{\"agents\": %d, \"first_apply_s\": %.3f, \"join_s\": %.3f, \"join_controller_cpu_us_per_node\": "
        "%.0f, "
        "\"rss_kib_per_agent\": %.1f, \"push_best_s\": %.3f, \"push_mean_s\": %.3f, \"apply_call_mean_s\": "
        "%.3f, "
        "\"push_controller_cpu_us_per_node\": %.0f, \"rejoin_after_kill_s\": %.3f}\n",
        agents, resolve, join, join_cpu * 1e6 / agents, (rss - rss_before) / agents, best, total / rounds,
        apply_only / rounds, push_cpu * 1e6 / agents / rounds, rejoin);
  }
  std::error_code error;
  std::filesystem::remove_all(directory, error);
  return 0;
}
