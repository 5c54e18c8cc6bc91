#include "agent/machine/module_eeprom.h"

#include <linux/ethtool_netlink.h>

#include <algorithm>
#include <cerrno>

#include "agent/machine/generic_netlink.h"
#include "agent/machine/netlink_socket.h"
#include "core/decode/module_header.h"

namespace railwright::machine {
namespace {

/// The header has four bytes; ice leaves the last block of eight of any read empty, so that a read of up to
/// eight gives zeroes alone. One I2C transaction of mlx5 holds them all the same.
constexpr std::uint32_t kLength = 16;
constexpr std::uint8_t kAddress = 0x50;  // A0h, without the read bit

/// What an errno of this very read means.
std::string_view Meaning(int error_number) {
  switch (error_number) {
    case EOPNOTSUPP: return "its driver shows no module";
    case EIO: return "no module is plugged in, or it does not answer";
    case EINVAL: return "its driver refuses a read of the first bytes";
    case EBUSY: return "the module's firmware is being written, or its bus is in use";
    case ENODEV:
    case ENXIO: return "no such interface, or no module in it";
    case EPERM: return "reading it needs CAP_NET_ADMIN";
    default: return "";
  }
}

}  // namespace

Result<std::string> ModuleEeprom::Read(std::string_view interface, std::string_view path) const {
  if (!IsInterfaceName(interface)) return NoSuchInterface(path);
  NetlinkMessage message = GenericNetlink::Message(ETHTOOL_MSG_MODULE_EEPROM_GET, ETHTOOL_GENL_VERSION);
  const std::size_t begun = message.Begin(ETHTOOL_A_MODULE_EEPROM_HEADER);
  message.PutText(ETHTOOL_A_HEADER_DEV_NAME, interface).End(begun);
  message.PutU32(ETHTOOL_A_MODULE_EEPROM_OFFSET, 0)
      .PutU32(ETHTOOL_A_MODULE_EEPROM_LENGTH, kLength)
      .PutU8(ETHTOOL_A_MODULE_EEPROM_PAGE, 0)
      .PutU8(ETHTOOL_A_MODULE_EEPROM_BANK, 0)
      .PutU8(ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, kAddress);
  const auto replies = ask_(message, path);
  if (!replies.ok()) {
    const Status& status = replies.status();
    const std::string_view meaning = Meaning(status.error_number());
    // A kernel without the family says so in words of its own, not of this path.
    if (meaning.empty() || !status.message().starts_with(path)) return status;
    return Status(status.code(), status.message() + "; " + std::string(meaning), status.error_number());
  }
  if (replies->empty()) return Status(Code::kInternal, std::string(path) + ": the kernel answered nothing");
  const auto header = DecodeModuleEeprom((*replies)[0].AfterHeader(sizeof(genlmsghdr)));
  if (!header.ok()) return header.status().Within(path);
  return header->ToFields().Text();
}

Result<std::string> ModuleEeprom::Get(std::string_view interface, std::string_view path) {
  const Time now = now_();
  const auto found = kept_.find(interface);
  if (found != kept_.end() && now < found->second.until) return found->second.answer;
  Kept kept{Read(interface, path)};
  if (kept.answer.ok()) {
    kept.until = now + kFresh;
  } else if (kept.answer.status().code() == Code::kNotFound) {
    if (found != kept_.end()) kept_.erase(found);
    return kept.answer;
  } else {
    const auto before = found == kept_.end() ? std::chrono::seconds(0) : found->second.failed_for;
    kept.failed_for = std::clamp(before * 2, kFresh, kFailedAtMost);
    kept.until = now + kept.failed_for;
  }
  return kept_.insert_or_assign(std::string(interface), std::move(kept)).first->second.answer;
}

}  // namespace railwright::machine
