// RTM_GETDCB and RTM_SETDCB: what the kernel says of data center bridging, as values. Pure; bytes of any kind
// in.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/machine/netlink_message.h"
#include "core/decode/dcb.h"
#include "core/decode/dcb_app.h"
#include "railwright/result.h"

namespace railwright::machine {

/// DCB_ATTR_DCB_APP: an entry of the APP table whose selector is not in IEEE 802.1Qaz, beside
/// DCB_ATTR_IEEE_APP. Since Linux 6.2 (include/uapi/linux/dcbnl.h); the headers of Debian 12 lack it.
inline constexpr std::uint16_t kDcbAppAttribute = 2;

/// An answer to DCB_CMD_IEEE_GET or DCB_CMD_GDCBX; what it does not hold stays empty. The kernel leaves out
/// what a driver does not have and also what a driver failed to read (net/dcb/dcbnl.c dcbnl_ieee_fill): a
/// missing part proves nothing.
struct DcbAnswer {
  std::optional<DcbxMode> dcbx;
  std::optional<DcbPfc> pfc;
  std::optional<DcbEts> ets;
  std::optional<DcbMaxRate> maxrate;
  std::optional<DcbBuffer> buffer;
  std::optional<std::vector<DcbApp>> apps;
};
/// Internal for another kind of message, and for a structure that is too short.
Result<DcbAnswer> DecodeDcb(const NetlinkReply& reply);

/// The outcome of a change. dcbnl acknowledges what its driver has refused: the errno is one byte of an
/// ordinary reply, negative, in `attribute` (DCB_ATTR_IEEE, or DCB_ATTR_DCBX after SDCBX, where 1 means
/// refused: FailedPrecondition). `what` begins the message, which says "answered in the payload". A reply
/// without that byte is Internal: it is unknown what was done.
Status DcbOutcome(const NetlinkReply& reply, std::uint16_t attribute, std::string_view what);

}  // namespace railwright::machine
