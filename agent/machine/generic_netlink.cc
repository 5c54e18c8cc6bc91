#include "agent/machine/generic_netlink.h"

#include <cerrno>

namespace railwright::machine {

NetlinkMessage GenericNetlink::Message(std::uint8_t command, std::uint8_t version, std::uint16_t flags) {
  NetlinkMessage message(0, flags);
  genlmsghdr head{};
  head.cmd = command;
  head.version = version;
  message.Header(head);
  return message;
}

Status GenericNetlink::Open() {
  if (family_ != 0) return Ok();
  NetlinkMessage message = Message(CTRL_CMD_GETFAMILY, 1);
  message.header().nlmsg_type = GENL_ID_CTRL;
  message.PutText(CTRL_ATTR_FAMILY_NAME, name_);
  const auto replies = socket_.Ask(message, name_ + " netlink");
  if (!replies.ok() && replies.status().code() == Code::kNotFound)
    return Status(Code::kUnimplemented, absent_, EOPNOTSUPP);
  if (!replies.ok()) return replies.status();
  for (const NetlinkReply& reply : *replies)
    ForEachAttribute(reply.AfterHeader(sizeof(genlmsghdr)), [&](const NetlinkAttribute& attribute) {
      if (attribute.type == CTRL_ATTR_FAMILY_ID) family_ = attribute.As<std::uint16_t>();
    });
  return family_ != 0 ? Ok() : Status(Code::kInternal, name_ + " netlink: no family number");
}

Result<std::vector<NetlinkReply>> GenericNetlink::Ask(NetlinkMessage& message, std::string_view what) {
  RW_RETURN_IF_ERROR(Open());
  message.header().nlmsg_type = family_;
  auto replies = socket_.Ask(message, what);
  if (!replies.ok() && replies.status().code() == Code::kNotFound) family_ = 0;
  return replies;
}

Status GenericNetlink::Do(NetlinkMessage& message, std::string_view what) {
  RW_RETURN_IF_ERROR(Open());
  message.header().nlmsg_type = family_;
  const Status done = socket_.Do(message, what);
  if (done.code() == Code::kNotFound) family_ = 0;
  return done;
}

}  // namespace railwright::machine
