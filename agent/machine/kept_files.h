// Descriptors of /proc and /sys files that are read again and again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/files/descriptor.h"
#include "railwright/result.h"

namespace railwright::machine {

/// Keeps descriptors open and reads them again from offset 0, which costs a third of open, read and close.
///
/// A kept descriptor must never show another object than its path names now. The kernel answers ENOENT
/// (/proc/sys) or ENODEV (/sys) to a read of a removed file, also when a new one of the same name exists;
/// then the path is opened anew. What the kernel does not catch is a rename, which carries a sysfs file
/// along, and a symbolic link that points elsewhere now. So a file is kept only when it was reached without
/// any link, lies on a real procfs or sysfs, and cannot be renamed: /proc/sys, files directly in /proc,
/// /sys/module and /sys/kernel (not configfs). In particular nothing below /sys/class or /sys/devices is
/// kept.
class KeptFiles {
 public:
  /// The text at `file` (the path on disk), without trailing newlines.
  Result<std::string> Read(std::string_view path, const std::string& file);
  /// Descriptors held now; at most kMost.
  std::size_t size() const { return kept_.size(); }

  static constexpr std::size_t kMost = 512;

 private:
  struct Kept {
    Descriptor fd;
    std::uint64_t last_read = 0;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  void Keep(std::string_view path, Descriptor fd);

  std::unordered_map<std::string, Kept, Hash, std::equal_to<>> kept_;
  std::uint64_t reads_ = 0;
};

}  // namespace railwright::machine
