// Machine paths taken apart.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright::machine {

/// Why `path` is no Machine path, or "" when it is: it begins with "/", holds no NUL, no component is empty,
/// "." or "..", and it is shorter than 4096 bytes (PATH_MAX of the kernel).
std::string_view PathProblem(std::string_view path);

/// Whether `path` is `prefix` or lies below it.
bool IsBelow(std::string_view path, std::string_view prefix);

/// "/rtnl/link/rail0/mtu" → rtnl, link, rail0, mtu. With `most` the last part keeps the rest, slashes
/// included.
std::vector<std::string_view> PathParts(std::string_view path, std::size_t most = 64);

/// Unimplemented, for a path that no backend serves.
Status NoSuchPath(std::string_view path);

/// Names without doubles, in the order of List.
std::vector<std::string> Sorted(std::vector<std::string> names);

}  // namespace railwright::machine
