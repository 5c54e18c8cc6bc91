// FrontSocket: a front that somebody else keeps running comes to a socket.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/gate/door.h"
#include "agent/gate/front_user.h"
#include "railwright/result.h"

namespace railwright::gate {

/// Listens on `path` with mode 0660, for root, the own user and `user`: its group may connect, and who does
/// is asked of the kernel (SO_PEERCRED). Whoever comes takes the place of the front before; after one that
/// was cut off nobody is taken for a while, which grows. An error when the socket cannot be made.
Result<std::unique_ptr<Door>> ListenForFront(const std::string& path, const FrontUser& user, Waits waits,
                                             std::function<void(const std::string&)> told = {});

}  // namespace railwright::gate
