// A request of the enrolment port → its answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/identity/registry.h"
#include "core/identity/enrolment.h"
#include "railwright/clock.h"

namespace railwright {

/// What every certificate is handed out with.
struct EnrolmentWorld {
  identity::ClusterName cluster;
  std::vector<identity::Certificate> roots;
  identity::TrustedSigners signers;
  std::vector<identity::Endpoint> controllers;  ///< where agents and operators are served
  std::vector<identity::Endpoint> enrolment;    ///< where this port is reached
};

struct EnrolmentOutcome {
  std::string frame;    ///< the answer, whole
  bool failed = false;  ///< it counts against the peer's address
  bool issued = false;
  std::string log;  ///< for the controller's log; never a word of a token
};

/// Any thread. `address`: where the peer comes from, an IP address as text.
EnrolmentOutcome AnswerEnrolment(Registry& registry, const EnrolmentWorld& world, const Clock& clock,
                                 std::string_view body, const std::string& address);

/// The answer to what is no request.
std::string RefusedFrame(const Status& status);

}  // namespace railwright
