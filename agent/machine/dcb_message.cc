#include "agent/machine/dcb_message.h"

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include <cerrno>
#include <string>

namespace railwright::machine {
namespace {

static_assert(sizeof(ieee_pfc) == DcbPfc::kSize && sizeof(ieee_ets) == DcbEts::kSize &&
              sizeof(ieee_maxrate) == DcbMaxRate::kSize && sizeof(dcbnl_buffer) == DcbBuffer::kSize &&
              sizeof(dcb_app) == DcbApp::kSize);
static_assert(IEEE_8021QAZ_MAX_TCS == kDcbClasses && IEEE_8021Q_MAX_PRIORITIES == kDcbClasses &&
              DCBX_MAX_BUFFERS == kDcbClasses);
static_assert(DCB_CAP_DCBX_HOST == DcbxMode::kHost && DCB_CAP_DCBX_LLD_MANAGED == DcbxMode::kLldManaged &&
              DCB_CAP_DCBX_VER_CEE == DcbxMode::kCee && DCB_CAP_DCBX_VER_IEEE == DcbxMode::kIeee &&
              DCB_CAP_DCBX_STATIC == DcbxMode::kStatic);

template <class T>
Status Take(const NetlinkAttribute& attribute, std::optional<T>& part) {
  RW_ASSIGN_OR_RETURN(part, T::FromBytes(attribute.value));
  return Ok();
}

Status TakeApps(const NetlinkAttribute& table, std::optional<std::vector<DcbApp>>& apps) {
  Status status;
  apps.emplace();
  ForEachAttribute(table.value, [&](const NetlinkAttribute& attribute) {
    if (!status.ok() || (attribute.type != DCB_ATTR_IEEE_APP && attribute.type != kDcbAppAttribute)) return;
    const auto app = DcbApp::FromBytes(attribute.value);
    if (app.ok())
      apps->push_back(*app);
    else
      status = app.status();
  });
  return status;
}

Status TakeIeee(const NetlinkAttribute& attribute, DcbAnswer& answer) {
  switch (attribute.type) {
    case DCB_ATTR_IEEE_ETS: return Take(attribute, answer.ets);
    case DCB_ATTR_IEEE_PFC: return Take(attribute, answer.pfc);
    case DCB_ATTR_IEEE_MAXRATE: return Take(attribute, answer.maxrate);
    case DCB_ATTR_DCB_BUFFER: return Take(attribute, answer.buffer);
    case DCB_ATTR_IEEE_APP_TABLE: return TakeApps(attribute, answer.apps);
    default: return Ok();  // what a peer said, congestion notification, rewriting
  }
}

/// What an errno in the payload means here, where strerror says something else.
std::string_view Meaning(int error) {
  switch (error) {
    case ENOMEM: return "; the headroom does not fit into the port's buffer";
    case EIO: return "; the firmware refused, and its reason stands in the kernel log";
    default: return "";
  }
}

}  // namespace

Result<DcbAnswer> DecodeDcb(const NetlinkReply& reply) {
  if (reply.type != RTM_GETDCB || reply.payload.size() < sizeof(dcbmsg))
    return Status(Code::kInternal, "no answer of dcbnl: message type " + std::to_string(reply.type));
  DcbAnswer answer;
  Status status;
  ForEachAttribute(reply.AfterHeader(sizeof(dcbmsg)), [&](const NetlinkAttribute& attribute) {
    if (attribute.type == DCB_ATTR_DCBX && !attribute.value.empty())
      answer.dcbx = DcbxMode{attribute.As<std::uint8_t>()};
    if (attribute.type != DCB_ATTR_IEEE) return;
    ForEachAttribute(attribute.value, [&](const NetlinkAttribute& part) {
      if (status.ok()) status = TakeIeee(part, answer);
    });
  });
  if (!status.ok()) return status;
  return answer;
}

Status DcbOutcome(const NetlinkReply& reply, std::uint16_t attribute, std::string_view what) {
  std::optional<std::int8_t> answer;
  if (reply.type == RTM_SETDCB && reply.payload.size() >= sizeof(dcbmsg))
    ForEachAttribute(reply.AfterHeader(sizeof(dcbmsg)), [&](const NetlinkAttribute& one) {
      if (one.type == attribute && !one.value.empty()) answer = one.As<std::int8_t>();
    });
  if (!answer)
    return Status(Code::kInternal, std::string(what) + ": the kernel's reply does not tell the outcome");
  if (*answer == 0) return Ok();
  if (*answer > 0)
    return Status(Code::kFailedPrecondition, std::string(what) + ": refused by the driver (" +
                                                 std::to_string(*answer) + " answered in the payload)");
  return FromErrno(-*answer, what, "answered in the payload" + std::string(Meaning(-*answer)));
}

}  // namespace railwright::machine
