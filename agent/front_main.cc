// railwright-agent-front: the half of the agent that talks to the network. This file is its diagram.
//
//                 ┌───────────┐  what it is told    ┌───────────┐
//   privileged ⇄  │  passage  │ ──────────────────▶ │  session  │ ⇄ controller
//   half  (gate)  │ (main     │ ◀── inbox, text ─── │ (threads  │
//                 │  thread)  │ ◀── "Hello?" ────── │  of gRPC) │
//   signals ────▶ └───────────┘                     └───────────┘
//                       └──── "who answers?" ────▶ neighbours on the rails
//
// It has no privilege, touches no setting and writes nothing but its own certificate. It can delay, drop and
// lie; what is signed it cannot change.
#include <absl/synchronization/mutex.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <memory>

#include "agent/gate/front_options.h"
#include "agent/gate/passage.h"
#include "agent/loop/log.h"
#include "agent/probes/echo_probe.h"
#include "agent/session/enrolment.h"
#include "agent/session/identity_way.h"
#include "agent/session/renewal.h"
#include "agent/session/session.h"
#include "core/text/exit_code.h"

namespace railwright {
namespace {

using std::chrono::milliseconds;

// SIGTERM and SIGINT as a descriptor. Before any thread exists.
Result<Descriptor> Signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT}) sigaddset(&set, number);
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0)
    return FromErrno(error, "pthread_sigmask");
  for (const int number : {SIGPIPE, SIGHUP})
    if (::signal(number, SIG_IGN) == SIG_ERR) return FromErrno(errno, "signal");
  Descriptor signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return FromErrno(errno, "signalfd");
  return signals;
}

// The one place where what was asked for becomes how the controller is spoken to.
SessionOptions Dial(const gate::FrontOptions& options) {
  SessionOptions dial;
  dial.way = [way = std::make_shared<IdentityWay>(options.state_dir)] { return way->Next(); };
  dial.why_hung_up = [state_dir = options.state_dir] { return WhyRefused(state_dir); };
  dial.version = RAILWRIGHT_VERSION;
  return dial;
}

// One life of the privileged half, from here.
Result<gate::Passage::End> Carry(const gate::FrontOptions& options, Descriptor socket, int signals) {
  RW_ASSIGN_OR_RETURN(Bell bell, Bell::Make());
  gate::Passage passage(std::move(socket), std::move(bell));
  const Status opened = passage.Open(signals);
  if (opened.code() == Code::kAborted) return gate::Passage::End::kSignal;
  if (opened.code() == Code::kUnavailable) return gate::Passage::End::kPrivilegedHalf;
  RW_RETURN_IF_ERROR(opened);
  // The session goes before the passage: what it says last is still carried to the controller.
  Session session(
      Dial(options), [&passage] { return passage.Hello(); }, passage.inbox(), [&passage] { passage.Ring(); });
  session.Start();
  const std::unique_ptr<PeerProbe> neighbours = MakeEchoProbe();
  return passage.Run(signals, {[&session](ToController message) { session.Send(std::move(message)); },
                               [&session] { return session.StateText(); },
                               [&session] { return session.Redial(); }, neighbours.get()});
}

// True when a signal came meanwhile.
bool Sleep(int signals, milliseconds time) {
  pollfd ended{signals, POLLIN, 0};
  return ::poll(&ended, 1, static_cast<int>(time.count())) > 0;
}

// Comes again and again to the socket of a privileged half that somebody else keeps running.
Status Attend(const gate::FrontOptions& options, int signals, const Log& log) {
  constexpr milliseconds kFirst{100}, kMost{2'000};
  milliseconds wait = kFirst;
  std::string told;
  while (true) {
    Status status;
    auto socket = gate::ConnectToGate(options.gate_path);
    if (socket.ok()) {
      const auto begun = std::chrono::steady_clock::now();
      const auto end = Carry(options, *std::move(socket), signals);
      if (end.ok() && *end == gate::Passage::End::kSignal) return Ok();
      status = end.ok() ? Status(Code::kUnavailable, "the privileged half has ended") : end.status();
      if (std::chrono::steady_clock::now() - begun > kMost) wait = kFirst;
    } else {
      status = socket.status().Within("the privileged half is not there");
    }
    if (status.message() != told) log(LogLevel::kWarning, told = status.message());
    if (Sleep(signals, wait)) return Ok();
    wait = std::min(wait * 2, kMost);
  }
}

Status Run(const gate::FrontOptions& options, const Log& log) {
  RW_ASSIGN_OR_RETURN(const Descriptor signals, Signals());
  // Beside it all: this node's certificate is kept young.
  const Renewal renewal({options.state_dir,
                         [way = std::make_shared<IdentityWay>(options.state_dir)] { return way->Next(); },
                         [&options] { return RecoverCertificate(options.state_dir); },
                         [&log](const std::string& text) { log(LogLevel::kInfo, text); }});
  if (options.gate_fd < 0) return Attend(options, signals.get(), log);
  return Carry(options, Descriptor(options.gate_fd), signals.get()).status();
}

}  // namespace
}  // namespace railwright

int main(int argc, char** argv) {
  using namespace railwright;
  // Before anything of gRPC: its lock-order graph costs more than all that an idle agent does.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  ::prctl(PR_SET_NAME,
          "railwright-front");  // one that was started by a descriptor has that one's number as name
  const auto parsed = gate::ParseFrontOptions({argv + std::min(argc, 1), argv + argc});
  if (const auto* text = std::get_if<std::string>(&parsed)) {
    std::cerr << "railwright-agent-front: " << *text << "\nnext: it is started by railwright-agent run\n";
    return static_cast<int>(ExitCode::kUsage);
  }
  const Log log = StandardErrorLog();
  const Status status = Run(std::get<gate::FrontOptions>(parsed), log);
  if (status.ok()) return static_cast<int>(ExitCode::kDone);
  log(LogLevel::kError, "the half that talks to the network: " + status.message());
  return static_cast<int>(ExitCode::kFailed);
}
