#include "railwright/state.h"

namespace railwright {

Verdict WorstOf(const std::vector<Finding>& findings) {
  bool drifted = false, unknown = false, pending = false, compliant = false;
  for (const Finding& finding : findings) {
    switch (finding.verdict) {
      case Verdict::kDrifted: drifted = true; break;
      case Verdict::kUnknown: unknown = true; break;
      case Verdict::kPending: pending = true; break;
      case Verdict::kCompliant: compliant = true; break;
      case Verdict::kNotApplicable: break;
    }
  }
  if (drifted) return Verdict::kDrifted;
  if (unknown) return Verdict::kUnknown;
  if (pending) return Verdict::kPending;
  return compliant ? Verdict::kCompliant : Verdict::kUnknown;
}

std::string_view Name(Mode mode) { return mode == Mode::kEnforce ? "enforce" : "observe"; }

std::string_view Name(PortRole role) {
  switch (role) {
    case PortRole::kFabric: return "fabric";
    case PortRole::kStorage: return "storage";
    case PortRole::kManagement: return "management";
    case PortRole::kUnspecified: break;
  }
  return "unspecified";
}

std::string_view Name(Disruption disruption) {
  switch (disruption) {
    case Disruption::kNone: return "None";
    case Disruption::kTrafficBlip: return "TrafficBlip";
    case Disruption::kLinkFlap: return "LinkFlap";
    case Disruption::kFunctionReset: return "FunctionReset";
    case Disruption::kReboot: return "Reboot";
    case Disruption::kPowerCycle: return "PowerCycle";
  }
  return "PowerCycle";
}

std::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kCompliant: return "Compliant";
    case Verdict::kDrifted: return "Drifted";
    case Verdict::kPending: return "Pending";
    case Verdict::kNotApplicable: return "NotApplicable";
    case Verdict::kUnknown: break;
  }
  return "Unknown";
}

std::string_view Name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kIntended: return "intended";
    case ChangeKind::kCorrective: return "corrective";
    case ChangeKind::kRestored: return "restored";
    case ChangeKind::kUndone: return "undone";
    case ChangeKind::kDrift: return "drift";
    case ChangeKind::kContended: return "contended";
  }
  return "drift";
}

std::optional<Mode> ParseMode(std::string_view text) {
  if (text == "observe") return Mode::kObserve;
  if (text == "enforce") return Mode::kEnforce;
  return std::nullopt;
}

std::optional<Disruption> ParseDisruption(std::string_view text) {
  for (const Disruption one : {Disruption::kNone, Disruption::kTrafficBlip, Disruption::kLinkFlap,
                               Disruption::kFunctionReset, Disruption::kReboot, Disruption::kPowerCycle})
    if (Name(one) == text) return one;
  return std::nullopt;
}

std::optional<PortRole> ParsePortRole(std::string_view text) {
  if (text == "fabric") return PortRole::kFabric;
  if (text == "storage") return PortRole::kStorage;
  if (text == "management") return PortRole::kManagement;
  return std::nullopt;
}

}  // namespace railwright
