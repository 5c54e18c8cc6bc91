// CongestedPort: a host in memory whose port shows its congestion control in one driver's form.
#pragma once

#include <string>

#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {

/// A setting of port rail0 (0000:18:00.0, mlx5_0) on a host that has the interface, and nothing of congestion
/// control yet.
struct CongestedPort {
  static constexpr const char* kNet = "/sys/class/net/rail0";
  static constexpr const char* kInbox = "/sys/kernel/debug/mlx5/0000:18:00.0/cc_params/";
  static constexpr const char* kBnxt = "/sys/kernel/config/bnxt_re/mlx5_0/ports/1/cc/";
  static constexpr const char* kProgrammable = "/nvconfig/0000:18:00.0/USER_PROGRAMMABLE_CC";

  explicit CongestedPort(const std::string& key) : subject(key) {
    subject.facts.ports.front().bdf = "0000:18:00.0";
    machine.Put(Net("mtu"), "1500").Put(Net("speed"), "400000");
  }

  static std::string Net(const std::string& name) { return std::string(kNet) + "/" + name; }
  static std::string Rp(const std::string& name) { return Net("ecn/roce_rp/" + name); }
  static std::string Np(const std::string& name) { return Net("ecn/roce_np/" + name); }
  static std::string Inbox(const std::string& name) { return kInbox + name; }
  static std::string Bnxt(const std::string& name) { return kBnxt + name; }

  Result<Observation> Observe() const { return subject.setting->Observe(machine, subject.target); }
  /// The value, `[reason]`, or the error.
  std::string Seen() const {
    const auto seen = Observe();
    if (!seen.ok()) return seen.status().message();
    return seen->kind == Observation::Kind::kNotApplicable ? "[" + seen->reason + "]" : seen->value;
  }
  Status Apply(std::string_view value) { return subject.Apply(machine, value); }

  Subject subject;
  FakeMachine machine;
};

}  // namespace railwright
