// A controller's enrolment port on a real socket, with a store in memory and a clock that can be moved.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "controller/enrol/enrolment_port.h"
#include "controller/identity/controller_identity.h"
#include "controller/identity/registry.h"
#include "core/enrol/ask.h"
#include "tests/agent/temporary_directory.h"
#include "tests/enrol/memory_identity_store.h"
#include "tests/identity/world.h"

namespace railwright {

using namespace std::chrono_literals;

/// The host's clocks, the wall's moved; any thread.
class MovedClock final : public Clock {
 public:
  Steady Now() const override { return std::chrono::steady_clock::now(); }
  Wall WallNow() const override { return std::chrono::system_clock::now() + offset_.load(); }
  void Move(std::chrono::seconds by) { offset_ = offset_.load() + by; }

 private:
  std::atomic<std::chrono::seconds> offset_{std::chrono::seconds(0)};
};

class EnrolmentFixture : public testing::Test {
 protected:
  EnrolmentFixture()
      : identity_(identity::Must(ControllerIdentity::Make(
            directory_.path(), identity::Cluster(),
            {identity::Must(identity::ServerName::Parse("127.0.0.1"))}, clock_.WallNow()))),
        registry_(store_, *identity_.issuer(), clock_) {
    EXPECT_TRUE(registry_.Load().ok());
    registry_.OnRefused([this](const AuditRow& row) { store_.Write(row); });
  }

  static EnrolmentPort::Terms Generous() {
    return {.listen = {At(0)},
            .controllers = {At(7443)},
            .peers = {.accepts_a_second = 1e6, .accepts_at_once = 1e6, .failures_a_minute = 1'000'000}};
  }
  static identity::Endpoint At(std::uint16_t port) {
    return {identity::Must(identity::ServerName::Parse("127.0.0.1")), port};
  }
  /// Started, and open if somebody is expected.
  void Open(EnrolmentPort::Terms terms = Generous()) {
    port_ = std::make_unique<EnrolmentPort>(registry_, clock_, std::move(terms));
    ASSERT_TRUE(port_->Show(identity_).ok());
    const Status started = port_->Start();
    ASSERT_TRUE(started.ok()) << started.ToString();
  }
  bool Becomes(bool listening, std::chrono::milliseconds within = 1s) const {
    const auto end = std::chrono::steady_clock::now() + within;
    while (port_->listening() != listening && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(5ms);
    return port_->listening() == listening;
  }
  identity::Endpoint Here() const { return port_->bound().front(); }

  identity::JoinToken Token(Registry::TokenTerms terms = {}) {
    return identity::Must(registry_.CreateToken(terms, alice_));
  }
  /// A token and the line for it, once the port is open.
  identity::JoinLine Line(Registry::TokenTerms terms = {}) {
    auto token = Token(std::move(terms));
    EXPECT_TRUE(Becomes(true));
    return {Here(), std::move(token), identity_.ca_pin()};
  }
  Result<identity::IssuedAnswer> Join(const identity::JoinLine& line, const std::string& name,
                                      const identity::PrivateKey& key) const {
    return enrol::Join(line, {.name = name, .boot_id = "boot", .machine = {}}, key, clock_.WallNow());
  }
  enrol::Known Known() const {
    return {.cluster = identity_.cluster(), .roots = identity_.roots(), .enrolment = {Here()}};
  }
  Result<Caller> Judge(const std::vector<identity::Certificate>& chain) const {
    auto peer = identity::Verify(chain, identity_.roots(), identity::Clients(), clock_.WallNow());
    if (!peer.ok()) return peer.status();
    return registry_.Judge(*peer);
  }

  const Caller alice_{.kind = Caller::Kind::kOperator, .name = "alice", .roles = {"admin"}};
  MovedClock clock_;
  TemporaryDirectory directory_;
  ControllerIdentity identity_;
  MemoryIdentityStore store_;
  Registry registry_;
  std::unique_ptr<EnrolmentPort> port_;
};

}  // namespace railwright
