// Statement: what is signed about a desired state, as one sequence of bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/identity/certificate.h"
#include "core/identity/digest.h"
#include "core/identity/identity.h"
#include "core/identity/key.h"
#include "railwright/result.h"

namespace railwright::identity {

/// To whom a state is addressed: one node, or all nodes of a group.
class Audience {
 public:
  static Audience Node(const NodeUuid& node) { return Audience(node.text(), {}); }
  /// A group by its digest, which node and signer compute alike; what it is over is theirs.
  static Audience Group(const Digest& group) { return Audience({}, group); }
  bool is_node() const { return !node_.empty(); }
  const std::string& node() const { return node_; }  ///< the UUID, or ""
  const Digest& group() const { return group_; }     ///< zeros for a node
  /// "node <uuid>", "group <hex>".
  std::string Text() const;
  friend auto operator<=>(const Audience&, const Audience&) = default;

 private:
  Audience(std::string node, const Digest& group) : node_(std::move(node)), group_(group) {}
  std::string node_;
  Digest group_;
};

/// What signers vouch for.
///
/// Bytes, version 1; numbers are unsigned and big-endian, a text stands behind one byte with its length:
///
///     size        field
///     1           version = 1
///     4           schema of the payload (1…)
///     1 + 1…63    cluster ([a-z0-9-])
///     1           audience: 1 = a node, 2 = a group
///     1 + 36|32   the node's UUID as text, or the group's digest
///     32          line: the pin of the key in whose line the generation counts
///     8           generation (1…)
///     32          digest of the line's predecessor (its statement's SHA-256); zeros: the first
///     8           not_before, seconds since 1970
///     8           not_after, seconds since 1970, greater than not_before
///     1 + 1…255   created_by (printable ASCII)
///     4           payload size, 1…1 MiB
///     32          payload SHA-256
///
/// Nothing behind it. Every statement has one encoding, every encoding one statement.
struct Statement {
  std::uint32_t schema = 1;
  ClusterName cluster;
  Audience audience;
  Pin line;
  std::uint64_t generation = 0;
  Digest previous{};
  Time not_before, not_after;  ///< whole seconds
  std::string created_by;      ///< for people: the SPIFFE ID of whoever asked for it
  std::uint32_t payload_bytes = 0;
  Digest payload_sha256{};

  static constexpr std::uint32_t kMostPayloadBytes = 1024 * 1024;

  /// InvalidArgument names the field that is out of its range.
  Result<std::string> Encode() const;
  /// InvalidArgument: an unknown version, cut short, something behind it, a field out of its range.
  static Result<Statement> Decode(std::string_view bytes);

  friend bool operator==(const Statement&, const Statement&) = default;
};

}  // namespace railwright::identity
