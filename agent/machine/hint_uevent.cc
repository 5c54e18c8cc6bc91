// uevents: devices and modules that come and go. A network namespace hears of its own interfaces and, when it
// belongs to the first user namespace, of everything that is not an interface.
#include <algorithm>

#include "agent/machine/linux_hints_netlink.h"

namespace railwright {
namespace {

constexpr unsigned kKernelGroup = 1;  // kernel lib/kobject_uevent.c; group 2 is udevd's

std::string_view LastComponent(std::string_view path) { return path.substr(path.rfind('/') + 1); }

class UeventHints final : public HintSource {
 public:
  explicit UeventHints(MulticastSocket events) : events_(std::move(events)) {}
  int fd() const override { return events_.fd(); }
  void Drain(HintSet& out) override {
    if (events_.Read([&](Bytes datagram) { ReadUevent(datagram, out); })) out.Overrun();
  }

 private:
  MulticastSocket events_;
};

}  // namespace

void ReadUevent(Bytes datagram, HintSet& out) {
  // "add@/devices/…\0ACTION=add\0DEVPATH=/devices/…\0SUBSYSTEM=net\0INTERFACE=rail0\0…"
  std::string_view text(reinterpret_cast<const char*>(datagram.data()), datagram.size());
  std::string_view subsystem, path, interface, slot;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, equals), value = line.substr(equals + 1);
    if (key == "SUBSYSTEM") subsystem = value;
    if (key == "DEVPATH") path = value;
    if (key == "INTERFACE") interface = value;
    if (key == "PCI_SLOT_NAME") slot = value;
  }
  if (path.empty()) return;
  const std::string name(LastComponent(path));
  if (subsystem == "net") {
    const std::string netdev(interface.empty() ? name : interface);
    out.Add("/sys/class/net/" + netdev);
    out.Add("/rtnl/link/" + netdev);
  } else if (subsystem == "module") {
    out.Add("/kmod/" + name);
    out.Add("/sys/module/" + name);
    // The kernel's spelling has underscores; both are used for a module's name.
    std::string dashed = name;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    if (dashed != name) out.Add("/kmod/" + dashed);
  } else if (subsystem == "infiniband" || subsystem == "infiniband_verbs") {
    out.Add("/sys/class/infiniband");
    out.Add("/sys/kernel/config/rdma_cm");  // its folders die with the device
    out.Add("/rdma");
  } else if (subsystem == "pci") {
    const std::string bdf(slot.empty() ? name : slot);
    out.Add("/pci/" + bdf);
    out.Add("/sys/bus/pci/devices/" + bdf);
    out.Add("/nvconfig/" + bdf);  // a driver that comes anew may run with other parameters
  }
}

Result<std::unique_ptr<HintSource>> MakeUeventHints(const LinuxHintsOptions& options) {
  RW_ASSIGN_OR_RETURN(auto events, MulticastSocket::Open(NETLINK_KOBJECT_UEVENT, "uevent", options));
  RW_RETURN_IF_ERROR(events.Join(kKernelGroup));
  return std::unique_ptr<HintSource>(std::make_unique<UeventHints>(std::move(events)));
}

}  // namespace railwright
