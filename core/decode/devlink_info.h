// What a driver tells of its device over devlink: driver, serial numbers, versions of firmware.
#pragma once

#include <string>

#include "core/decode/fields.h"
#include "core/decode/netlink_attributes.h"
#include "railwright/result.h"

namespace railwright {

/// The attributes of an answer to DEVLINK_CMD_INFO_GET, behind its generic netlink header.
///
/// `driver= serial= board.serial= fixed.<name>= running.<name>= stored.<name>=`, in that order, versions by
/// name; what the driver does not tell is left out. Several versions of one name (one a component) are joined
/// by ",". Blanks, control bytes and "=" in a name become "_". DataLoss: an attribute is cut short.
Result<Fields> DecodeDevlinkInfo(NetlinkBytes attributes);

/// The handle in any devlink answer: "pci/0000:3b:00.0"; "" when it holds none.
std::string DecodeDevlinkHandle(NetlinkBytes attributes);

}  // namespace railwright
