// Preflight: the true reason why a connection to a controller is refused.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/enrol/ask.h"
#include "railwright/state.h"

namespace railwright::enrol {

struct PreflightTerms {
  Known known;
  std::vector<identity::Certificate> chain;     ///< one's own, leaf first
  std::vector<identity::Endpoint> controllers;  ///< where gRPC is served
  std::chrono::milliseconds deadline{5'000};    ///< of each conversation
};

/// One thing that was looked at.
struct PreflightStep {
  std::string what;  ///< "certificate", "controller ctl.example:7443", "clock", "standing"
  /// Compliant; Drifted: this would be refused; Unknown: could not be looked at.
  Verdict verdict = Verdict::kUnknown;
  std::string message;
  std::string next;          ///< what to do; "" when all is well
  bool unreachable = false;  ///< nobody answered there
};

/// Looks at one's own certificate, then at each controller, then asks the enrolment port: what the time is
/// there, and whether this certificate is admitted. The port may be closed because nobody is expected; that
/// is Unknown and no fault. Expiry alone is no revocation: the verdict on the standing is the controller's.
std::vector<PreflightStep> Preflight(const PreflightTerms& terms, identity::Time now);

/// "this clock is 40 d 2 h ahead of the controller's", or "" within identity::kClockSkew.
std::string ClockSentence(identity::Time here, identity::Time there);

}  // namespace railwright::enrol
