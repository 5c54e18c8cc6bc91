// GIDs: the addresses of RoCE, as sysfs prints them.
#pragma once

#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright {

/// The GID of an address, eight groups of four hexadecimal digits: "10.10.0.1/24" →
/// "0000:0000:0000:0000:0000:ffff:0a0a:0001". A prefix length is dropped. InvalidArgument for no address.
Result<std::string> GidOfAddress(std::string_view address);

/// Whether the slot of a GID table holds nothing.
bool IsEmptyGid(std::string_view gid);

/// Short for a person: "::ffff:10.10.0.1", "fd00:10::1"; the text itself when it is no GID.
std::string GidForPeople(std::string_view gid);

}  // namespace railwright
