// railwright-agent-run: the running agent. This file is its diagram.
//
//   kernel ──hints──▶ ┌───────────┐ ──reads, writes──▶ machine
//   paused.json ────▶ │   loop    │ ──originals──────▶ journal
//   signals ────────▶ │ (main     │ ──state, history─▶ state directory
//                     │  thread)  │
//            inbox ─▶ └───────────┘ ─▶ session (its own thread, and gRPC's) ⇄ controller
//
// Nothing reaches anything except through what it is handed here.
#include <absl/synchronization/mutex.h>
#include <grpc/grpc.h>
#include <unistd.h>

#include <iostream>
#include <memory>

#include "agent/journal/file_journal.h"
#include "agent/loop/files.h"
#include "agent/loop/node_agent.h"
#include "agent/loop/poll_loop.h"
#include "agent/loop/run_options.h"
#include "agent/machine/linux_machine.h"
#include "agent/probes/echo_probe.h"
#include "agent/reconcile/reconciler.h"
#include "agent/session/route.h"
#include "agent/session/session.h"
#include "agent/tools/tools.h"

namespace railwright {
namespace {

std::string BootId() {
  std::string id = ReadWhole("/proc/sys/kernel/random/boot_id", 128).value_or("");
  while (id.ends_with('\n')) id.pop_back();
  return id;
}

Status Run(const RunOptions& options, const Log& log) {
  RW_RETURN_IF_ERROR(BlockSignals());
  RW_ASSIGN_OR_RETURN(const StateDir state_dir, StateDir::Open(options.state_dir));
  RW_ASSIGN_OR_RETURN(const auto journal, OpenFileJournal(state_dir.journal()));
  RW_ASSIGN_OR_RETURN(const Bell bell, Bell::Make());

  const SystemClock clock;
  const Catalog catalog = MakeCatalog();
  const auto checks = MakeChecks();
  const std::unique_ptr<Machine> machine =
      MakeLinuxMachine({.firmware_in_background = true, .firmware_kept = options.firmware_interval});
  std::vector<std::string> missing;
  RW_ASSIGN_OR_RETURN(const auto hints, MakeLinuxHints(&missing));
  for (const std::string& source : missing)
    log(LogLevel::kWarning, "no events from " + source + "; scans find those");

  // session → loop: everything that the controller says. The bell wakes the loop.
  Queue<FromController> inbox([&bell] { bell.Ring(); }, InboxBound());

  NodeAgentOptions about;
  about.node = options.node;
  about.version = RAILWRIGHT_VERSION;
  about.controller = options.controller;
  about.boot_id = BootId();
  about.management_netdev = options.management_netdev;
  about.missing_hints = missing;
  ReconcilerOptions reconciler;
  reconciler.scan_interval = options.scan_interval;
  reconciler.boot_id = about.boot_id;
  reconciler.seed = std::hash<std::string>{}(options.node + about.boot_id);
  SessionOptions dial;
  dial.controller = options.controller;
  dial.node = options.node;
  dial.version = RAILWRIGHT_VERSION;
  dial.without_identity_or_encryption = options.without_identity_or_encryption;
  about.heartbeat = dial.heartbeat;

  Supervisor supervisor;
  supervisor.Starting(options.node + ": the first pass runs", options.node + ": the first pass still runs");

  const auto peers = MakeEchoProbe();

  // loop → session: reports, answers. The session is made after the agent and goes before it.
  std::unique_ptr<Session> session;
  NodeAgent agent(
      about, reconciler,
      {*machine, catalog, checks, *journal, state_dir, clock,
       [&session](ToController message) {
         if (session != nullptr) session->Send(std::move(message));
       },
       [&session] { return session == nullptr ? std::string("not started") : session->StateText(); },
       [](int pid) { return pid == ::getpid() || IsOurTool(pid); }, log,
       [&supervisor, &clock] { supervisor.Alive(clock.Now()); }, NetdevTowards,
       [&session] { return session == nullptr ? std::uint64_t{0} : session->Redial(); }, peers.get()});
  RW_RETURN_IF_ERROR(agent.Start());
  session = std::make_unique<Session>(
      dial, [&agent] { return agent.Hello(); }, inbox, [&bell] { bell.Ring(); });
  RW_RETURN_IF_ERROR(session->Start());

  log(LogLevel::kInfo, "railwright-agent " RAILWRIGHT_VERSION " runs " + options.node + ", controller " +
                           options.controller + ", state in " + options.state_dir);
  const auto ended = RunLoop({agent, *hints, inbox, bell, state_dir, supervisor, clock, log});
  supervisor.Stopping();
  const Status stopped = agent.Stop();
  session.reset();
  RW_RETURN_IF_ERROR(ended.status());
  RW_RETURN_IF_ERROR(stopped);
  log(LogLevel::kInfo, "ended by signal " + std::to_string(*ended) + "; what is enforced stays as it is");
  return Ok();
}

}  // namespace
}  // namespace railwright

int main(int argc, char** argv) {
  using namespace railwright;
  // Before anything of gRPC: its lock-order graph costs more than all that an idle agent does.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const auto parsed = ParseRunOptions({argv + std::min(argc, 1), argv + argc});
  if (const auto* text = std::get_if<RunText>(&parsed)) {
    (text->code == ExitCode::kDone ? std::cout : std::cerr) << text->text;
    return static_cast<int>(text->code);
  }
  const Log log = StandardErrorLog();
  const Status status = Run(std::get<RunOptions>(parsed), log);
  if (status.ok()) return static_cast<int>(ExitCode::kDone);
  log(LogLevel::kError, status.message());
  return static_cast<int>(status.code() == Code::kPermissionDenied ? ExitCode::kNotPermitted
                                                                   : ExitCode::kFailed);
}
