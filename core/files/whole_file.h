// Small files that are whole or old, never half; private ones that are refused when others may read them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright {

struct FileOwner {
  uid_t uid = 0;
  gid_t gid = 0;
};

enum class Sync : std::uint8_t { kNone, kDurable };

struct FileTerms {
  mode_t mode = 0600;                             ///< as it is, the umask does not count
  std::optional<FileOwner> owner = std::nullopt;  ///< none: whoever writes
  Sync sync = Sync::kDurable;                     ///< kNone: readers are safe, a power cut may lose it
  bool replace = true;                            ///< false: AlreadyExists when something has the name
};

/// Puts `bytes` at `path`: a new name beside it, write, owner, mode, fsync, rename, fsync of the folder. A
/// reader sees the old content or the new; Ok survives a power cut. On an error the old content is still
/// there. A link at `path` is replaced, never followed.
Status WriteWholeFile(const std::string& path, std::string_view bytes, const FileTerms& terms = {});

/// The folder, made with this mode and owner; the mode and owner of one that is there are put right. Its
/// parent must be there. FailedPrecondition when something else has the name, also a link.
Status MakeFolder(const std::string& path, const FileTerms& terms);

/// Makes what was renamed in `folder` survive a power cut, where its file system knows such a thing.
Status SyncFolder(const std::string& folder);

/// The content of whatever is at `path`, a link and a pipe too, at most `limit` bytes (ResourceExhausted when
/// there are more). NotFound when there is nothing.
Result<std::string> ReadWhole(const std::string& path, std::size_t limit = std::size_t{16} << 20);

/// The content of a plain file, at most `limit` bytes (DataLoss when there are more); a link is not followed.
/// NotFound when there is none.
Result<std::string> ReadWholeFile(const std::string& path, std::size_t limit);

/// The same of a file whose group and others must have no right to it; FailedPrecondition says what to do.
Result<std::string> ReadPrivateFile(const std::string& path, std::size_t limit);

}  // namespace railwright
