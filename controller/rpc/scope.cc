#include "controller/rpc/scope.h"

#include <algorithm>

#include "controller/fleet/resolve.h"

namespace railwright {
namespace {

constexpr std::size_t kNamed = 3;

bool Everything(const Caller& caller) { return caller.kind == Caller::Kind::kLocal || caller.scope == "*"; }

Status Outside(const Caller& caller, const std::string& what) {
  return Status(Code::kPermissionDenied,
                caller.Text() + " may give orders to " + (caller.scope.empty() ? "no node" : caller.scope) +
                    " only, not to " + what + "\nnext: somebody whose scope holds them must do it");
}

/// The names of a scope; commas between brackets belong to a range.
std::set<std::string> NamesOf(const std::string& scope) {
  std::set<std::string> names;
  std::string part;
  int depth = 0;
  for (const char c : scope + ",") {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c != ',' || depth > 0) {
      part += c;
      continue;
    }
    const auto expanded = ExpandNames(part);
    part.clear();
    if (!expanded.ok()) return {};
    names.insert(expanded->begin(), expanded->end());
  }
  return names;
}

}  // namespace

Status CheckScope(const Caller& caller, const std::vector<std::string>& nodes) {
  if (Everything(caller)) return Ok();
  const std::set<std::string> scope = NamesOf(caller.scope);
  std::vector<std::string> outside;
  for (const std::string& node : nodes)
    if (!scope.contains(node)) outside.push_back(node);
  if (outside.empty()) return Ok();
  std::string text;
  for (std::size_t i = 0; i < std::min(outside.size(), kNamed); ++i)
    text += (i == 0 ? "" : ", ") + outside[i];
  if (outside.size() > kNamed) text += " and " + std::to_string(outside.size() - kNamed) + " more";
  return Outside(caller, text);
}

Status CheckWholeScope(const Caller& caller, const std::string& what) {
  return Everything(caller) ? Ok() : Outside(caller, what);
}

}  // namespace railwright
