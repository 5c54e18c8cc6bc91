// Which network interface carries the connection to the controller.
#pragma once

#include <string>

#include "railwright/result.h"

namespace railwright {

/// The interface that the kernel sends through to reach `host`, an IPv4 or IPv6 address, now (RTM_GETROUTE);
/// "" when that is loopback (an address of this host). NotFound when there is no route; InvalidArgument when
/// `host` is no address: names are not looked up, which could take long. Answers at once.
Result<std::string> NetdevTowards(const std::string& host);

}  // namespace railwright
