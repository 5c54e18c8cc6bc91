// AgentNode: a whole agent but for gRPC and the kernel: a fake host, a real state directory, a clock of the
// test's, and the controller's half of the conversation in the test's hands.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/loop/node_agent.h"
#include "core/wire/wire.h"
#include "tests/agent/temporary_directory.h"
#include "tests/reconcile/knobs.h"
#include "tests/support/fake_machine.h"
#include "tests/support/memory_journal.h"
#include "tests/support/sim_clock.h"
#include "tests/support/test_signer.h"

namespace railwright {

class AgentNode {
 public:
  AgentNode() {
    machine.Put("/rtnl/link/rail0", "mtu=1500").Put("/rtnl/link/rail0/mtu", "1500");
    machine.Put("/proc/sys/a", "0").Put("/proc/sys/b", "0");
  }

  /// A desired state as the controller would send it: link.mtu of rail0 and whatever is added.
  static v1::DesiredState State(std::uint64_t generation, const std::string& mtu = "4200",
                                const std::string& node = "gpu-001") {
    v1::GroupPayload group;
    group.set_cluster("pod-a");
    AddWish(group, "link.mtu", "rail0", mtu);
    AddWish(group, "sysctl.a", "", "1");
    v1::NodeOverlay overlay;
    overlay.set_node(node);
    v1::Port* port = overlay.add_ports();
    port->set_name("rail0");
    port->set_netdev("rail0");
    port->set_role(v1::PORT_ROLE_FABRIC);
    return Sealed(generation, group, overlay);
  }
  static void AddWish(v1::GroupPayload& group, const std::string& key, const std::string& target,
                      const std::string& value) {
    v1::SettingSpec* spec = group.add_settings();
    spec->set_key(key);
    spec->set_target(target);
    spec->set_value(value);
    spec->set_mode(v1::MODE_ENFORCE);
  }
  static v1::DesiredState Sealed(std::uint64_t generation, const v1::GroupPayload& group,
                                 const v1::NodeOverlay& overlay) {
    return Signer().Signed(generation, group.SerializeAsString(), overlay.SerializeAsString());
  }
  static const TestSigner& Signer() {
    static const TestSigner signer;
    return signer;
  }

  /// Starts the agent anew over the same machine, journal and state directory; false when it does not start.
  bool Boot() {
    agent.reset();
    state_dir.reset();
    auto opened = StateDir::Open(directory.path());
    if (!opened.ok()) return false;
    state_dir = std::make_unique<StateDir>(std::move(*opened));
    NodeAgentOptions options;
    options.node = "gpu-001";
    options.version = version;
    options.controller = controller;
    options.boot_id = "b00t";
    options.management_netdev = management_netdev;
    ReconcilerOptions reconciler;
    reconciler.boot_id = options.boot_id;
    agent = std::make_unique<NodeAgent>(
        options, reconciler,
        NodeAgent::Parts{machine,
                         catalog,
                         checks,
                         journal,
                         *state_dir,
                         clock,
                         [this](ToController message) { sent.push_back(std::move(message)); },
                         [this] { return session_text; },
                         {},
                         [this](LogLevel, const std::string& line) { log.push_back(line); },
                         [this] {
                           if (at_work) at_work();
                         },
                         [this](const std::string& to) { return route(to); },
                         [this] { return trust; },
                         redial});
    return agent->Start().ok();
  }
  void Welcome(std::uint64_t stored_change = 0, bool send_catalog = false,
               const std::optional<v1::HeldReport>& held = {}) {
    v1::Welcome welcome;
    if (held) *welcome.mutable_held() = *held;
    welcome.set_wire(1);
    welcome.set_version("0.1.0");
    welcome.set_stored_change(stored_change);
    welcome.set_send_catalog(send_catalog);
    session_text = "connected";
    agent->Handle({welcome, ++connection, host});
    agent->Tick();
  }
  template <class Body>
  void Give(Body body) {
    agent->Handle({std::move(body), connection});
    Settle();
  }
  void Settle() {
    for (int i = 0; i < 30; ++i) {
      agent->Tick();
      if (agent->NextDue() > clock.Now()) return;
    }
    ADD_FAILURE() << "the loop never comes to rest";
  }
  /// Lets simulated time pass, doing what falls due.
  void Pass(std::chrono::nanoseconds time) {
    const auto end = clock.Now() + time;
    for (int i = 0; i < 100'000; ++i) {
      const auto due = agent->NextDue();
      if (due > end) break;
      clock.AdvanceTo(due);
      agent->Tick();
    }
    clock.AdvanceTo(end);
  }
  /// Somebody changes `path` behind the agent's back, and the kernel tells.
  void Drift(const std::string& path, const std::string& value) {
    machine.Put(path, value);
    clock.Advance(std::chrono::milliseconds(1));
    agent->Notice({{path, "", 0, clock.Now()}});
    Settle();
  }

  /// All messages of a kind that were sent so far, oldest first.
  template <class Body>
  std::vector<Body> Sent() const {
    std::vector<Body> list;
    for (const ToController& message : sent)
      if (const Body* body = std::get_if<Body>(&message.body)) list.push_back(*body);
    return list;
  }
  /// Acknowledges every report as the controller would, until nothing is left to say.
  void AcknowledgeReports() {
    for (int i = 0; i < 50; ++i) {
      const auto reports = Sent<v1::Report>();
      if (reports.size() == acknowledged) return;
      const v1::Report& report = reports[acknowledged++];
      for (const auto& change : report.changes()) stored = std::max(stored, change.sequence());
      v1::ReportAck ack;
      ack.set_sequence(report.sequence());
      ack.set_hash(report.hash());
      ack.set_stored_change(stored);
      Give(ack);
    }
    ADD_FAILURE() << "reports without end";
  }
  std::string Value(const std::string& path) const { return machine.Value(path); }
  bool Logged(const std::string& part) const {
    for (const std::string& line : log)
      if (line.find(part) != std::string::npos) return true;
    return false;
  }

  TemporaryDirectory directory;
  FakeMachine machine;
  MemoryJournal journal;
  SimClock clock;
  Catalog catalog{TestSettings()};
  std::vector<std::unique_ptr<const Check>> checks;
  std::unique_ptr<StateDir> state_dir;
  std::unique_ptr<NodeAgent> agent;
  std::deque<ToController> sent;
  std::vector<std::string> log;
  std::string controller = "unix:/run/controller.sock";
  std::string version = "0.1.0";
  std::string management_netdev;  ///< as told on the command line
  std::string host;               ///< whom the next Welcome comes from; "" = a Unix socket
  /// The kernel's answer to where an address is reached.
  ManagementLink::Route route = [](const std::string&) { return Status(Code::kNotFound, "no route"); };
  /// What this node believes; as LoadNodeTrust gives it.
  Result<NodeTrust> trust = Signer().Trust();
  std::function<std::uint64_t()> redial;  ///< empty: no try awaits the controller
  std::function<void()> at_work;          ///< called before each operation on the machine
  std::string session_text = "connecting: not tried yet";
  std::uint64_t connection = 0, stored = 0;
  std::size_t acknowledged = 0;
};

}  // namespace railwright
