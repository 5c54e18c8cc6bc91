// Small settings for testing the loop, so that it is tested without the real catalogue.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "railwright/check.h"
#include "railwright/setting.h"

namespace railwright {

/// A setting that is one path. `{if}` in the path is the port's interface, `{param}` what stands for <…> in
/// the key. Values are decimal numbers unless `text`.
class Knob final : public Setting {
 public:
  struct Make {
    std::string key, code, path;
    TargetKind targets = TargetKind::kNode;
    int order = 100;
    Disruption disruption = Disruption::kNone;
    Effect effect = Effect::kRuntime;
    bool text = false;
    std::vector<std::string> owners{};
    std::vector<std::string> blast{};  ///< instead of the default
    bool needs_address = false;        ///< Desired is the port's first address for the value "declared"
    std::string prepared{};            ///< made by Prepare
    /// Apply writes here, and what differs from it is pending until the next boot.
    std::string next{};
    std::vector<std::string> recorded{};  ///< params of a family
    std::string group{};
    bool shared = false;  ///< its path may be another knob's, too
    bool stored = false;  ///< with `next`: what was read says so, and not `effect`
  };
  explicit Knob(Make make) : make_(std::move(make)) {
    info_.key = make_.key;
    info_.code = make_.code;
    info_.help = "a knob";
    info_.why = "because";
    info_.targets = make_.targets;
    info_.syntax = make_.text ? "any text" : "a number";
    info_.disruption = make_.disruption;
    info_.effect = make_.effect;
    info_.order = make_.order;
    info_.likely_owners = make_.owners;
    info_.recorded = make_.recorded;
    info_.group = make_.group;
    info_.goes_with_link = make_.needs_address;
  }
  const SettingInfo& info() const override { return info_; }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    if (make_.text || value == "declared") return std::string(value);
    if (value.empty() || value.find_first_not_of("0123456789") != std::string_view::npos)
      return Status(Code::kInvalidArgument, "\"" + std::string(value) + "\" is not a number");
    value.remove_prefix(std::min(value.find_first_not_of('0'), value.size() - 1));
    return std::string(value);
  }
  Result<std::string> Desired(const Target& target, std::string_view canonical) const override {
    if (!make_.needs_address || canonical != "declared") return std::string(canonical);
    if (target.port->port.addresses.empty())
      return Status(Code::kInvalidArgument, "port " + target.name + " declares no address");
    return target.port->port.addresses.front();
  }
  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    auto value = machine.Get(Path(target));
    if (value.ok() && !make_.next.empty()) {
      const auto next = machine.Get(make_.next);
      if (!next.ok()) return next.status();
      Observation seen = Observation::Value(*value);
      seen.pending_reboot = *next == target.wish && *next != *value;
      if (make_.stored) seen.stored_in = make_.next;
      return seen;
    }
    if (value.ok())
      return *value == "unsupported" ? Observation::NotApplicable("NoSuchKnob", "this card has none")
                                     : Observation::Value(*value);
    if (make_.text && value.status().code() == Code::kNotFound) return Observation::Absent();
    return value.status();
  }
  std::optional<WritePlace> WritesTo(const Target& target, std::string_view desired,
                                     const Observation&) const override {
    if (!make_.shared) return std::nullopt;
    return WritePlace{make_.next.empty() ? Path(target) : make_.next, std::string(desired),
                      "or buy a second knob"};
  }
  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    return machine.Set(make_.next.empty() ? Path(target) : make_.next, value);
  }
  std::vector<std::string> BlastSet(const Target& target) const override {
    return make_.blast.empty() ? Setting::BlastSet(target) : make_.blast;
  }
  Result<std::vector<std::string>> Prepare(Machine& machine) const override {
    std::vector<std::string> made;
    if (make_.prepared.empty() || machine.Get(make_.prepared).ok()) return made;
    if (Status status = machine.Set(make_.prepared, "directory"); !status.ok()) return status;
    made.push_back(make_.prepared);
    return made;
  }

 private:
  std::string Path(const Target& target) const {
    std::string path = make_.path;
    const auto replace = [&](std::string_view what, const std::string& with) {
      if (const auto at = path.find(what); at != std::string::npos) path.replace(at, what.size(), with);
    };
    replace("{if}", target.port == nullptr ? std::string() : target.port->netdev);
    replace("{param}", target.param);
    return path;
  }

  Make make_;
  SettingInfo info_;
};

