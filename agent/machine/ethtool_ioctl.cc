#include "agent/machine/ethtool_ioctl.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "agent/machine/netlink_socket.h"
#include "core/decode/pfc_storm.h"

namespace railwright::machine {
namespace {

/// struct ethtool_tunable with its value behind it, where its flexible array begins.
class PfcTunable {
 public:
  explicit PfcTunable(std::uint32_t command, std::uint16_t milliseconds = 0) {
    ethtool_tunable head{};
    head.cmd = command;
    head.id = ETHTOOL_PFC_PREVENTION_TOUT;
    head.type_id = ETHTOOL_TUNABLE_U16;
    head.len = sizeof milliseconds;
    std::memcpy(bytes_.data(), &head, sizeof head);
    std::memcpy(bytes_.data() + sizeof head, &milliseconds, sizeof milliseconds);
  }
  std::uint16_t milliseconds() const {
    std::uint16_t value = 0;
    std::memcpy(&value, bytes_.data() + sizeof(ethtool_tunable), sizeof value);
    return value;
  }
  char* data() { return bytes_.data(); }

 private:
  alignas(ethtool_tunable) std::array<char, sizeof(ethtool_tunable) + sizeof(std::uint16_t)> bytes_{};
};

}  // namespace

static_assert(kPfcStormAuto == PFC_STORM_PREVENTION_AUTO && kPfcStormOff == PFC_STORM_PREVENTION_DISABLE);

Result<std::string> PfcStormPrevention::Get(std::string_view netdev, std::string_view path) {
  PfcTunable tunable(ETHTOOL_GTUNABLE);
  RW_RETURN_IF_ERROR(Call(netdev, tunable.data(), path));
  return PfcStormText(tunable.milliseconds());
}

Status PfcStormPrevention::Set(std::string_view netdev, std::string_view value, std::string_view path) {
  const auto milliseconds = ParsePfcStorm(value, 1, kPfcStormAuto - 1);
  if (!milliseconds.ok()) return milliseconds.status().Within(path);
  PfcTunable tunable(ETHTOOL_STUNABLE, *milliseconds);
  return Call(netdev, tunable.data(), std::string(path) + ": setting " + std::string(value));
}

Status PfcStormPrevention::Call(std::string_view netdev, char* command, std::string_view what) {
  if (!IsInterfaceName(netdev)) return NoSuchInterface(what);
  if (!socket_) {
    // Any socket answers; one of this family may also be opened where no network is to be had.
    socket_ = Descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket_) return FromErrno(errno, std::string(what) + ": socket for SIOCETHTOOL");
  }
  ifreq request{};
  std::memcpy(request.ifr_name, netdev.data(), netdev.size());
  request.ifr_data = command;
  if (::ioctl(socket_.get(), SIOCETHTOOL, &request) != 0) return FromErrno(errno, what);
  return Ok();
}

}  // namespace railwright::machine
