// Caller: who is at the other end of a connection, and what that one may do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace railwright {

/// What a method asks for (proto/railwright/v1/access.proto). An administrator is all three operators' roles;
/// operator and approver are viewers; a node is none of them.
enum class Role : std::uint8_t { kViewer, kOperator, kApprover, kAdmin, kNode };
/// "viewer", "operator", "approver", "admin", "node".
std::string_view Name(Role role);

struct Caller {
  enum class Kind : std::uint8_t {
    kNobody,    ///< no proof of anything: may do nothing
    kLocal,     ///< root or the controller's own user, over the controller's Unix socket: break-glass
    kOperator,  ///< by certificate
    kNode,      ///< by certificate
  };
  Kind kind = Kind::kNobody;
  std::string name = {};                ///< "alice"; a node's name in the inventory; "local"
  std::string uuid = {};                ///< of a node
  std::string serial = {};              ///< of its certificate; "" of a local one
  std::string from = {};                ///< as gRPC shows the peer: "ipv4:10.0.0.7:40312", "unix:"
  std::vector<std::string> roles = {};  ///< of an operator, as his certificate says
  std::string scope = "*";              ///< of an operator: the nodes that he may order about

  /// Whether one of its roles is `role`, or holds it.
  bool Has(Role role) const;
  /// "operator alice", "node gpu-001", "local root", "nobody".
  std::string Text() const;
};

}  // namespace railwright
