// scope: the nodes that an operator may order about. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "controller/identity/caller.h"
#include "railwright/result.h"

namespace railwright {

/// Ok when all of `nodes` are in the caller's scope ("*", or names and ranges apart by commas:
/// "gpu-[001-064],login-1"); else PermissionDenied names the first that are not. A scope that cannot be read
/// holds no node.
Status CheckScope(const Caller& caller, const std::vector<std::string>& nodes);
/// For an order that is about the whole fleet: only a scope of "*" holds that.
Status CheckWholeScope(const Caller& caller, const std::string& what);

}  // namespace railwright
