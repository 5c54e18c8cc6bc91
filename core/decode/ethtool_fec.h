// Forward error correction of a link, as ethtool netlink carries it: sets of link mode bits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/decode/fields.h"
#include "core/decode/netlink_attributes.h"
#include "railwright/result.h"

namespace railwright {

/// A FEC mode and its bit among the link modes (enum ethtool_link_mode_bit_indices of linux/ethtool.h).
struct FecMode {
  std::string_view name;
  std::uint32_t bit;
};

/// `off`, `rs` (Reed-Solomon, clause 91), `baser` (Fire code, clause 74), `llrs` (low latency Reed-Solomon).
const std::vector<FecMode>& FecModes();

/// The attributes of an ETHTOOL_MSG_FEC_GET_REPLY, behind its generic netlink header:
/// `modes=rs,baser auto=0|1 active=rs`. `modes` is what is asked for, in the order of FecModes, `none` when
/// nothing is; `active` is what the link uses, left out while it has no carrier. A mode that this build does
/// not know is "bitN". DataLoss: an attribute is cut short.
Result<Fields> DecodeFec(NetlinkBytes attributes);

/// The bits of "rs,baser". InvalidArgument names the word that is no mode.
Result<std::vector<std::uint32_t>> ParseFecModes(std::string_view text);

}  // namespace railwright
