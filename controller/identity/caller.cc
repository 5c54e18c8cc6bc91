#include "controller/identity/caller.h"

#include <algorithm>

namespace railwright {

std::string_view Name(Role role) {
  switch (role) {
    case Role::kViewer: return "viewer";
    case Role::kOperator: return "operator";
    case Role::kApprover: return "approver";
    case Role::kAdmin: return "admin";
    case Role::kNode: return "node";
  }
  return "nobody";
}

bool Caller::Has(Role role) const {
  const auto says = [&](Role one) { return std::find(roles.begin(), roles.end(), Name(one)) != roles.end(); };
  switch (kind) {
    case Kind::kNobody: return false;
    case Kind::kNode: return role == Role::kNode;
    case Kind::kLocal: return role != Role::kNode;
    case Kind::kOperator: break;
  }
  // A node's certificate proves a node; no role of an operator stands for it.
  if (role == Role::kNode) return false;
  if (says(Role::kAdmin) || says(role)) return true;
  return role == Role::kViewer && (says(Role::kOperator) || says(Role::kApprover));
}

std::string Caller::Text() const {
  switch (kind) {
    case Kind::kNobody: return "nobody";
    case Kind::kLocal: return "local root";
    case Kind::kOperator: return "operator " + name;
    case Kind::kNode: return "node " + name;
  }
  return "nobody";
}

}  // namespace railwright