/// link.mtu (order 10), link.channels (20), link.speed (30, LinkFlap), rail.address (40, text), sysctl.<name>
/// (50), file.<path> (60, text), kernel.cmdline (NeedsReboot), link.rings (ObserveOnly).
inline std::vector<std::unique_ptr<const Setting>> TestSettings() {
  std::vector<std::unique_ptr<const Setting>> list;
  const auto add = [&](Knob::Make make) { list.push_back(std::make_unique<Knob>(std::move(make))); };
  add({.key = "link.mtu",
       .code = "RW-1101",
       .path = "/rtnl/link/{if}/mtu",
       .targets = TargetKind::kPort,
       .order = 10,
       .disruption = Disruption::kTrafficBlip,
       .owners = {"NetworkManager", "systemd-networkd"},
       .group = "port"});
  add({.key = "link.channels",
       .code = "RW-1102",
       .path = "/ethtool/{if}/channels",
       .targets = TargetKind::kPort,
       .order = 20,
       .disruption = Disruption::kTrafficBlip,
       .group = "port"});
  add({.key = "link.speed",
       .code = "RW-1103",
       .path = "/ethtool/{if}/speed",
       .targets = TargetKind::kPort,
       .order = 30,
       .disruption = Disruption::kLinkFlap,
       .group = "port"});
  add({.key = "rail.address",
       .code = "RW-1104",
       .path = "/rtnl/addr/{if}",
       .targets = TargetKind::kPort,
       .order = 40,
       .text = true,
       .needs_address = true,
       .group = "port"});
  add({.key = "sysctl.<name>",
       .code = "RW-1105",
       .path = "/proc/sys/{param}",
       .order = 50,
       .recorded = {"a", "b"}});
  add({.key = "file.<path>",
       .code = "RW-1106",
       .path = "/file/{param}",
       .order = 60,
       .text = true,
       .recorded = {"/etc/x"}});
  add({.key = "kernel.cmdline",
       .code = "RW-1107",
       .path = "/proc/cmdline",
       .effect = Effect::kNeedsReboot,
       .text = true});
  add({.key = "link.rings",
       .code = "RW-1108",
       .path = "/ethtool/{if}/rings",
       .targets = TargetKind::kPort,
       .effect = Effect::kObserveOnly});
  add({.key = "node.blast", .code = "RW-1109", .path = "/proc/blast", .blast = {"eno1"}});
  add({.key = "node.card", .code = "RW-1110", .path = "/proc/card", .blast = {"card:0000:01:00.1"}});
  add({.key = "node.configfs",
       .code = "RW-1111",
       .path = "/proc/configfs",
       .prepared = "/sys/kernel/config/rdma_cm/mlx5_0"});
  add({.key = "nic.nvconfig",
       .code = "RW-1112",
       .path = "/nvconfig/current",
       .effect = Effect::kNextBoot,
       .next = "/nvconfig/next"});
  return list;
}

/// Compliant when /proc/check reads "good", Drifted when it reads else, Unknown when it cannot be read; one
/// finding.
class ProbeCheck final : public Check {
 public:
  ProbeCheck() {
    info_.key = "probe.check";
    info_.code = "RW-2901";
  }
  const CheckInfo& info() const override { return info_; }
  std::vector<Finding> Run(const Machine& machine, const NodeFacts&) const override {
    Finding finding;
    const auto value = machine.Get("/proc/check");
    if (!value.ok()) {
      finding.reason = "ReadFailed";
      finding.message = value.status().ToString();
      return {finding};
    }
    finding.observed = *value;
    finding.verdict = *value == "good" ? Verdict::kCompliant : Verdict::kDrifted;
    if (*value == "none") return {};
    return {finding};
  }

 private:
  CheckInfo info_;
};

}  // namespace railwright
