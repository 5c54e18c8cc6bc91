// /rdma: devices, their queue pairs and the subsystem's mode, over RDMA netlink.
#include <rdma/rdma_netlink.h>
#include <sys/stat.h>

#include <cerrno>

#include "agent/machine/backend.h"
#include "agent/machine/netlink_socket.h"
#include "agent/machine/paths.h"
#include "agent/machine/rdma_decode.h"

namespace railwright::machine {
namespace {

constexpr std::uint16_t Type(std::uint16_t command) {
  return static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
}

// The kernel leaves out the queue pairs of processes that the caller's pid namespace does not hold
// (drivers/infiniband/core/restrack.c rdma_is_visible_in_pid_ns); "none" would then be no answer.
Status SeesAllProcesses(std::string_view path) {
  constexpr ino_t kInitialPidNamespace = 0xEFFFFFFC;  // include/linux/proc_ns.h PROC_PID_INIT_INO
  struct stat space {};
  if (::stat("/proc/self/ns/pid", &space) != 0) return FromErrno(errno, "/proc/self/ns/pid");
  if (space.st_ino == kInitialPidNamespace) return Ok();
  return Status(Code::kPermissionDenied,
                std::string(path) +
                    ": queue pairs of other pid namespaces are hidden here; run the agent in the "
                    "host's (hostPID: true, --pid=host)");
}

class Rdma final : public Backend {
 public:
  Result<std::string> Get(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() == 2 && parts[1] == "system") return System(path);
    if (parts.size() != 4 || parts[1] != "dev") return NoSuchPath(path);
    RW_ASSIGN_OR_RETURN(const std::uint32_t index, IndexOf(parts[2], path));
    if (parts[3] != "qps") return NoSuchPath(path);
    RW_RETURN_IF_ERROR(SeesAllProcesses(path));
    NetlinkMessage message(Type(RDMA_NLDEV_CMD_RES_QP_GET), NLM_F_DUMP);
    message.PutU32(RDMA_NLDEV_ATTR_DEV_INDEX, index);
    RW_ASSIGN_OR_RETURN(const auto replies, Ask(message, path));
    std::vector<std::string> lines;
    for (const NetlinkReply& reply : replies)
      for (const QueuePair& pair : DecodeQueuePairs(reply)) lines.push_back(pair.Text());
    std::string text;
    for (const std::string& line : Sorted(std::move(lines))) text += (text.empty() ? "" : "\n") + line;
    return text;
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() == 1) return std::vector<std::string>{"dev", "system"};
    if (parts.size() == 3 && parts[1] == "dev") {
      RW_RETURN_IF_ERROR(IndexOf(parts[2], path).status());
      return std::vector<std::string>{"qps"};
    }
    if (parts.size() != 2 || parts[1] != "dev") return NoSuchPath(path);
    RW_ASSIGN_OR_RETURN(const auto devices, Devices(path));
    std::vector<std::string> names;
    for (const RdmaDevice& device : devices) names.push_back(device.name);
    return Sorted(std::move(names));
  }

  Status Set(std::string_view path, std::string_view) override {
    return Status(Code::kUnimplemented, std::string(path) + ": read only here");
  }

 private:
  Result<std::string> System(std::string_view path) {
    NetlinkMessage message(Type(RDMA_NLDEV_CMD_SYS_GET), 0);
    RW_ASSIGN_OR_RETURN(const auto replies, Ask(message, path));
    for (const NetlinkReply& reply : replies)
      if (const std::string text = DecodeRdmaSystem(reply); !text.empty()) return text;
    return Status(Code::kInternal, std::string(path) + ": the kernel tells no mode of network namespaces");
  }

  Result<std::vector<RdmaDevice>> Devices(std::string_view path) {
    NetlinkMessage message(Type(RDMA_NLDEV_CMD_GET), NLM_F_DUMP);
    RW_ASSIGN_OR_RETURN(const auto replies, Ask(message, path));
    std::vector<RdmaDevice> devices;
    for (const NetlinkReply& reply : replies)
      if (auto device = DecodeRdmaDevice(reply)) devices.push_back(*std::move(device));
    return devices;
  }

  // Devices come, go and are renamed, so that a number is asked for each time.
  Result<std::uint32_t> IndexOf(std::string_view name, std::string_view path) {
    RW_ASSIGN_OR_RETURN(const auto devices, Devices(path));
    for (const RdmaDevice& device : devices)
      if (device.name == name) return device.index;
    return FromErrno(ENODEV, path);
  }

  Result<std::vector<NetlinkReply>> Ask(NetlinkMessage& message, std::string_view path) {
    auto replies = socket_.Ask(message, path);
    // Without ib_core there is no such family; the kernel has tried to load it by then (net-pf-16-proto-20).
    if (!replies.ok() && replies.status().error_number() == EPROTONOSUPPORT)
      return Status(Code::kUnimplemented, std::string(path) + ": no RDMA netlink here; ib_core is not loaded",
                    EPROTONOSUPPORT);
    return replies;
  }

  NetlinkSocket socket_{NETLINK_RDMA};
};

}  // namespace

std::unique_ptr<Backend> MakeRdma() { return std::make_unique<Rdma>(); }

}  // namespace railwright::machine
