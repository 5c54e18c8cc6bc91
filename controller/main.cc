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
#include <grpc/support/log.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <optional>

#include "controller/audit_log.h"
#include "controller/enrol/enrolment_port.h"
#include "controller/identity/controller_identity.h"
#include "controller/identity/registry.h"
#include "controller/rpc/descriptors.h"
#include "controller/rpc/host_names.h"
#include "controller/rpc/rpc_server.h"
#include "controller/rpc/self_probe.h"
#include "controller/sign/state_signer.h"
#include "controller/store/store.h"

namespace {

using namespace railwright;

struct Options {
  std::string state_dir, file, expect_head, log = "text", cluster, enrol;
  std::vector<std::string> listen, names;
};

int Fail(const Status& status) {
  std::cerr << "railwright-controller: " << status.message() << "\n";
  return 1;
}

/// What gRPC has to say (a stranger's handshake that failed, for one) goes into our log, and not more than
/// ten lines a minute of it: strangers must not be able to fill a disk.
void TakeGrpcLog() {
  gpr_set_log_function([](gpr_log_func_args* said) {
    static std::mutex mutex;
    static std::chrono::steady_clock::time_point since{};
    static int lines = 0;
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex);
    if (now - since >= std::chrono::minutes(1)) {
      since = now;
      lines = 0;
    }
    if (++lines <= 10) spdlog::info("gRPC: {}", said->message);
  });
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
            << options.state_dir << "/" << kStoreFile << "\n";
  auto identity = ControllerIdentity::Load(options.state_dir);
  if (identity.status().code() == Code::kNotFound) {
    const auto cluster = identity::ClusterName::Parse(options.cluster);
    if (!cluster.ok()) return Fail(cluster.status().Within("--cluster"));
    std::vector<identity::ServerName> names;
    for (const std::string& text : options.names) {
      auto name = identity::ServerName::Parse(text);
      if (!name.ok()) return Fail(name.status().Within("--name"));
      names.push_back(std::move(*name));
    }
    identity = ControllerIdentity::Make(options.state_dir, *cluster, names.empty() ? HostNames() : names,
                                        std::chrono::system_clock::now());
    if (identity.ok())
      std::cout << "made a CA for cluster " << cluster->text() << ": " << identity->ca_pin().Text()
                << "\n  its key never leaves " << options.state_dir << "/" << ControllerIdentity::kFolder
                << "; keep a copy where only you can read it\n";
  } else if (identity.ok()) {
    std::cout << "its CA is there already: " << identity->ca_pin().Text() << "\n";
  }
  if (!identity.ok()) return Fail(identity.status());
  std::cout << "agents and operators may dial it as:";
  for (const identity::ServerName& name : identity->names()) std::cout << " " << name.text();
  std::cout << "\nnext: railwright-controller serve --state-dir " << options.state_dir
            << " --listen '[::]:7443' --enrol '[::]:7444'\n";
  return 0;
}

int Backup(const Options& options) {
  const Status status = BackupStore(options.state_dir, options.file);
  if (!status.ok()) return Fail(status);
  std::cout << "backed up to " << options.file << "\n"
            << "The keys are not in it: keep a copy of " << options.state_dir
            << "/identity where only you can read it; without them every node joins anew\n";
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
    auto address = ParseAddress(text);
    if (!address.ok()) return address.status().Within("--listen");
    addresses.push_back(std::move(*address));
  }
  return addresses;
}

/// Where agents and operators dial it: its first name, at the ports that it listens on.
std::vector<identity::Endpoint> Served(const identity::ServerName& name,
                                       const std::vector<Address>& addresses) {
  std::vector<identity::Endpoint> served;
  for (const Address& address : addresses)
    if (address.kind == Address::Kind::kTcp) served.push_back({name, address.port});
  return served;
}

