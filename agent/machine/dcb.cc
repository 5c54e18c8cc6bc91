// /dcb/<if>: data center bridging over dcbnl, the part of rtnetlink that PFC, ETS and DSCP maps go through.
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "agent/machine/backend.h"
#include "agent/machine/dcb_message.h"
#include "agent/machine/netlink_socket.h"
#include "agent/machine/paths.h"

namespace railwright::machine {
namespace {

constexpr std::string_view kLeaves[] = {"app", "buffer", "dcbx", "ets", "maxrate", "pfc", "pfc_counters"};

/// The structure behind a path of fields, as one attribute of DCB_CMD_IEEE_SET.
struct Part {
  std::uint16_t attribute;
  std::vector<std::uint8_t> bytes;
};

// The errors that dcbnl itself gives, with what they mean here.
Status Explained(Status status, std::string_view netdev) {
  std::string why;
  switch (status.error_number()) {
    case EOPNOTSUPP:
      why = ": the driver of " + std::string(netdev) +
            " has no data center bridging, or not this part of it (virtual functions, bonds and VLANs have "
            "none), or this kernel was built without it (CONFIG_DCB)";
      break;
    case EPERM:
      why =
          ": changing DCB needs CAP_NET_ADMIN in the first user namespace; a container with a user "
          "namespace of its own cannot";
      break;
    case ENODEV: why = ": no interface " + std::string(netdev) + " in this network namespace"; break;
    default: return status;
  }
  return Status(status.code(), status.message() + why, status.error_number());
}

class Dcb final : public Backend {
 public:
  Dcb(NetlinkConversation& route, LinkLister links) : route_(route), links_(std::move(links)) {}

  Result<std::string> Get(std::string_view path) override {
    const auto parts = PathParts(path);
    if (parts.size() != 3 || !IsLeaf(parts[2])) return NoSuchPath(path);
    RW_ASSIGN_OR_RETURN(const DcbAnswer answer, Read(parts[1], parts[2], path));
    return Text(answer, parts[2], path);
  }

  /// Interfaces whose driver has data center bridging; below one, the paths that it answers.
  Result<std::vector<std::string>> List(std::string_view path) override {
    const auto parts = PathParts(path);
    std::vector<std::string> names;
    if (parts.size() == 1) {
      RW_ASSIGN_OR_RETURN(const auto links, links_());
      for (const std::string& link : links) {
        const int error = Read(link, "app", path).status().error_number();
        if (error != EOPNOTSUPP && error != ENODEV) names.push_back(link);
      }
      return names;
    }
    if (parts.size() != 2) return NoSuchPath(path);
    RW_RETURN_IF_ERROR(Read(parts[1], "app", path).status());
    for (const std::string_view leaf : kLeaves)
      if (Get(std::string(path) + "/" + std::string(leaf)).ok()) names.emplace_back(leaf);
    return names;
  }

  Status Set(std::string_view path, std::string_view value) override {
    const auto parts = PathParts(path);
    if (parts.size() != 3 || !IsLeaf(parts[2]) || parts[2] == "pfc_counters") return NoSuchPath(path);
    if (parts[2] == "app") return SetApps(parts[1], value, path);
    if (parts[2] == "dcbx") return SetDcbx(parts[1], value, path);
    RW_ASSIGN_OR_RETURN(DcbAnswer answer, Read(parts[1], parts[2], path));
    RW_RETURN_IF_ERROR(Text(answer, parts[2], path).status());
    const auto part = Changed(answer, parts[2], value);
    if (!part.ok()) return part.status().Within(path);
    const std::string what = std::string(path) + ": setting " + std::string(value);
    const Status status = Change(DCB_CMD_IEEE_SET, parts[1], what,
                                 [&](NetlinkMessage& message) { message.Put(part->attribute, part->bytes); });
    return status.ok() ? status : WithReadBack(status, path);
  }

 private:
  static bool IsLeaf(std::string_view name) {
    return std::find(std::begin(kLeaves), std::end(kLeaves), name) != std::end(kLeaves);
  }

