// railwright-controller: the wiring, and nothing else.
//
//   agents, railctl ──> Acceptor ──> gRPC ──┬─ AgentService ── messages ──> FleetCore ── reports, generations
//   ──> Store
//                                           │                  <── links ──     │ one thread: the fleet model
//                                           │ └─ AdminService ──> AdminDesk ──────┘ sole writer │
//                                                               │ two threads: reads, orders │ └── snapshots
//                                                               <── FleetCore,  history <───────────┘
//
// Two kinds of traffic between threads: a value posted into a queue, an immutable snapshot read.
#include <absl/synchronization/mutex.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "controller/audit_log.h"
#include "controller/rpc/descriptors.h"
#include "controller/rpc/rpc_server.h"
#include "controller/store/store.h"

namespace {

using namespace railwright;

struct Options {
  std::string state_dir, file, expect_head, log = "text";
  std::vector<std::string> listen;
  bool without_identity_or_encryption = false;
};

int Fail(const Status& status) {
  std::cerr << "railwright-controller: " << status.message() << "\n";
  return 1;
}

/// %v as the inside of a JSON string: messages hold quotes, line breaks and what agents said.
class JsonText final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    for (const char c : message.payload) {
      if (c == '"' || c == '\\') out.push_back('\\');
      if (c == '\n')
        out.append(std::string_view("\\n"));
      else
        out.push_back(static_cast<unsigned char>(c) < ' ' ? ' ' : c);
    }
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<JsonText>(); }
};

void LogTo(const std::string& format) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<JsonText>('*').set_pattern(
      format == "json" ? R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l","thread":%t,"message":"%*"})"
                       : "%Y-%m-%dT%H:%M:%S.%eZ %L %v");
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  spdlog::set_formatter(std::move(formatter));
}

int Init(const Options& options) {
  std::error_code error;
  std::filesystem::create_directories(options.state_dir, error);
  if (error) return Fail(FromErrno(error.value(), "cannot make the state directory " + options.state_dir));
  const bool there = LookForStore(options.state_dir) == StoreTrace::kThere;
  const auto store = OpenSqliteStore(options.state_dir);
  if (!store.ok()) return Fail(store.status());
  std::cout << (there ? "the store is there already and whole: " : "made an empty store: ")
            << options.state_dir << "/" << kStoreFile << "\nnext: railwright-controller serve --state-dir "
            << options.state_dir << "\n";
  return 0;
}

int Backup(const Options& options) {
  const Status status = BackupStore(options.state_dir, options.file);
  if (!status.ok()) return Fail(status);
  std::cout << "backed up to " << options.file << "\n";
  return 0;
}

int Restore(const Options& options) {
  const Status status = RestoreStore(options.state_dir, options.file);
  if (!status.ok()) return Fail(status);
  std::cout << "restored from " << options.file
            << "; the store before, if there was one, is kept beside it in " << options.state_dir << "\n";
  return 0;
}

constexpr int kUsage = 64;  // EX_USAGE

/// The addresses to listen on. A wrong one is a wrong command line, told before anything is opened.
Result<std::vector<Address>> Addresses(const Options& options) {
  std::vector<Address> addresses;
  for (const std::string& text : options.listen) {
    RW_RETURN_IF_ERROR(
        CheckPlaintextAddress(text, options.without_identity_or_encryption).Within("--listen"));
    RW_ASSIGN_OR_RETURN(addresses.emplace_back(), ParseAddress(text));
  }
  return addresses;
}

