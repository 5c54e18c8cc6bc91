// Machine: the one narrow door between Railwright and a host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"

namespace railwright {

/// Everything that a setting or a check can learn or change goes through these three verbs over text
/// paths. One path is one transaction of what stands behind it. The table of paths with their value
/// formats is agent/machine/README.md.
///
/// Guarantees of every implementation:
/// - Get never writes. Trailing newlines are removed, except below /file, which is exact bytes.
/// - NotFound means "not there"; a failed read is another code. Both keep errno and the kernel's sentence.
/// - Set returns only after the kernel answered. Set(path, "") removes. On a set-valued path (addresses,
///   rules, routes) Set makes the whole set so; on a partial failure the error tells what was read back.
/// - A path that no backend serves is Unimplemented, never NotFound.
/// Used by one thread at a time.
class Machine {
 public:
  virtual ~Machine() = default;
  /// The text behind `path`.
  virtual Result<std::string> Get(std::string_view path) const = 0;
  /// The sorted names directly below `path`.
  virtual Result<std::vector<std::string>> List(std::string_view path) const = 0;
  /// Writes `value`; reading back is the caller's duty, since success is what was read back.
  virtual Status Set(std::string_view path, std::string_view value) = 0;
};

}  // namespace railwright