  static Result<std::string> Text(const DcbAnswer& answer, std::string_view leaf, std::string_view path) {
    if (leaf == "app" && answer.apps) return AppTableText(*answer.apps);
    if (leaf == "dcbx" && answer.dcbx) return answer.dcbx->Text();
    if (leaf == "pfc" && answer.pfc) return answer.pfc->Text();
    if (leaf == "pfc_counters" && answer.pfc) return answer.pfc->CountersText();
    if (leaf == "ets" && answer.ets) return answer.ets->Text();
    if (leaf == "maxrate" && answer.maxrate) return answer.maxrate->Text();
    if (leaf == "buffer" && answer.buffer) return answer.buffer->Text();
    // Without errno: it is not proven that there is none.
    return Status(Code::kUnimplemented,
                  std::string(path) +
                      ": not in the driver's answer; it has none, or failed to read it (dcbnl does not tell "
                      "which; the kernel log may)");
  }

  static Result<Part> Changed(DcbAnswer& answer, std::string_view leaf, std::string_view value) {
    const auto change = [&](auto& structure, std::uint16_t attribute) -> Result<Part> {
      RW_RETURN_IF_ERROR(structure->Change(value));
      return Part{attribute, structure->Bytes()};
    };
    if (leaf == "pfc") return change(answer.pfc, DCB_ATTR_IEEE_PFC);
    if (leaf == "ets") return change(answer.ets, DCB_ATTR_IEEE_ETS);
    if (leaf == "maxrate") return change(answer.maxrate, DCB_ATTR_IEEE_MAXRATE);
    return change(answer.buffer, DCB_ATTR_DCB_BUFFER);
  }

  static Result<NetlinkMessage> Request(std::uint16_t type, std::uint8_t command, std::string_view netdev,
                                        std::string_view what) {
    if (!IsInterfaceName(netdev)) return NoSuchInterface(what);
    dcbmsg head{};
    head.dcb_family = AF_UNSPEC;
    head.cmd = command;
    NetlinkMessage message(type, 0);
    message.Header(head).PutText(DCB_ATTR_IFNAME, netdev);
    return message;
  }

  Result<DcbAnswer> Read(std::string_view netdev, std::string_view leaf, std::string_view what) {
    const std::uint8_t command = leaf == "dcbx" ? DCB_CMD_GDCBX : DCB_CMD_IEEE_GET;
    RW_ASSIGN_OR_RETURN(NetlinkMessage message, Request(RTM_GETDCB, command, netdev, what));
    const auto replies = route_.Ask(message, what);
    if (!replies.ok()) return Explained(replies.status(), netdev);
    if (replies->empty()) return Status(Code::kInternal, std::string(what) + ": the kernel answered nothing");
    const auto answer = DecodeDcb(replies->front());
    if (!answer.ok()) return answer.status().Within(what);
    return *answer;
  }

  /// One change, and its outcome as the driver tells it. `put` adds what is inside DCB_ATTR_IEEE.
  template <class PutInside>
  Status Change(std::uint8_t command, std::string_view netdev, std::string_view what, PutInside put) {
    RW_ASSIGN_OR_RETURN(NetlinkMessage message, Request(RTM_SETDCB, command, netdev, what));
    const std::size_t begun = message.Begin(DCB_ATTR_IEEE);
    put(message);
    message.End(begun);
    return Send(message, DCB_ATTR_IEEE, netdev, what);
  }

  // Not Do: the reply of a change is no acknowledgement, the outcome stands in it.
  Status Send(NetlinkMessage& message, std::uint16_t outcome, std::string_view netdev,
              std::string_view what) {
    const auto replies = route_.Ask(message, what);
    if (!replies.ok()) return Explained(replies.status(), netdev);
    if (replies->empty()) return Status(Code::kInternal, std::string(what) + ": the kernel answered nothing");
    return DcbOutcome(replies->front(), outcome, what);
  }

  /// A driver may have changed something and yet answer with an error.
  Status WithReadBack(const Status& status, std::string_view path) {
    const Result<std::string> now = Get(path);
    std::string seen = now.ok() ? *now : now.status().message();
    std::replace(seen.begin(), seen.end(), '\n', ',');
    return Status(status.code(), status.message() + "; read back: " + (seen.empty() ? "nothing" : seen),
                  status.error_number());
  }

