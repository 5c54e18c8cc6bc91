// Envelope: a statement with signatures, as it is stored, sent and opened.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/identity/key.h"
#include "core/identity/statement.h"
#include "railwright/result.h"

namespace railwright::identity {

/// How far a node's clock and the signer's may differ.
inline constexpr std::chrono::minutes kClockSkew{5};
inline constexpr std::size_t kMostEnvelopeBytes = 64 * 1024;
inline constexpr std::size_t kMostSignatures = 16;

// The envelope's bytes, version 1, big-endian:
//
//     size        field
//     4           "RWSE"
//     1           version = 1
//     4           size of the statement
//     …           the statement (statement.h)
//     1           signatures, 1…16
//     32 + 64     each: pin of the key, Ed25519 signature; ascending by pin, none twice
//
// Nothing behind it. The payload is not in it: its bytes travel and are stored beside it, shared by all nodes
// that have them.
//
// Signed is: the text "railwright desired-state statement v1", a zero byte, the statement's bytes. The text
// keeps a signature from meaning anything elsewhere (RFC 8032 §8.5 asks for such care). The state itself is
// never serialised again: what was signed is what is read.

struct StatementSignature {
  Pin key;
  std::string bytes;  ///< 64
};

/// A signature over the bytes of a statement; each signer may be on a machine of its own. InvalidArgument:
/// these are no statement's bytes. FailedPrecondition: not an Ed25519 key.
Result<StatementSignature> SignStatement(std::string_view statement, const PrivateKey& key);

/// An envelope of the statement's bytes and its signatures, which are put in order here. InvalidArgument: no
/// statement, no signatures or too many, one key twice, none of the line's key.
Result<std::string> MakeEnvelope(std::string_view statement, std::vector<StatementSignature> signatures);

/// The statement's bytes in an envelope, whoever signed them: for who made or kept the envelope, and wants to
/// know what it was about. It proves nothing. InvalidArgument: no envelope.
Result<std::string> StatementOf(std::string_view bytes);

/// Whose word counts: the root's delegation.
struct TrustedSigners {
  std::vector<PublicKey> keys;  ///< Ed25519
  std::set<Pin> revoked;        ///< these no longer count, whether they are in `keys` or not
  std::size_t threshold = 1;    ///< so many different keys must have signed

  bool Counts(const Pin& key) const;
};

/// Who opens.
struct Addressee {
  ClusterName cluster;
  NodeUuid node;
  std::set<Digest> groups;
};

/// An envelope whose signatures hold and which is addressed to whoever opened it.
struct OpenedEnvelope {
  Statement statement;
  Digest digest;             ///< SHA-256 of the statement's bytes: its name, and what a successor refers to
  std::vector<Pin> signers;  ///< whose signatures counted, ascending

  /// Ok, or FailedPrecondition: not yet valid, or expired ("stale signed state"), each by more than
  /// kClockSkew.
  Status CheckTime(Time now) const;
  /// Whether these are the bytes that were signed for. Unauthenticated otherwise.
  Status CheckPayload(std::string_view payload) const;
};

/// Opens what has just come: OpenAccepted, and CheckTime.
Result<OpenedEnvelope> Open(std::string_view bytes, const TrustedSigners& trusted, const Addressee& me,
                            Time now);

/// Opens what this node accepted before and goes on enforcing also when it has expired (a controller that is
/// gone must not undo a cluster); never for what comes from outside.
///
/// A signature by a key that counts must hold, or all is refused; one by a key that is unknown or revoked
/// adds nothing. The key of the statement's line must be among those that counted.
///
/// InvalidArgument: too large, not an envelope, an unknown version, bytes too many. FailedPrecondition:
/// `trusted` could never be satisfied. Unauthenticated: unknown key, revoked key, bad signature, too few
/// signatures. PermissionDenied: for another cluster, or not addressed to me.
Result<OpenedEnvelope> OpenAccepted(std::string_view bytes, const TrustedSigners& trusted,
                                    const Addressee& me);

}  // namespace railwright::identity
