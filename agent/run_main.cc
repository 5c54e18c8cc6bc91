// railwright-agent-run: the privileged half of the agent. This file is its diagram.
//
//   kernel ──hints──▶ ┌───────────┐ ──reads, writes──▶ machine
//   paused.json ────▶ │   loop    │ ──originals──────▶ journal
//   signals ────────▶ │ (main     │ ──state, history─▶ state directory
//                     │  thread)  │
//            inbox ─▶ └───────────┘ ─▶ gate (its own thread) ⇄ railwright-agent-front ⇄ controller
//
// It opens no network socket. What comes through the gate was written by a half that may be somebody else's
// by now. Nothing reaches anything except through what it is handed here.
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "agent/gate/front_options.h"
#include "agent/gate/front_socket.h"
#include "agent/gate/front_user.h"
#include "agent/gate/gate.h"
#include "agent/gate/spawned_front.h"
#include "agent/identity/identity_files.h"
#include "agent/journal/file_journal.h"
#include "agent/loop/node_agent.h"
#include "agent/loop/poll_loop.h"
#include "agent/loop/route.h"
#include "agent/loop/run_options.h"
#include "agent/machine/linux_machine.h"
#include "agent/reconcile/reconciler.h"
#include "agent/tools/tools.h"
#include "core/files/whole_file.h"

namespace railwright {
namespace {

std::string BootId() {
  std::string id = ReadWhole("/proc/sys/kernel/random/boot_id", 128).value_or("");
  while (id.ends_with('\n')) id.pop_back();
  return id;
}

// Where the front comes from: started here, or kept running by a unit of its own.
Result<std::unique_ptr<gate::Door>> MakeDoor(const RunOptions& options, const Log& log) {
  RW_ASSIGN_OR_RETURN(gate::FrontUser user, gate::FindFrontUser(options.front_user));
  if (::geteuid() == 0) RW_RETURN_IF_ERROR(GiveFront(options.state_dir, user.uid, user.gid));
  const auto told = [log](const std::string& line) { log(LogLevel::kWarning, line); };
  if (!options.front_socket.empty())
    return gate::ListenForFront(options.front_socket, user, {.first = std::chrono::seconds(1)}, told);
  gate::FrontOptions front;
  front.state_dir = std::filesystem::absolute(options.state_dir).string();
  gate::SpawnOptions spawn;
  RW_ASSIGN_OR_RETURN(spawn.program, gate::FindFront());
  spawn.words = front.Words();
  spawn.user = std::move(user);
  spawn.told = told;
  spawn.ended_in_order = [log] {
    log(LogLevel::kInfo, "the half that talks to the network was ended; so does this one");
    ::kill(::getpid(), SIGTERM);
  };
  return gate::MakeSpawnedFront(std::move(spawn));
}

Status Run(const RunOptions& options, const Log& log) {
  RW_RETURN_IF_ERROR(BlockSignals());
  RW_ASSIGN_OR_RETURN(const NodeTrust me, LoadNodeTrust(options.state_dir));
  if (!options.node.empty() && options.node != me.node)
    return Status(Code::kFailedPrecondition,
                  "this node joined as " + me.node + ", not as " + options.node +
                      "; leave --name out, or join again: railwright-agent join --again");
  // For people, and for the route there before it is reached: nothing is believed for it.
  const auto front = LoadFrontIdentity(options.state_dir);
  const std::string controller =
      front.ok() && !front->controllers.empty() ? front->controllers.front().Text() : "";
  RW_ASSIGN_OR_RETURN(const StateDir state_dir, StateDir::Open(options.state_dir));
  RW_ASSIGN_OR_RETURN(const auto journal, OpenFileJournal(state_dir.journal()));
  RW_ASSIGN_OR_RETURN(const Bell bell, Bell::Make());
  RW_ASSIGN_OR_RETURN(std::unique_ptr<gate::Door> door, MakeDoor(options, log));

  const SystemClock clock;
  const Catalog catalog = MakeCatalog();
  const auto checks = MakeChecks();
  const std::unique_ptr<Machine> machine =
      MakeLinuxMachine({.firmware_in_background = true, .firmware_kept = options.firmware_interval});
  std::vector<std::string> missing;
  RW_ASSIGN_OR_RETURN(const auto hints, MakeLinuxHints(&missing));
  for (const std::string& source : missing)
    log(LogLevel::kWarning, "no events from " + source + "; scans find those");

  // gate → loop: everything that the controller says. The bell wakes the loop.
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
  Supervisor supervisor;
  supervisor.Starting(me.node + ": the first pass runs", me.node + ": the first pass still runs");

  gate::Neighbours neighbours;

  // loop → gate: reports, answers. The gate is made after the agent and goes before it.
  std::unique_ptr<gate::Gate> gate;
  NodeAgent agent(about, reconciler,
                  {*machine, catalog, checks, *journal, state_dir, clock,
                   [&gate](ToController message) {
                     if (gate != nullptr) gate->Send(std::move(message));
                   },
                   [&gate] { return gate == nullptr ? std::string("not started") : gate->StateText(); },
                   [](int pid) { return pid == ::getpid() || IsOurTool(pid); }, log,
                   [&supervisor, &clock] { supervisor.Alive(clock.Now()); }, NetdevTowards,
                   [&options] { return LoadNodeTrust(options.state_dir); },
                   [&gate] { return gate == nullptr ? std::uint64_t{0} : gate->Redial(); }, &neighbours});
  RW_RETURN_IF_ERROR(agent.Start());
  const gate::Gate::Parts through{[&agent] { return agent.Hello(); }, inbox, [&bell] { bell.Ring(); },
                                  [&log](const std::string& line) { log(LogLevel::kWarning, line); },
                                  &neighbours};
  gate = std::make_unique<gate::Gate>(gate::GateOptions{}, std::move(door), through);
  RW_RETURN_IF_ERROR(gate->Start());

  log(LogLevel::kInfo, "railwright-agent " RAILWRIGHT_VERSION " runs " + me.node + ", controller " +
                           controller + ", state in " + options.state_dir);
  const auto ended = RunLoop({agent, *hints, inbox, bell, state_dir, supervisor, clock, log});
  supervisor.Stopping();
  const Status stopped = agent.Stop();
  gate.reset();
  RW_RETURN_IF_ERROR(ended.status());
  RW_RETURN_IF_ERROR(stopped);
  log(LogLevel::kInfo, "ended by signal " + std::to_string(*ended) + "; what is enforced stays as it is");
  return Ok();
}

}  // namespace
}  // namespace railwright

int main(int argc, char** argv) {
  using namespace railwright;
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
