// DcbKernel: net/dcb/dcbnl.c over one mlx5 port, message by message, in memory.
#pragma once

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include <cerrno>
#include <string>
#include <vector>

#include "agent/machine/dcb_message.h"
#include "agent/machine/netlink_conversation.h"
#include "tests/support/mlx5_dcb.h"

namespace railwright::machine {

/// Answers as the kernel does: the port is rail0; eth0 has no DCB, and others are not there. Changes are
/// answered by an ordinary reply with the driver's outcome as a byte.
class DcbKernel final : public NetlinkChannel {
 public:
  Mlx5Dcb port;
  bool privileged = true;
  bool shows_pfc = true;          ///< false: the driver failed to read it
  bool shows_apps = true;         ///< false: a kernel that leaves the table out
  bool tells = true;              ///< false: replies lack the outcome
  std::vector<std::string> done;  ///< "set dscp 26 prio 3", "del …", "set pfc", "dcbx 9"

  Status Send(std::span<const std::uint8_t> message, std::string_view) override {
    std::memcpy(&request_, message.data(), sizeof request_);
    NetlinkReply asked{request_.nlmsg_type, 0, message.subspan(sizeof request_)};
    const auto head = asked.Header<dcbmsg>();
    std::string name;
    ieee_ = {};
    mode_ = 0;
    ForEachAttribute(asked.AfterHeader(sizeof head), [&](const NetlinkAttribute& attribute) {
      if (attribute.type == DCB_ATTR_IFNAME) name = attribute.Text();
      if (attribute.type == DCB_ATTR_IEEE) ieee_ = attribute.value;
      if (attribute.type == DCB_ATTR_DCBX) mode_ = attribute.As<std::uint8_t>();
    });
    Answer(head.cmd, name);
    return Ok();
  }

  Result<std::span<const std::uint8_t>> Receive(std::string_view) override {
    return std::span<const std::uint8_t>(reply_);
  }
  void Abandon() override {}

 private:
  void Answer(std::uint8_t command, const std::string& name) {
    const bool change = request_.nlmsg_type == RTM_SETDCB;
    if (change && !privileged) return Error(EPERM);
    if (name != "rail0") return Error(name == "eth0" ? EOPNOTSUPP : ENODEV);
    switch (command) {
      case DCB_CMD_GDCBX:
        return Reply(RTM_GETDCB, [&](NetlinkMessage& reply) { reply.PutU8(DCB_ATTR_DCBX, port.mode.bits); });
      case DCB_CMD_IEEE_GET: return Reply(RTM_GETDCB, [&](NetlinkMessage& reply) { Fill(reply); });
      case DCB_CMD_SDCBX:
        done.push_back("dcbx " + std::to_string(mode_));
        return Outcome(DCB_ATTR_DCBX, port.SetDcbx(mode_));
      case DCB_CMD_IEEE_SET:
      case DCB_CMD_IEEE_DEL: return Outcome(DCB_ATTR_IEEE, Change(command == DCB_CMD_IEEE_SET));
      default: return Error(EOPNOTSUPP);
    }
  }

  void Fill(NetlinkMessage& reply) const {
    reply.PutText(DCB_ATTR_IFNAME, "rail0");
    const std::size_t ieee = reply.Begin(DCB_ATTR_IEEE);
    reply.Put(DCB_ATTR_IEEE_ETS, port.ets.Bytes()).Put(DCB_ATTR_IEEE_MAXRATE, port.maxrate.Bytes());
    if (shows_pfc) reply.Put(DCB_ATTR_IEEE_PFC, port.pfc.Bytes());
    reply.Put(DCB_ATTR_DCB_BUFFER, port.buffer.Bytes());
    if (shows_apps) FillApps(reply);
    reply.End(ieee).PutU8(DCB_ATTR_DCBX, port.mode.bits);
  }

  void FillApps(NetlinkMessage& reply) const {
    const std::size_t table = reply.Begin(DCB_ATTR_IEEE_APP_TABLE);
    for (const DcbApp& app : port.apps)
      reply.Put(app.selector == DcbApp::kPcp ? kDcbAppAttribute : std::uint16_t{DCB_ATTR_IEEE_APP},
                app.Bytes());
    reply.End(table);
  }

  // As dcbnl_ieee_set: object after object, the first error ends it.
  int Change(bool set) {
    int outcome = 0;
    ForEachAttribute(ieee_, [&](const NetlinkAttribute& part) {
      if (outcome == 0) outcome = ChangePart(part, set);
    });
    return outcome;
  }

  int ChangePart(const NetlinkAttribute& part, bool set) {
    if (part.type == DCB_ATTR_IEEE_APP_TABLE) {
      int outcome = 0;
      ForEachAttribute(part.value, [&](const NetlinkAttribute& entry) {
        const DcbApp app = DcbApp::FromBytes(entry.value).value();
        done.push_back((set ? "set " : "del ") + app.Text());
        if (outcome == 0) outcome = set ? port.SetApp(app) : port.DeleteApp(app);
      });
      return outcome;
    }
    done.push_back("set " + std::to_string(part.type));
    switch (part.type) {
      case DCB_ATTR_IEEE_PFC: return port.SetPfc(DcbPfc::FromBytes(part.value).value());
      case DCB_ATTR_IEEE_ETS: return port.SetEts(DcbEts::FromBytes(part.value).value());
      case DCB_ATTR_IEEE_MAXRATE: return port.SetMaxRate(DcbMaxRate::FromBytes(part.value).value());
      case DCB_ATTR_DCB_BUFFER: return port.SetBuffer(DcbBuffer::FromBytes(part.value).value());
      default: return -EOPNOTSUPP;
    }
  }

  template <class Use>
  void Reply(std::uint16_t type, Use fill) {
    NetlinkMessage reply(type, 0);
    reply.Header(dcbmsg{});
    fill(reply);
    reply.header().nlmsg_seq = request_.nlmsg_seq;
    const auto bytes = reply.Bytes();
    reply_.assign(bytes.begin(), bytes.end());
  }

  void Outcome(std::uint16_t attribute, int outcome) {
    Reply(RTM_SETDCB, [&](NetlinkMessage& reply) {
      if (tells) reply.PutU8(attribute, static_cast<std::uint8_t>(outcome));
    });
  }

  void Error(int number) {
    nlmsgerr error{};
    error.error = -number;
    error.msg = request_;
    NetlinkMessage reply(NLMSG_ERROR, 0);
    reply.Header(error);
    reply.header().nlmsg_seq = request_.nlmsg_seq;
    const auto bytes = reply.Bytes();
    reply_.assign(bytes.begin(), bytes.end());
  }

  nlmsghdr request_{};
  std::span<const std::uint8_t> ieee_;
  std::uint8_t mode_ = 0;
  std::vector<std::uint8_t> reply_;
};

}  // namespace railwright::machine
