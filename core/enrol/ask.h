// The three questions of the enrolment port, asked of whoever proves to be the controller.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/enrol/dial.h"
#include "core/identity/enrolment.h"
#include "core/identity/join_token.h"
#include "core/identity/key.h"
#include "railwright/result.h"

namespace railwright::enrol {

/// Who asks to join, beside its key and its token. For the controller's log but the name.
struct Newcomer {
  std::string name;     ///< as JoinRequest::name
  std::string boot_id;  ///< /proc/sys/kernel/random/boot_id, or ""
  identity::Digest machine{};
};

/// The first certificate, for a node as for an operator. Of the server's chain the CA with the line's pin is
/// trusted, and the token is sent only to a controller below it. The answer is for `key`, verifies below the
/// roots that came with it, and the pinned CA is among these. Errors: those of Exchange; Unauthenticated:
/// another CA, not a controller's certificate, expired, for another name, or an answer that does not fit;
/// else what the controller refused with.
Result<identity::IssuedAnswer> Join(const identity::JoinLine& line, const Newcomer& newcomer,
                                    const identity::PrivateKey& key, identity::Time now,
                                    std::chrono::milliseconds deadline = kDeadline);

/// By whom a member knows its controller.
struct Known {
  identity::ClusterName cluster;
  std::vector<identity::Certificate> roots;
  std::vector<identity::Endpoint> enrolment;
};

/// Another certificate by the key alone, also when the last one has expired. `id`: UUID or name of a node,
/// name of an operator. The endpoints are asked in turn until one answers.
Result<identity::IssuedAnswer> Recover(const Known& known, identity::Party party, const std::string& id,
                                       std::uint64_t renewals, const identity::PrivateKey& key,
                                       identity::Time now, std::chrono::milliseconds deadline = kDeadline);

/// When only the CA's pin is known, as after a join whose answer was lost.
Result<identity::IssuedAnswer> RecoverByPin(const identity::Endpoint& at, const identity::Pin& ca,
                                            identity::Party party, const std::string& id,
                                            std::uint64_t renewals, const identity::PrivateKey& key,
                                            identity::Time now,
                                            std::chrono::milliseconds deadline = kDeadline);

/// What the controller thinks of a certificate, and what its clock says. The controller's own certificate may
/// be out of its time by `now`: this clock may be the wrong one.
Result<identity::JudgedAnswer> Why(const Known& known, const std::vector<identity::Certificate>& chain,
                                   identity::Time now, std::chrono::milliseconds deadline = kDeadline);

}  // namespace railwright::enrol
