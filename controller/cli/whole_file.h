// A file that is written whole or not at all.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright::cli {

struct WholeFileOptions {
  mode_t mode = 0600;     ///< before the umask
  bool overwrite = true;  ///< false: AlreadyExists when something of that name is there
};

/// Writes a temporary file beside `path`, syncs it, gives it the name, and syncs the folder. On an error what
/// was at `path` is as before. Errors name the path and keep the kernel's sentence.
Status WriteWholeFile(const std::string& path, std::string_view text, WholeFileOptions options = {});

}  // namespace railwright::cli
