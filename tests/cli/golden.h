// Golden: output that a person reads, compared with a file of this folder.
#pragma once

#include <string>
#include <string_view>

namespace railwright::cli {

/// Compares with tests/cli/golden/<name>; RAILWRIGHT_WRITE_GOLDEN=1 writes the file instead (and the test
/// still fails, so that nobody commits one unread).
void ExpectGolden(const std::string& name, std::string_view text);

}  // namespace railwright::cli
