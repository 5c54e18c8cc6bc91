// Which network interface carries the connection to the controller.
#pragma once

#include <string>

#include "core/wire/plaintext.h"
#include "railwright/result.h"

namespace railwright {

/// The interface that the kernel sends through to reach `controller` now (RTM_GETROUTE); "" for a Unix socket
/// and for loopback. A host name is looked up first. NotFound when there is no route or no such name.
Result<std::string> NetdevTowards(const Address& controller);

}  // namespace railwright
