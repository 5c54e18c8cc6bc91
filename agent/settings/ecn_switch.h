// The switch of congestion control by priority; ecn.np and ecn.rp are its two sides.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "agent/settings/dcqcn_place.h"
#include "core/decode/ecn_priorities.h"

namespace railwright {

/// MLNX_OFED has a file for each priority below ecn/roce_np/enable and ecn/roce_rp/enable. All eight are one
/// value here: the set of priorities that are on. With the inbox driver the card's flash holds one set a
/// port for both sides, in force at the next boot: NVCONFIG ROCE_CC_PRIO_MASK_P<n>, bit i for priority i
/// (mstflint mlxconfig database, configuration nv_roce_cc).
class EcnSwitch : public Setting {
 public:
  /// `side` is "roce_np" (the receiver, which sends notifications) or "roce_rp" (the sender, which obeys).
  EcnSwitch(SettingInfo info, std::string side) : info_(std::move(info)), side_(std::move(side)) {}

  const SettingInfo& info() const override { return info_; }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const EcnPriorities priorities, ParseEcnPriorities(value));
    return Text(priorities);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    const BoundPort& port = *target.port;
    if (port.ibdev.empty()) return ProveNoRdmaDevice(machine, port, "it has no congestion control");
    RW_ASSIGN_OR_RETURN(const std::vector<std::string> entries, EntriesOf(machine, port));
    if (!Holds(entries, "ecn")) return ObserveStored(machine, target);
    RW_ASSIGN_OR_RETURN(const EcnPriorities on, Read(machine, port));
    return Observation::Value(Text(on));
  }

  std::optional<WritePlace> WritesTo(const Target&, std::string_view desired,
                                     const Observation& seen) const override {
    const auto wanted = ParseEcnPriorities(ValueToStore(desired));
    if (seen.stored_in.empty() || !wanted.ok()) return std::nullopt;
    WritePlace place = PlaceInFlash(seen.stored_in, std::to_string(wanted->to_ulong()));
    place.apart = "or install MLNX_OFED, whose driver has a switch for each side";
    return place;
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const EcnPriorities wanted, ParseEcnPriorities(ValueToStore(value)));
    RW_ASSIGN_OR_RETURN(const Observation seen, Observe(machine, target));
    if (seen.kind == Observation::Kind::kNotApplicable)
      return Status(Code::kFailedPrecondition, seen.message);
    if (!seen.stored_in.empty()) return machine.Set(seen.stored_in, std::to_string(wanted.to_ulong()));
    RW_ASSIGN_OR_RETURN(const EcnPriorities before, ParseEcnPriorities(seen.value));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted.test(i) == before.test(i)) continue;
      const Status written = machine.Set(PathOf(*target.port, i), wanted.test(i) ? "1" : "0");
      if (written.ok()) continue;
      // Eight files are one value: what was written before the refusal goes back.
      for (std::size_t j = 0; j < i; ++j) {
        if (wanted.test(j) == before.test(j)) continue;
        const Status back = machine.Set(PathOf(*target.port, j), before.test(j) ? "1" : "0");
        if (!back.ok())
          return Status(written.code(), written.message() + "; and priority " + std::to_string(j) +
                                            ", written before it, could not be put back: " + back.message());
      }
      return ReadOnlyOfVirtualFunction(written);
    }
    return Ok();
  }

 private:
  std::string PathOf(const BoundPort& port, std::size_t priority) const {
    return "/sys/class/net/" + port.netdev + "/ecn/" + side_ + "/enable/" + std::to_string(priority);
  }

  static Result<EcnPriorities> MaskOf(const StoredParameter& stored, std::string_view text) {
    const auto mask = ParseWhole(NvValueToSet(text), 0, 255);
    if (!mask.ok())
      return Status(Code::kInternal, stored.path + ": " + Quoted(text) + " is no mask of eight priorities");
    return EcnPriorities(*mask);
  }

  static Result<Observation> ObserveStored(const Machine& machine, const Target& target) {
    const BoundPort& port = *target.port;
    const std::string no_switch =
        "/sys/class/net/" + port.netdev + " has no ecn: only MLNX_OFED's driver switches it while it runs";
    RW_ASSIGN_OR_RETURN(const bool readable, HasReadableFlash(machine, port));
    if (!readable)
      return Observation::NotApplicable(
          "NoEcnSwitch",
          no_switch + ", and elsewhere only the flash of an NVIDIA card, by its physical function, holds it");
    auto found = FindPortParameter(machine, port, "ROCE_CC_PRIO_MASK");
    if (!found.ok())
      return found.status().Within(no_switch +
                                   ", and what the card's flash holds for the next boot (NVCONFIG "
                                   "ROCE_CC_PRIO_MASK) could not be read");
    if (!*found)
      return Observation::NotApplicable(
          "NoEcnSwitch", no_switch + ", and the card's flash has no parameter ROCE_CC_PRIO_MASK_P1");
    StoredParameter stored = std::move(**found);
    RW_ASSIGN_OR_RETURN(const EcnPriorities current, MaskOf(stored, stored.current));
    RW_ASSIGN_OR_RETURN(const EcnPriorities next, MaskOf(stored, stored.next));
    stored.current = Text(current);
    stored.next = Text(next);
    Observation seen = ShowStored(stored, target.wish);
    seen.message = "this driver has no switch: it is " + stored.path.substr(stored.path.rfind('/') + 1) +
                   " in the card's flash, one for both sides, in force after a boot";
    return seen;
  }

  Result<EcnPriorities> Read(const Machine& machine, const BoundPort& port) const {
    EcnPriorities on;
    for (std::size_t i = 0; i < on.size(); ++i) {
      const std::string path = PathOf(port, i);
      RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(path));
      const auto value = ReadDcqcn(text);
      if (!value.ok()) return value.status().Within(path);
      on.set(i, *value != "0");
    }
    return on;
  }

  SettingInfo info_;
  std::string side_;
};

}  // namespace railwright