  Status SetDcbx(std::string_view netdev, std::string_view value, std::string_view path) {
    RW_ASSIGN_OR_RETURN(DcbAnswer answer, Read(netdev, "dcbx", path));
    RW_RETURN_IF_ERROR(Text(answer, "dcbx", path).status());
    RW_RETURN_IF_ERROR(answer.dcbx->Change(value).Within(path));
    const std::string what = std::string(path) + ": setting " + answer.dcbx->Text();
    RW_ASSIGN_OR_RETURN(NetlinkMessage message, Request(RTM_SETDCB, DCB_CMD_SDCBX, netdev, what));
    message.PutU8(DCB_ATTR_DCBX, answer.dcbx->bits);
    const Status status = Send(message, DCB_ATTR_DCBX, netdev, what);
    if (status.code() != Code::kFailedPrecondition) return status;
    return Status(status.code(),
                  status.message() +
                      "; most drivers take host=1 with ieee=1 or cee=1, and for the firmware's "
                      "own DCBX everything 0");
  }

  Status ChangeApp(std::uint8_t command, const DcbApp& app, std::string_view netdev, std::string_view path) {
    const std::string what =
        std::string(path) + ": " + (command == DCB_CMD_IEEE_SET ? "adding " : "removing ") + app.Text();
    const std::uint16_t attribute =
        app.selector == DcbApp::kPcp ? kDcbAppAttribute : std::uint16_t{DCB_ATTR_IEEE_APP};
    return Change(command, netdev, what, [&](NetlinkMessage& message) {
      const std::size_t begun = message.Begin(DCB_ATTR_IEEE_APP_TABLE);
      message.Put(attribute, app.Bytes());
      message.End(begun);
    });
  }

  /// Adds first and removes last. Some drivers replace an entry of the same protocol and others add a second
  /// one; what is listed after the additions tells. mlx5 replaces, and removing there sets a DSCP to
  /// priority 0, and the port's trust to PCP with the last one (en_dcbnl.c mlx5e_dcbnl_ieee_delapp).
  Status SetApps(std::string_view netdev, std::string_view value, std::string_view path) {
    const auto wanted = ParseAppTable(value);
    if (!wanted.ok()) return wanted.status().Within(path);
    const auto holds = [](const std::vector<DcbApp>& table, const DcbApp& app) {
      return std::find(table.begin(), table.end(), app) != table.end();
    };
    RW_ASSIGN_OR_RETURN(const std::vector<DcbApp> before, ReadApps(netdev, path));
    for (const DcbApp& app : *wanted) {
      if (holds(before, app)) continue;
      const Status status = ChangeApp(DCB_CMD_IEEE_SET, app, netdev, path);
      // Came by itself meanwhile.
      if (!status.ok() && status.error_number() != EEXIST) return WithReadBack(status, path);
    }
    RW_ASSIGN_OR_RETURN(const std::vector<DcbApp> added, ReadApps(netdev, path));
    for (const DcbApp& app : added) {
      if (holds(*wanted, app)) continue;
      const Status status = ChangeApp(DCB_CMD_IEEE_DEL, app, netdev, path);
      // Gone by itself meanwhile.
      if (!status.ok() && status.error_number() != ENOENT) return WithReadBack(status, path);
    }
    RW_ASSIGN_OR_RETURN(const std::vector<DcbApp> after, ReadApps(netdev, path));
    if (AppTableText(after) == AppTableText(*wanted)) return Ok();
    return WithReadBack(
        Status(Code::kAborted, std::string(path) + ": all was accepted, and yet the table differs"), path);
  }

  Result<std::vector<DcbApp>> ReadApps(std::string_view netdev, std::string_view path) {
    RW_ASSIGN_OR_RETURN(DcbAnswer answer, Read(netdev, "app", path));
    RW_RETURN_IF_ERROR(Text(answer, "app", path).status());
    return std::move(*answer.apps);
  }

  NetlinkConversation& route_;
  LinkLister links_;
};

}  // namespace

std::unique_ptr<Backend> MakeDcb(NetlinkConversation& route, LinkLister links) {
  return std::make_unique<Dcb>(route, std::move(links));
}

}  // namespace railwright::machine
