// The names in a directory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright::machine {

/// Sorted, without "." and "..". Errors carry `path`, the name by which the caller asked.
Result<std::vector<std::string>> NamesIn(const std::string& directory, std::string_view path);

}  // namespace railwright::machine
