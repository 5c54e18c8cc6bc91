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

#include "agent/identity/identity_files.h"
#include "agent/journal/file_journal.h"
#include "agent/loop/files.h"
#include "agent/loop/node_agent.h"
#include "agent/loop/poll_loop.h"
#include "agent/loop/run_options.h"
#include "agent/machine/linux_machine.h"
#include "agent/reconcile/reconciler.h"
#include "agent/session/identity_way.h"
#include "agent/session/renewal.h"
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
  RW_ASSIGN_OR_RETURN(const FrontIdentity me, LoadFrontIdentity(options.state_dir));
  if (!options.node.empty() && options.node != me.node)
    return Status(Code::kFailedPrecondition,
                  "this node joined as " + me.node + ", not as " + options.node +
                      "; leave --name out, or join again: railwright-agent join --again");
  const std::string controller = me.controllers.empty() ? "" : me.controllers.front().Text();
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
  about.node = me.node;
  about.version = RAILWRIGHT_VERSION;
  about.controller = controller;
  about.boot_id = BootId();
  about.management_netdev = options.management_netdev;
  about.missing_hints = missing;
  ReconcilerOptions reconciler;
  reconciler.scan_interval = options.scan_interval;
  reconciler.boot_id = about.boot_id;
  reconciler.seed = std::hash<std::string>{}(me.node + about.boot_id);
  SessionOptions dial;
  dial.way = [way = std::make_shared<IdentityWay>(options.state_dir)] { return way->Next(); };
  dial.node = me.node;
  dial.version = RAILWRIGHT_VERSION;
  about.heartbeat = dial.heartbeat;

  Supervisor supervisor;
  supervisor.Starting(me.node + ": the first pass runs", me.node + ": the first pass still runs");

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
       [&options] { return LoadNodeTrust(options.state_dir); }});
  RW_RETURN_IF_ERROR(agent.Start());
  session = std::make_unique<Session>(
      dial, [&agent] { return agent.Hello(); }, inbox, [&bell] { bell.Ring(); });
  RW_RETURN_IF_ERROR(session->Start());
  Renewal renewal({options.state_dir,
                   [way = std::make_shared<IdentityWay>(options.state_dir)] { return way->Next(); },
                   {},
                   [&log](const std::string& text) { log(LogLevel::kInfo, text); }});

  log(LogLevel::kInfo, "railwright-agent " RAILWRIGHT_VERSION " runs " + me.node + ", controller " +
                           controller + ", state in " + options.state_dir);
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
