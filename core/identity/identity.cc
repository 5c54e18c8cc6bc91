#include "core/identity/identity.h"

#include <algorithm>

#include "railwright/utf8.h"

namespace railwright::identity {
namespace {

constexpr std::string_view kScheme = "spiffe://";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

Status Bad(std::string_view what, std::string_view seen, std::string_view allowed) {
  return Status(Code::kInvalidArgument,
                "\"" + Brief(seen) + "\" is no " + std::string(what) + "; allowed: " + std::string(allowed));
}

}  // namespace

Result<ClusterName> ClusterName::Parse(std::string_view text) {
  const bool fine = !text.empty() && text.size() <= 63 && std::all_of(text.begin(), text.end(), [](char c) {
    return IsLower(c) || IsDigit(c) || c == '-';
  });
  if (!fine) return Bad("cluster's name", text, "1 to 63 of a-z, 0-9 and \"-\"");
  return ClusterName(text);
}

Result<NodeUuid> NodeUuid::Parse(std::string_view text) {
  constexpr std::string_view kNil = "00000000-0000-0000-0000-000000000000";
  bool fine = text.size() == kNil.size() && text != kNil;
  for (std::size_t i = 0; fine && i < text.size(); ++i)
    fine = kNil[i] == '-' ? text[i] == '-' : IsDigit(text[i]) || (text[i] >= 'a' && text[i] <= 'f');
  if (!fine) return Bad("node's UUID", text, "8-4-4-4-12 digits of 0-9 and a-f (lower case), not all zero");
  return NodeUuid(text);
}

Result<OperatorName> OperatorName::Parse(std::string_view text) {
  const bool fine = !text.empty() && text.size() <= 64 && text != "." && text != ".." &&
                    std::all_of(text.begin(), text.end(), [](char c) {
                      return IsLower(c) || IsDigit(c) || c == '.' || c == '_' || c == '-';
                    });
  if (!fine)
    return Bad("operator's name", text,
               "1 to 64 of a-z, 0-9, \".\", \"_\" and \"-\", neither \".\" nor \"..\"");
  return OperatorName(text);
}

std::string_view Name(Party party) {
  switch (party) {
    case Party::kNode: return "node";
    case Party::kOperator: return "operator";
    case Party::kController: return "controller";
  }
  return "unknown";
}

SpiffeId SpiffeId::Node(const ClusterName& cluster, const NodeUuid& uuid) {
  return {Party::kNode, cluster, uuid.text()};
}
SpiffeId SpiffeId::Operator(const ClusterName& cluster, const OperatorName& name) {
  return {Party::kOperator, cluster, name.text()};
}
SpiffeId SpiffeId::Controller(const ClusterName& cluster) { return {Party::kController, cluster, ""}; }

Result<SpiffeId> SpiffeId::Parse(std::string_view uri) {
  const auto bad = [&] {
    return Bad("identity", uri,
               "spiffe://CLUSTER/node/UUID, spiffe://CLUSTER/operator/NAME, spiffe://CLUSTER/controller");
  };
  if (!uri.starts_with(kScheme)) return bad();
  const std::string_view rest = uri.substr(kScheme.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return bad();
  RW_ASSIGN_OR_RETURN(const ClusterName cluster, ClusterName::Parse(rest.substr(0, slash)));
  const std::string_view path = rest.substr(slash);
  constexpr std::string_view kNode = "/node/", kOperator = "/operator/", kController = "/controller";
  if (path == kController) return Controller(cluster);
  if (path.starts_with(kNode)) {
    RW_ASSIGN_OR_RETURN(const NodeUuid uuid, NodeUuid::Parse(path.substr(kNode.size())));
    return Node(cluster, uuid);
  }
  if (path.starts_with(kOperator)) {
    RW_ASSIGN_OR_RETURN(const OperatorName name, OperatorName::Parse(path.substr(kOperator.size())));
    return Operator(cluster, name);
  }
  return bad();
}

std::string SpiffeId::Uri() const {
  std::string uri = TrustDomainUri(cluster_) + "/" + std::string(Name(party_));
  if (!name_.empty()) uri += "/" + name_;
  return uri;
}

std::string TrustDomainUri(const ClusterName& cluster) { return std::string(kScheme) + cluster.text(); }

Result<ClusterName> ParseTrustDomainUri(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return Bad("trust domain", uri, "spiffe://CLUSTER");
  return ClusterName::Parse(uri.substr(kScheme.size()));
}

}  // namespace railwright::identity
