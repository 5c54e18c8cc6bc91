// Enums of the wire. A number that this build does not know, and the unspecified zero, are read as the value
// that promises least: Unknown, observe, the worst disruption.
#include "core/wire/wire.h"

namespace railwright {

v1::Verdict ToWire(Verdict verdict) {
  switch (verdict) {
    case Verdict::kUnknown: return v1::VERDICT_UNKNOWN;
    case Verdict::kCompliant: return v1::VERDICT_COMPLIANT;
    case Verdict::kDrifted: return v1::VERDICT_DRIFTED;
    case Verdict::kPending: return v1::VERDICT_PENDING;
    case Verdict::kNotApplicable: return v1::VERDICT_NOT_APPLICABLE;
  }
  return v1::VERDICT_UNKNOWN;
}

Verdict FromWire(v1::Verdict verdict) {
  switch (static_cast<int>(verdict)) {
    case v1::VERDICT_COMPLIANT: return Verdict::kCompliant;
    case v1::VERDICT_DRIFTED: return Verdict::kDrifted;
    case v1::VERDICT_PENDING: return Verdict::kPending;
    case v1::VERDICT_NOT_APPLICABLE: return Verdict::kNotApplicable;
    default: return Verdict::kUnknown;
  }
}

v1::Mode ToWire(Mode mode) { return mode == Mode::kEnforce ? v1::MODE_ENFORCE : v1::MODE_OBSERVE; }

Mode FromWire(v1::Mode mode) { return mode == v1::MODE_ENFORCE ? Mode::kEnforce : Mode::kObserve; }

v1::Disruption ToWire(Disruption disruption) {
  switch (disruption) {
    case Disruption::kNone: return v1::DISRUPTION_NONE;
    case Disruption::kTrafficBlip: return v1::DISRUPTION_TRAFFIC_BLIP;
    case Disruption::kLinkFlap: return v1::DISRUPTION_LINK_FLAP;
    case Disruption::kFunctionReset: return v1::DISRUPTION_FUNCTION_RESET;
    case Disruption::kReboot: return v1::DISRUPTION_REBOOT;
    case Disruption::kPowerCycle: return v1::DISRUPTION_POWER_CYCLE;
  }
  return v1::DISRUPTION_POWER_CYCLE;
}

Disruption FromWire(v1::Disruption disruption) {
  switch (static_cast<int>(disruption)) {
    case v1::DISRUPTION_NONE: return Disruption::kNone;
    case v1::DISRUPTION_TRAFFIC_BLIP: return Disruption::kTrafficBlip;
    case v1::DISRUPTION_LINK_FLAP: return Disruption::kLinkFlap;
    case v1::DISRUPTION_FUNCTION_RESET: return Disruption::kFunctionReset;
    case v1::DISRUPTION_REBOOT: return Disruption::kReboot;
    default: return Disruption::kPowerCycle;
  }
}

v1::ChangeKind ToWire(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kIntended: return v1::CHANGE_KIND_INTENDED;
    case ChangeKind::kCorrective: return v1::CHANGE_KIND_CORRECTIVE;
    case ChangeKind::kRestored: return v1::CHANGE_KIND_RESTORED;
    case ChangeKind::kUndone: return v1::CHANGE_KIND_UNDONE;
    case ChangeKind::kDrift: return v1::CHANGE_KIND_DRIFT;
    case ChangeKind::kContended: return v1::CHANGE_KIND_CONTENDED;
  }
  return v1::CHANGE_KIND_DRIFT;
}

ChangeKind FromWire(v1::ChangeKind kind) {
  switch (static_cast<int>(kind)) {
    case v1::CHANGE_KIND_INTENDED: return ChangeKind::kIntended;
    case v1::CHANGE_KIND_CORRECTIVE: return ChangeKind::kCorrective;
    case v1::CHANGE_KIND_RESTORED: return ChangeKind::kRestored;
    case v1::CHANGE_KIND_UNDONE: return ChangeKind::kUndone;
    case v1::CHANGE_KIND_CONTENDED: return ChangeKind::kContended;
    default: return ChangeKind::kDrift;
  }
}

v1::PortRole ToWire(PortRole role) {
  switch (role) {
    case PortRole::kFabric: return v1::PORT_ROLE_FABRIC;
    case PortRole::kStorage: return v1::PORT_ROLE_STORAGE;
    case PortRole::kManagement: return v1::PORT_ROLE_MANAGEMENT;
    case PortRole::kUnspecified: break;
  }
  return v1::PORT_ROLE_UNSPECIFIED;
}

PortRole FromWire(v1::PortRole role) {
  switch (static_cast<int>(role)) {
    case v1::PORT_ROLE_FABRIC: return PortRole::kFabric;
    case v1::PORT_ROLE_STORAGE: return PortRole::kStorage;
    case v1::PORT_ROLE_MANAGEMENT: return PortRole::kManagement;
    default: return PortRole::kUnspecified;
  }
}

}  // namespace railwright
