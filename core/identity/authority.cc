#include "core/identity/authority.h"

#include <algorithm>

#include "railwright/utf8.h"

namespace railwright::identity {
namespace {

constexpr std::string_view kRoles = "v1 roles=", kScope = " scope=";

Status Bad(std::string_view why) {
  return Status(Code::kInvalidArgument, "an operator's authority: " + std::string(why));
}

bool IsRole(std::string_view name) {
  return !name.empty() && name.size() <= 32 &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

Status Authority::Check() const {
  if (roles.empty() || roles.size() > kMostRoles)
    return Bad("1 to " + std::to_string(kMostRoles) + " roles, not " + std::to_string(roles.size()));
  for (const std::string& role : roles)
    if (!IsRole(role)) return Bad("\"" + Brief(role) + "\" is no role; allowed: 1 to 32 of a-z");
  for (std::size_t i = 1; i < roles.size(); ++i)
    if (roles[i - 1] >= roles[i]) return Bad("roles are sorted, and none is there twice");
  if (scope.empty()) return Bad("no scope; \"*\" is the whole cluster");
  if (scope.size() > kMostScopeBytes)
    return Bad("a scope of " + std::to_string(scope.size()) + " bytes; at most " +
               std::to_string(kMostScopeBytes));
  if (!std::all_of(scope.begin(), scope.end(), [](char c) { return c >= ' ' && c <= '~'; }))
    return Bad("a scope is printable ASCII");
  return Ok();
}

std::string Authority::Text() const {
  if (!Check().ok()) return {};
  std::string text(kRoles);
  for (const std::string& role : roles) text += (&role == &roles.front() ? "" : ",") + role;
  return text + std::string(kScope) + scope;
}

Result<Authority> Authority::Parse(std::string_view text) {
  if (text.size() > kMostScopeBytes + kMostRoles * 33 + kRoles.size() + kScope.size()) return Bad("too long");
  const std::size_t scope = text.find(kScope);
  if (!text.starts_with(kRoles) || scope == std::string_view::npos || scope < kRoles.size())
    return Bad("not \"v1 roles=… scope=…\"");
  Authority authority;
  authority.scope = text.substr(scope + kScope.size());
  std::string_view names = text.substr(kRoles.size(), scope - kRoles.size());
  while (true) {
    const std::size_t comma = names.find(',');
    authority.roles.emplace_back(names.substr(0, comma));
    if (comma == std::string_view::npos) break;
    names.remove_prefix(comma + 1);
  }
  RW_RETURN_IF_ERROR(authority.Check());
  return authority;
}

}  // namespace railwright::identity
