// What a node that has joined asks at the enrolment port: why it is refused, and for another certificate.
#pragma once

#include <string>

#include "railwright/result.h"

namespace railwright {

/// Why the controller hangs up, as `railwright-agent doctor` finds it; "" when nothing is wrong, or nobody
/// says.
std::string WhyRefused(const std::string& state_dir);

/// Another certificate by the key of `<state-dir>/front`, when the last one has ended; it is stored there.
/// The errors of enrol::Recover.
Status RecoverCertificate(const std::string& state_dir);

}  // namespace railwright
