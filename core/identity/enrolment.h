// The messages of the enrolment port: one request, one answer, each one frame.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/identity/certificate.h"
#include "core/identity/digest.h"
#include "core/identity/envelope.h"
#include "core/identity/identity.h"
#include "core/identity/join_token.h"
#include "core/identity/secret.h"
#include "core/identity/server_name.h"
#include "railwright/result.h"

namespace railwright::identity {

// A frame, numbers unsigned and big-endian:
//
//     size   field
//     4      "RWEN"
//     1      version = 1
//     2      size of the body, 1…16,377: with its head a frame has at most 16 KiB
//     …      the body; its first byte says what it is
//
// In bodies a `text` stands behind one byte with its length and is printable ASCII, a `blob` behind two, a
// list of n behind one byte with n. Nothing stands behind the last field. Every message has one encoding.
//
//     1 join      text token (46) · text name (0…64) · text boot id (0…36) · 32 machine · blob request
//     2 recover   1 party (1 node, 2 operator) · text UUID or name (1…64) · 8 counter · blob request
//     3 why       8 clock · list of 1…8: blob certificate
//     17 issued   1 party · text cluster · text UUID (36; 0 of an operator) · text name (1…64) · 8 counter ·
//                 list of 1…8: blob certificate, leaf first · list of 1…8: blob root · blob signers
//                 (signers.h) · list of 1…16: text controller · list of 1…16: text enrolment port
//     18 judged   8 clock · 1 whether it would be let in · blob sentence (0…1024)
//     19 refused  1 code · blob sentence (1…1024)
//
// `request` is PKCS#10 (request.h), `clock` seconds since 1970, below the year 10000; `code` that of a
// Status.

inline constexpr std::size_t kFrameHeadBytes = 7;
inline constexpr std::size_t kMostFrameBytes = 16 * 1024;

/// The size of the body that a frame's first kFrameHeadBytes announce. InvalidArgument: another protocol,
/// another version, a size out of its range.
Result<std::size_t> BodyBytes(std::string_view head);

/// Asks for the first certificate.
struct JoinRequest {
  JoinToken token;
  /// By which it wants to be known; "": as the token says; "?gpu-001": that, unless the token says another.
  std::string name;
  std::string boot_id;  ///< of the kernel that asks; for the log
  Digest machine{};     ///< SHA-256 of /etc/machine-id; for the log
  std::string csr;      ///< PKCS#10, by the key that is to be certified
};

/// Asks for another certificate with the key alone, when the last one has expired.
struct RecoverRequest {
  Party party = Party::kNode;  ///< kNode or kOperator
  std::string id;              ///< UUID or name of a node, name of an operator
  std::uint64_t renewals = 0;
  std::string csr;  ///< by the key that joined
};

/// Asks what the controller thinks of a certificate.
struct WhyRequest {
  std::vector<Certificate> chain;
  Time clock;  ///< of the asker
};

using EnrolmentRequest = std::variant<JoinRequest, RecoverRequest, WhyRequest>;

struct IssuedAnswer {
  Party party = Party::kNode;
  ClusterName cluster;
  std::string uuid;  ///< of a node
  std::string name;
  std::uint64_t renewals = 0;
  std::vector<Certificate> chain, roots;
  TrustedSigners signers;
  std::vector<Endpoint> controllers, enrolment;
};

struct JudgedAnswer {
  Time clock;  ///< of the controller
  bool admitted = false;
  std::string sentence;  ///< why not, for an operator
};

struct RefusedAnswer {
  Code code = Code::kInternal;
  std::string sentence;
};

using EnrolmentAnswer = std::variant<IssuedAnswer, JudgedAnswer, RefusedAnswer>;

/// Whole frames. InvalidArgument names the field that is out of its range. What may hold a token is a Secret.
Result<Secret> Encode(const JoinRequest& request);
Result<std::string> Encode(const RecoverRequest& request);
Result<std::string> Encode(const WhyRequest& request);
Result<std::string> Encode(const EnrolmentAnswer& answer);

/// From a body. InvalidArgument: unknown, cut short, something behind it, a field out of its range; never a
/// word of a token.
Result<EnrolmentRequest> DecodeRequest(std::string_view body);
Result<EnrolmentAnswer> DecodeAnswer(std::string_view body);

}  // namespace railwright::identity