int Serve(const Options& options) {
  const auto addresses = Addresses(options);
  if (!addresses.ok()) {
    (void)Fail(addresses.status());
    return kUsage;
  }
  const rlimit descriptors = RaiseDescriptorLimit();
  // Blocked before any thread is made, so that all inherit it and sigwait below gets them.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGTERM);
  sigaddset(&stop_signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  LogTo(options.log);

  if (LookForStore(options.state_dir) == StoreTrace::kLost)
    return Fail(Status(Code::kDataLoss,
                       "state directory " + options.state_dir + " was used before, but its " + kStoreFile +
                           " is gone. Restore a backup: railwright-controller restore "
                           "FILE --state-dir " +
                           options.state_dir + "; or begin anew: railwright-controller init --state-dir " +
                           options.state_dir));

  const SystemClock clock;
  const CatalogDeclarations catalog;
  auto store = OpenSqliteStore(options.state_dir);
  if (!store.ok()) return Fail(store.status());
  FleetCore core(**store, clock, catalog);
  const Status loaded = core.Load();
  if (!loaded.ok())
    return Fail(Status(loaded.code(), loaded.message() +
                                          ". Restore a backup: railwright-controller restore FILE "
                                          "--state-dir " +
                                          options.state_dir));
  const std::string shortage = DescriptorShortage(core.view()->nodes.size(), descriptors);
  if (!shortage.empty()) spdlog::warn("{}", shortage);
  AdminDesk desk(core, **store, catalog, clock);
  RpcServer server(core, desk);

  for (const Address& address : *addresses) {
    const auto bound = server.Listen(address);
    if (!bound.ok()) return Fail(bound.status());
    spdlog::info("listening on {}", bound->ToString());
  }
  core.Start();
  const Status started = server.Start();
  if (!started.ok()) return Fail(started);
  spdlog::info("railwright-controller {} serves generation {} from {}", RAILWRIGHT_VERSION,
               core.view()->state->number(), options.state_dir);
  sd_notify(0, "READY=1");

  int signal_number = 0;
  sigwait(&stop_signals, &signal_number);
  spdlog::info("stopping on signal {}", signal_number);
  sd_notify(0, "STOPPING=1");
  server.Stop();
  spdlog::info("stopped; everything that was acknowledged is in the store");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Debian's abseil looks for lock cycles on each lock: 2.2 to 2.6 times the CPU of a connect without this.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  mallopt(M_TOP_PAD, 64 << 20);  // page faults of a growing heap were next in the profile
  mallopt(M_ARENA_MAX, 4);

  Options options;
  CLI::App app("Railwright's controller: keeps the desired state of a cluster and brings its nodes to it.");
  app.name("railwright-controller");
  app.set_version_flag("--version", std::string("railwright-controller ") + RAILWRIGHT_VERSION);
  app.require_subcommand(1);
  const auto with_state_dir = [&](CLI::App* command) {
    command->add_option("--state-dir", options.state_dir, "Directory of the store")
        ->required()
        ->type_name("DIR");
    return command;
  };
  auto* serve = with_state_dir(app.add_subcommand("serve", "Serve agents and operators until SIGTERM"));
  serve
      ->add_option("--listen", options.listen,
                   "unix:PATH, 127.0.0.1:PORT or [::1]:PORT; may be given more than once "
                   "(default unix:DIR/controller.sock)")
      ->type_name("ADDR");
  serve->add_option("--log", options.log, "Format of the log on stderr: text or json")
      ->check(CLI::IsMember({"text", "json"}));
  serve->add_flag(
      "--without-identity-or-encryption", options.without_identity_or_encryption,
      "Also listen on addresses other than loopback, where anybody who reaches them can give orders");
  auto* init = with_state_dir(app.add_subcommand("init", "Make the state directory and an empty store"));
  auto* backup =
      with_state_dir(app.add_subcommand("backup", "Copy the store, also one in use, to a new file"));
  backup->add_option("FILE", options.file, "File to make")->required();
  auto* restore = with_state_dir(
      app.add_subcommand("restore", "Put a backup in the place of the store; the old one is kept beside it"));
  restore->add_option("FILE", options.file, "Backup to restore")->required();
  auto* audit_log = app.add_subcommand("audit-log", "The audit of a store, without a controller");
  audit_log->require_subcommand(1);
  auto* verify = audit_log->add_subcommand(
      "verify", "Recompute the chain of the audit, also of a store in use; exit 2 names the first bad row");
  with_state_dir(verify)
      ->add_option("--expect-head", options.expect_head, "A head noted earlier: the audit must go through it")
      ->type_name("ID:HASH");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return code == 0 ? 0 : kUsage;  // 0 is --help and --version
  }
  while (options.state_dir.size() > 1 && options.state_dir.back() == '/') options.state_dir.pop_back();
  if (options.listen.empty()) options.listen = {"unix:" + options.state_dir + "/controller.sock"};
  if (*init) return Init(options);
  if (*backup) return Backup(options);
  if (*restore) return Restore(options);
  if (*verify) return static_cast<int>(VerifyAuditLog(options.state_dir, options.expect_head));
  (void)serve;
  return Serve(options);
}
