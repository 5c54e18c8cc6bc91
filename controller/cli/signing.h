// signing: what a person signs, made anew from the documents: the controller is asked, not believed. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/identity/key.h"
#include "core/identity/statement.h"
#include "railwright/catalog.h"
#include "railwright/result.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

/// What the controller says waits: the head of its answer, and all statements.
struct SigningCase {
  v1::StatementsToSignEvent head;
  std::vector<v1::StatementToSign> statements;
};

/// What was found to be what the documents say.
struct SigningWork {
  struct One {
    std::string node;
    std::string statement;  ///< to be signed; its line is the signer's when he is the first
    std::uint32_t signatures = 0, threshold = 1;  ///< so far, and needed
  };
  std::vector<One> to_sign;       ///< sorted by node
  std::vector<std::string> done;  ///< nodes that this key has signed for already
  std::string cluster;
  identity::Time valid_until{};  ///< the earliest
  std::uint64_t settings = 0;
  std::vector<std::string> warnings;
};

/// How long, at most, a statement may be good for from now on.
inline constexpr std::chrono::hours kLongestValidity{366 * 24};

/// Parses and resolves the documents of `asked`, makes every node's bytes, and compares each statement with
/// them. FailedPrecondition names the first node whose statement says something else, or is for another
/// cluster, another schema, a later generation, a UUID that two nodes have, or a time that no controller
/// gives; and documents that this railctl cannot resolve.
Result<SigningWork> CheckStatements(const SigningCase& asked, const CatalogDeclarations& catalog,
                                    const identity::PublicKey& key, identity::Time now);

/// What the documents change against the generation before, as lines with - and +; "" = nothing. What was
/// before is the controller's word.
std::string DocumentDiff(const v1::StatementsToSignEvent& head);

}  // namespace railwright::cli
