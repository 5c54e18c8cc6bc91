// CongestedPort: a host in memory whose port shows its congestion control in one driver's form.
#pragma once

#include <map>
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

/// A port of an NVIDIA card whose driver shows none of it, over a flash that remembers: what is set is there
/// after Boot.
struct FlashedPort : CongestedPort {
  explicit FlashedPort(const std::string& key) : CongestedPort(key) {
    machine.Put(Device("vendor"), "0x15b3").Put(Net("phys_port_name"), "p0").Put(Net("dev_port"), "0");
    machine.Put("/sys/kernel/debug/mlx5/0000:18:00.0/pages/fw_pages", "1");
    machine.on_set = [this](const std::string& path, const std::string& value) {
      if (const auto one = current_.find(path); one != current_.end()) Show(path, one->second, value);
    };
  }

  static std::string Device(const std::string& name) { return "/sys/bus/pci/devices/0000:18:00.0/" + name; }
  std::string InFlash(const std::string& key) const {
    return "/nvconfig/" + subject.facts.ports.front().bdf + "/" + key;
  }
  FlashedPort& Flash(const std::string& key, const std::string& current, const std::string& next = {}) {
    Show(InFlash(key), current, next.empty() ? current : next);
    return *this;
  }
  void Boot() {
    for (auto& [path, value] : current_) {
      const std::string text = machine.Value(path);
      value = text.substr(text.find(" next=") + 6);
      Show(path, value, value);
    }
  }
  bool Pending() const { return Observe().value_or(Observation::Absent()).pending_reboot; }
  /// Whether anything was asked of the flash, which runs a program.
  bool AskedTheFlash() const {
    for (const std::string& path : machine.Reads())
      if (path.starts_with("/nvconfig") && path != kProgrammable) return true;
    return false;
  }

 private:
  void Show(const std::string& path, const std::string& current, const std::string& next) {
    current_[path] = current;
    machine.Put(path, "default=" + current + " current=" + current + " next=" + next);
  }
  std::map<std::string, std::string> current_;
};

}  // namespace railwright
