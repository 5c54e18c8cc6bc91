// cpu.governor: who chooses the processors' clock.
#include <algorithm>
#include <array>

#include "core/decode/mixed_value.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::string_view kPolicies = "/sys/devices/system/cpu/cpufreq";
// Documentation/admin-guide/pm/cpufreq.rst.
constexpr std::array<std::string_view, 6> kGovernors{"conservative", "ondemand",  "performance",
                                                     "powersave",    "schedutil", "userspace"};

Status Refuse(std::string_view value) {
  return Status(Code::kInvalidArgument, Quoted(value) +
                                            "; allowed: conservative, ondemand, performance, powersave, "
                                            "schedutil, userspace");
}

bool IsGovernor(std::string_view value) {
  return std::find(kGovernors.begin(), kGovernors.end(), value) != kGovernors.end();
}

std::string PathOf(const std::string& policy, std::string_view file) {
  return std::string(kPolicies) + "/" + policy + "/" + std::string(file);
}

class CpuGovernor final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "cpu.governor",
        .code = "RW-1143",
        .help = "Frequency governor of every processor.",
        .why =
            "A processor that sleeps or clocks down answers late: the proxy threads of NCCL and everything "
            "that "
            "polls pay for it with latency and bandwidth.",
        .targets = TargetKind::kNode,
        .syntax = "`performance`, `powersave`, `schedutil`, `ondemand`, `conservative` or `userspace`",
        .default_value = "the kernel's or the distribution's",
        .interface = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
        .source = "kernel Documentation/admin-guide/pm/cpufreq.rst",
        .disruption = Disruption::kNone,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 162,
        .likely_owners = {"tuned", "cpufrequtils", "power-profiles-daemon"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    value = Trimmed(value);
    if (IsGovernor(value)) return std::string(value);
    return Refuse(value);
  }

  Result<Observation> Observe(const Machine& machine, const Target&) const override {
    RW_ASSIGN_OR_RETURN(const NamedValues values, Read(machine));
    if (values.empty())
      return Observation::NotApplicable("NoCpufreq",
                                        std::string(kPolicies) +
                                            " has no policies: this kernel does not set the clock, as in "
                                            "a virtual machine");
    return Observation::Value(MixedText(values));
  }

  Status Apply(Machine& machine, const Target&, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const NamedValues now, Read(machine));
    if (now.empty()) return Status(Code::kFailedPrecondition, std::string(kPolicies) + " has no policies");
    std::vector<std::string> policies;
    for (const auto& one : now) policies.push_back(one.first);
    RW_ASSIGN_OR_RETURN(const NamedValues wanted, ParseMixed(value, policies));
    for (const auto& one : wanted)
      if (!IsGovernor(one.second)) return Refuse(one.second);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] == now[i]) continue;
      const auto& [policy, governor] = wanted[i];
      const Status done = machine.Set(PathOf(policy, "scaling_governor"), governor);
      if (done.code() != Code::kInvalidArgument) {
        RW_RETURN_IF_ERROR(done);
        continue;
      }
      const auto known = machine.Get(PathOf(policy, "scaling_available_governors"));
      return Status(
          Code::kInvalidArgument,
          done.message() + (known.ok() ? "; this processor has: " + std::string(Trimmed(*known)) : ""),
          done.error_number());
    }
    return Ok();
  }

 private:
  // One policy is one processor, or several that have one clock.
  static Result<NamedValues> Read(const Machine& machine) {
    NamedValues values;
    const auto names = machine.List(kPolicies);
    if (!names.ok() && names.status().code() == Code::kNotFound) return values;
    if (!names.ok()) return names.status();
    for (const std::string& policy : *names) {
      if (!policy.starts_with("policy")) continue;
      auto governor = machine.Get(PathOf(policy, "scaling_governor"));
      // A processor that has gone offline takes its policy along.
      if (!governor.ok() && governor.status().code() == Code::kNotFound) continue;
      if (!governor.ok()) return governor.status();
      values.emplace_back(policy, *std::move(governor));
    }
    return values;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_cpu_governor() { return std::make_unique<CpuGovernor>(); }

}  // namespace railwright
