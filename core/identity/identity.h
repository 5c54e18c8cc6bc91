// Who somebody is: the typed names in a SPIFFE ID, and nothing else.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright::identity {

/// The name of a cluster, the SPIFFE trust domain: [a-z0-9-]{1,63}.
class ClusterName {
 public:
  static Result<ClusterName> Parse(std::string_view text);
  const std::string& text() const { return text_; }
  friend auto operator<=>(const ClusterName&, const ClusterName&) = default;

 private:
  explicit ClusterName(std::string_view text) : text_(text) {}
  std::string text_;
};

/// A node: a UUID as text (RFC 4122 §3), in lower case, so that one node has one spelling; not the nil UUID.
/// The host's name is a label and never an identity.
class NodeUuid {
 public:
  static Result<NodeUuid> Parse(std::string_view text);
  const std::string& text() const { return text_; }
  friend auto operator<=>(const NodeUuid&, const NodeUuid&) = default;

 private:
  explicit NodeUuid(std::string_view text) : text_(text) {}
  std::string text_;
};

/// An operator: [a-z0-9._-]{1,64}, but neither "." nor ".." (SPIFFE-ID §2.2).
class OperatorName {
 public:
  static Result<OperatorName> Parse(std::string_view text);
  const std::string& text() const { return text_; }
  friend auto operator<=>(const OperatorName&, const OperatorName&) = default;

 private:
  explicit OperatorName(std::string_view text) : text_(text) {}
  std::string text_;
};

enum class Party : std::uint8_t { kNode, kOperator, kController };
/// "node", "operator", "controller".
std::string_view Name(Party party);

/// `spiffe://<cluster>/node/<uuid>`, `spiffe://<cluster>/operator/<name>` or `spiffe://<cluster>/controller`:
/// who holds a certificate.
class SpiffeId {
 public:
  static SpiffeId Node(const ClusterName& cluster, const NodeUuid& uuid);
  static SpiffeId Operator(const ClusterName& cluster, const OperatorName& name);
  static SpiffeId Controller(const ClusterName& cluster);
  /// Exactly one of the three forms; InvalidArgument names the part that is wrong. No other scheme, case,
  /// port, query, fragment, escape or trailing slash.
  static Result<SpiffeId> Parse(std::string_view uri);

  std::string Uri() const;
  Party party() const { return party_; }
  const ClusterName& cluster() const { return cluster_; }
  /// A node's UUID or an operator's name; "" for the controller.
  const std::string& name() const { return name_; }
  friend auto operator<=>(const SpiffeId&, const SpiffeId&) = default;

 private:
  SpiffeId(Party party, ClusterName cluster, std::string name)
      : party_(party), cluster_(std::move(cluster)), name_(std::move(name)) {}
  Party party_;
  ClusterName cluster_;
  std::string name_;
};

/// The trust domain's own ID, which a CA's certificate has (X509-SVID §3): `spiffe://<cluster>`.
std::string TrustDomainUri(const ClusterName& cluster);
Result<ClusterName> ParseTrustDomainUri(std::string_view uri);

}  // namespace railwright::identity
