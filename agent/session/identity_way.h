// IdentityWay: the way to the controllers that this node's identity names.
#pragma once

#include <cstddef>
#include <string>

#include "agent/session/session.h"

namespace railwright {

/// Reads `<state-dir>/front` at each attempt, so that a renewed certificate is shown at once, and takes the
/// controllers in turn. For SessionOptions::way; of one thread.
class IdentityWay {
 public:
  explicit IdentityWay(std::string state_dir) : state_dir_(std::move(state_dir)) {}
  /// The errors of LoadFrontIdentity; FailedPrecondition when it names no controller.
  Result<Way> Next();

 private:
  const std::string state_dir_;
  std::size_t turn_ = 0;
};

}  // namespace railwright