/// Where the probe dials: the first port that strangers can reach, as this host reaches it.
Address ProbedAddress(const std::vector<Address>& addresses) {
  for (Address address : addresses) {
    if (address.kind != Address::Kind::kTcp) continue;
    if (address.host == "0.0.0.0") address.host = "127.0.0.1";
    if (address.host == "::") address.host = "::1";
    return address;
  }
  return addresses.front();
}

/// systemd ends and starts this process when the probe stays unanswered for WatchdogSec.
void FeedWatchdog(const Status& status, int misses) {
  if (status.ok())
    sd_notify(0, "WATCHDOG=1");
  else
    spdlog::error("this controller does not answer its own call ({} in a row): {}", misses, status.message());
}

/// What must be looked at from time to time: the controller's own certificate.
void KeepFresh(ControllerIdentity& identity, EnrolmentPort& enrolment, const Clock& clock) {
  const auto renewed = identity.RenewIfDue(clock.WallNow());
  if (!renewed.ok()) return spdlog::error("the controller's certificate: {}", renewed.status().message());
  if (!*renewed) return;
  const Status shown = enrolment.Show(identity);
  spdlog::info("the controller's certificate was renewed{}", shown.ok() ? "" : ": " + shown.message());
}

int Serve(const Options& options) {
  const auto addresses = Addresses(options);
  std::optional<identity::Endpoint> enrol;
  if (!options.enrol.empty()) {
    auto parsed = identity::Endpoint::Parse(options.enrol);
    if (!parsed.ok()) {
      (void)Fail(parsed.status().Within("--enrol"));
      return kUsage;
    }
    enrol = std::move(*parsed);
  }
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
  TakeGrpcLog();

  if (LookForStore(options.state_dir) == StoreTrace::kLost)
    return Fail(Status(Code::kDataLoss,
                       "state directory " + options.state_dir + " was used before, but its " + kStoreFile +
                           " is gone. Restore a backup: railwright-controller restore "
                           "FILE --state-dir " +
                           options.state_dir + "; or begin anew: railwright-controller init --state-dir " +
                           options.state_dir));

  const SystemClock clock;
  const CatalogDeclarations catalog;
  auto store = OpenStateStore(options.state_dir);
  if (!store.ok()) return Fail(store.status());
  auto identity = ControllerIdentity::Load(options.state_dir);
  if (!identity.ok()) return Fail(identity.status());
  if (const auto renewed = identity->RenewIfDue(clock.WallNow()); !renewed.ok())
    return Fail(renewed.status());

  Registry registry(**store, *identity->issuer(), clock);
  if (const Status known = registry.Load(); !known.ok()) return Fail(known);

  // Who signs what the nodes get.
  const std::string restore_hint =
      ". Restore a backup: railwright-controller restore FILE --state-dir " + options.state_dir;
  const auto statements = OpenSqliteStatements(options.state_dir);
  if (!statements.ok()) return Fail(statements.status());
  StateSigner signer(
      {.cluster = identity->cluster(), .signers = identity->signers(), .key = identity->signer()},
      **statements, clock, [&registry](const std::string& node) {
        const auto member = registry.Find(MemberKind::kNode, node);
        return member.ok() ? member->uuid : std::string();
      });
  if (const Status known = signer.Load(); !known.ok())
    return Fail(Status(known.code(), known.message() + restore_hint));
  if (identity->signer() == nullptr)
    spdlog::info("the signing key is not on this host: generations wait for railctl sign");
  FleetOptions fleet;
  fleet.endorser = &signer;
  FleetCore core(**store, clock, catalog, fleet);
  const Status loaded = core.Load();
  if (!loaded.ok()) return Fail(Status(loaded.code(), loaded.message() + restore_hint));
  const std::string shortage = DescriptorShortage(core.view()->nodes.size(), descriptors);
  if (!shortage.empty()) spdlog::warn("{}", shortage);
  AdminDesk desk(core, **store, catalog, clock);

  // Who may come in: the CA's word, what the registry makes of it, and the role that each call needs.
  SelfProbe probe(*identity->issuer(), {ProbedAddress(*addresses), identity->names().front(),
                                        std::chrono::seconds(10), std::chrono::seconds(5), FeedWatchdog});
  Door door(
      identity->cluster(), [roots = identity->roots()] { return roots; },
      [&registry, &probe](const identity::Peer& peer) {
        return probe.IsMine(peer) ? SelfProbe::AsCaller(peer) : registry.Judge(peer);
      },
      clock);
  std::vector<identity::Endpoint> joins;
  if (enrol) joins.push_back({identity->names().front(), enrol->port});
  EnrolmentPort enrolment(registry, clock,
                          {enrol ? std::vector{*enrol} : std::vector<identity::Endpoint>(),
                           Served(identity->names().front(), *addresses), joins});
  if (const Status shown = enrolment.Show(*identity); !shown.ok()) return Fail(shown);
  Members members(registry,
                  {joins.empty() ? "" : joins.front().Text(), identity->ca_pin(), identity->roots_pem()});
  RpcServer server(core, desk, members, door);
  door.OnRefused([&desk](const Caller& caller, std::string_view method, const Status& why) {
    desk.NoteRefused(caller, method, why);
  });
  registry.OnRefused([&desk](const AuditRow& row) { desk.Note(row); });
  registry.OnCut([&server](MemberKind kind, const std::string& name, const std::string& why) {
    server.Cut(kind, name, why);
  });

  for (const Address& address : *addresses) {
    const auto bound = server.Listen(address);
    if (!bound.ok()) return Fail(bound.status());
    spdlog::info("listening on {}", bound->ToString());
  }
  core.Start();
  const Status started = server.Start({identity->key_file(), identity->chain_file(), identity->roots_file()});
  if (!started.ok()) return Fail(started);
  if (enrol)
    if (const Status open = enrolment.Start(); !open.ok()) return Fail(open);
  spdlog::info("railwright-controller {} serves generation {} from {}", RAILWRIGHT_VERSION,
               core.view()->state->number(), options.state_dir);
  sd_notify(0, "READY=1");
  probe.Start();

  int signal_number = -1;
  while (signal_number < 0) {
    constexpr timespec kUpkeep{600, 0};
    signal_number = sigtimedwait(&stop_signals, nullptr, &kUpkeep);
    KeepFresh(*identity, enrolment, clock);
  }
  spdlog::info("stopping on signal {}", signal_number);
  sd_notify(0, "STOPPING=1");
  enrolment.Stop();
  members.Stop();
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
                   "HOST:PORT, where agents and operators show certificates, or unix:PATH, for root on this "
                   "host; may be "
                   "given more than once (without a unix:PATH also unix:DIR/controller.sock)")
      ->type_name("ADDR");
  serve->add_option("--log", options.log, "Format of the log on stderr: text or json")
      ->check(CLI::IsMember({"text", "json"}));
  serve
      ->add_option("--enrol", options.enrol,
                   "HOST:PORT where nodes and operators join; it listens only while a token lives")
      ->type_name("ADDR");
  auto* init = with_state_dir(
      app.add_subcommand("init", "Make the state directory: an empty store, a CA, a key that signs"));
  init->add_option("--cluster", options.cluster, "Name of the cluster, a-z 0-9 -")
      ->default_val("railwright")
      ->type_name("NAME");
  init->add_option(
          "--name", options.names,
          "A name or address by which it is dialled, the one for join lines first; may be given more than "
          "once (default: this host's name and addresses)")
      ->type_name("HOST");
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
  const std::string own = "unix:" + options.state_dir + "/controller.sock";
  if (std::none_of(options.listen.begin(), options.listen.end(),
                   [](const std::string& text) { return text.starts_with("unix:"); }))
    options.listen.insert(options.listen.begin(), own);
  if (*init) return Init(options);
  if (*backup) return Backup(options);
  if (*restore) return Restore(options);
  if (*verify) return static_cast<int>(VerifyAuditLog(options.state_dir, options.expect_head));
  (void)serve;
  return Serve(options);
}
