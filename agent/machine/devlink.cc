// /devlink/<bus>/<device>/info: what a driver tells of its device, over generic netlink.
#include <linux/devlink.h>

#include <cerrno>

#include "agent/machine/backend.h"
#include "agent/machine/generic_netlink.h"
#include "agent/machine/paths.h"
#include "core/decode/devlink_info.h"

namespace railwright::machine {
namespace {

class Devlink final : public Backend {
 public:
  Result<std::string> Get(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() != 4 || parts[3] != "info") return NoSuchPath(path);
    NetlinkMessage message = GenericNetlink::Message(DEVLINK_CMD_INFO_GET, DEVLINK_GENL_VERSION);
    message.PutText(DEVLINK_ATTR_BUS_NAME, parts[1]).PutText(DEVLINK_ATTR_DEV_NAME, parts[2]);
    const auto replies = family_.Ask(message, path);
    if (!replies.ok()) return Explained(path, replies.status());
    if (replies->empty()) return Status(Code::kInternal, std::string(path) + ": the kernel answered nothing");
    const Result<Fields> fields = DecodeDevlinkInfo((*replies)[0].AfterHeader(sizeof(genlmsghdr)));
    if (!fields.ok()) return fields.status().Within(path);
    return fields->Text();
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() > 3) return NoSuchPath(path);
    NetlinkMessage message = GenericNetlink::Message(DEVLINK_CMD_GET, DEVLINK_GENL_VERSION, NLM_F_DUMP);
    RW_ASSIGN_OR_RETURN(const auto replies, family_.Ask(message, path));
    std::vector<std::string> names;
    bool there = parts.size() == 1;
    for (const NetlinkReply& reply : replies) {
      const std::string handle = DecodeDevlinkHandle(reply.AfterHeader(sizeof(genlmsghdr)));
      const auto slash = handle.find('/');
      if (slash == std::string::npos) continue;
      const std::string bus = handle.substr(0, slash), device = handle.substr(slash + 1);
      if (parts.size() == 1) names.push_back(bus);
      if (parts.size() == 2 && parts[1] == bus) names.push_back(device);
      if (parts.size() == 3 && parts[1] == bus && parts[2] == device) names.emplace_back("info");
    }
    there = there || !names.empty();
    if (!there) return FromErrno(ENODEV, path, "no such devlink device");
    return Sorted(std::move(names));
  }

  Status Set(std::string_view path, std::string_view) override {
    return Status(Code::kUnimplemented, std::string(path) + ": devlink is read only in this version");
  }

 private:
  static Status Explained(std::string_view path, const Status& status) {
    // Only what the kernel says of the device names the path.
    if (!status.message().starts_with(path)) return status.Within(path);
    if (status.error_number() == EOPNOTSUPP && status.code() == Code::kUnimplemented)
      return Status(Code::kUnimplemented, status.message() + " (the driver tells no versions over devlink)",
                    EOPNOTSUPP);
    if (status.error_number() == ENODEV)
      return Status(Code::kNotFound,
                    status.message() +
                        " (no devlink device; `devlink dev` lists them, and a virtual function has its own)",
                    ENODEV);
    if (status.error_number() == EIO)
      return Status(status.code(), status.message() + " (the card's firmware did not answer)", EIO);
    return status;
  }

  GenericNetlink family_{DEVLINK_GENL_NAME, "this kernel has no devlink (CONFIG_NET_DEVLINK)"};
};

}  // namespace

std::unique_ptr<Backend> MakeDevlink() { return std::make_unique<Devlink>(); }

}  // namespace railwright::machine
