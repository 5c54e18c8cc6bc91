// SpawnedFront: starts the front, and starts it again.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/gate/door.h"
#include "agent/gate/front_user.h"
#include "railwright/result.h"

namespace railwright::gate {

struct SpawnOptions {
  std::string program;             ///< absolute
  std::vector<std::string> words;  ///< its arguments after the name; `--gate-fd 3` is added
  FrontUser user;                  ///< with root: what it becomes before it runs
  Waits waits{};
  /// A line about what became of the front; in the gate's thread.
  std::function<void(const std::string&)> told{};
  /// The front has ended in order (exit code 0) without being asked to from here: somebody ended it.
  std::function<void()> ended_in_order{};
};

/// "railwright-agent-front" beside this program or in ../libexec/railwright; NotFound names both places.
Result<std::string> FindFront();

/// A front over a socket pair. It gets standard error, that socket and nothing else of this process: no
/// privilege, no capability, no other descriptor, an environment of its own. It ends when this process does.
std::unique_ptr<Door> MakeSpawnedFront(SpawnOptions options);

}  // namespace railwright::gate
