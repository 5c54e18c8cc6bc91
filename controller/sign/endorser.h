// Endorser: who gives each node's state its signatures, as the fleet model sees it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/identity/certificate.h"
#include "core/identity/envelope.h"
#include "core/identity/statement_number.h"
#include "railwright/result.h"

namespace railwright {

/// One node's state, to be signed for.
struct ToEndorse {
  std::string node = {};         ///< its name in the inventory
  std::string uuid = {};         ///< as its connection proves; "" = not connected: the one that joined
  std::uint64_t generation = 0;  ///< whose content it is
  std::string author = {};       ///< of that generation
  std::string hash = {};         ///< NodeDesired::hash, lower-case hex
  std::size_t bytes = 0;         ///< NodeDesired::bytes()
  // What the node has said that it accepted.
  std::uint64_t held_number = 0;  ///< packed StatementNumber; 0 = nothing
  std::string held_digest = {};   ///< 32 bytes, or ""
  bool holds_hash = false;        ///< it says that `hash` is in force there
};

/// What may be sent.
struct Endorsed {
  identity::StatementNumber number;
  std::string envelope;
};

/// A statement that waits for signatures.
struct Unsigned {
  std::string node, uuid;
  std::string statement;                 ///< core/identity/statement.h
  std::vector<identity::Pin> signed_by;  ///< so far; none: the line may still become the first signer's
  std::size_t threshold = 1;
};

struct SignatureOffer {
  std::string node;
  std::string statement;  ///< as it was handed out; without a signature so far, its line may be the signer's
  identity::StatementSignature signature;
};

/// The core's thread calls it.
class Endorser {
 public:
  virtual ~Endorser() = default;

  /// One answer for each, in the same order; what is answered with an envelope is durable. Errors are why a
  /// node is not sent its state, as a sentence for `status`. FailedPrecondition: it has not joined, or it
  /// holds what this controller must not go below; Unavailable: signatures are waited for; any other: of the
  /// store.
  virtual std::vector<Result<Endorsed>> Endorse(const std::vector<ToEndorse>& wanted) = 0;

  /// Sorted by node.
  virtual std::vector<Unsigned> Waiting() const = 0;
  /// Whether what is offered is a signature of a key that counts over what waits; the number of those taken.
  /// All or none: NotFound, InvalidArgument, Unauthenticated name the node and the reason.
  virtual Result<std::size_t> AddSignatures(const std::vector<SignatureOffer>& offers) = 0;
};

}  // namespace railwright
