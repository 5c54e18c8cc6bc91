// A conversation with a port that speaks TLS: whoever answers is judged before a word is said.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/identity/certificate.h"
#include "core/identity/server_name.h"
#include "railwright/result.h"

namespace railwright::enrol {

/// Of a whole exchange, the lookup of the name apart, which the system's resolver bounds.
inline constexpr std::chrono::milliseconds kDeadline{10'000};

/// Whether the server with this chain (leaf first, as it showed it) is the one that is meant.
using JudgeServer = std::function<Status(const std::vector<identity::Certificate>& chain)>;

/// Dials, lets `judge` look, sends one frame of the enrolment port and reads the body of its answer. Nothing
/// of `frame` leaves before the judge said Ok; then its error is returned as it is. Unavailable: nobody
/// answers there, with the kernel's sentence, or not in this protocol; nothing was said. Aborted: the frame
/// was sent, and no whole answer came.
Result<std::string> Exchange(const identity::Endpoint& at, const JudgeServer& judge, std::string_view frame,
                             std::chrono::milliseconds deadline = kDeadline);

/// The chain that a TLS server shows, whatever it thinks of who dials without a certificate (RFC 8446 §4.4.2:
/// it comes first). Unavailable as above. `protocol`: for ALPN (RFC 7301), "h2" of a gRPC server; "" for
/// none.
Result<std::vector<identity::Certificate>> ChainOf(const identity::Endpoint& at, std::string_view protocol,
                                                   std::chrono::milliseconds deadline = kDeadline);

}  // namespace railwright::enrol
