#include "agent/machine/rdma_decode.h"

#include <rdma/rdma_netlink.h>

#include <array>
#include <string_view>

#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

// enum ib_qp_state, ib_verbs.h.
constexpr std::array<std::string_view, 7> kStates{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

// enum ib_qp_type, ib_verbs.h.
std::string TypeName(std::uint8_t type) {
  switch (type) {
    case 0: return "SMI";
    case 1: return "GSI";
    case 2: return "RC";
    case 3: return "UC";
    case 4: return "UD";
    case 5: return "RAW_IPV6";
    case 6: return "RAW_ETHERTYPE";
    case 8: return "RAW_PACKET";
    case 9: return "XRC_INI";
    case 10: return "XRC_TGT";
    case 0xff: return "DRIVER";
    default: return std::to_string(type);
  }
}

QueuePair DecodeEntry(std::span<const std::uint8_t> bytes) {
  QueuePair pair;
  ForEachAttribute(bytes, [&](const NetlinkAttribute& attribute) {
    switch (attribute.type) {
      case RDMA_NLDEV_ATTR_RES_LQPN: pair.number = attribute.U32(); break;
      case RDMA_NLDEV_ATTR_PORT_INDEX: pair.port = attribute.U32(); break;
      case RDMA_NLDEV_ATTR_RES_TYPE: pair.type = TypeName(attribute.As<std::uint8_t>()); break;
      case RDMA_NLDEV_ATTR_RES_STATE: {
        const auto state = attribute.As<std::uint8_t>();
        pair.state = state < kStates.size() ? std::string(kStates[state]) : std::to_string(state);
        break;
      }
      case RDMA_NLDEV_ATTR_RES_PID: pair.pid = attribute.U32(); break;
      case RDMA_NLDEV_ATTR_RES_KERN_NAME: pair.kernel = attribute.Text(); break;
      default: break;
    }
  });
  return pair;
}

}  // namespace

std::string QueuePair::Text() const {
  Fields fields;
  fields.Set("qpn", std::uint64_t{number});
  if (port != 0) fields.Set("port", std::uint64_t{port});
  if (!type.empty()) fields.Set("type", type);
  if (!state.empty()) fields.Set("state", state);
  if (pid != 0) fields.Set("pid", std::uint64_t{pid});
  if (!kernel.empty()) fields.Set("kernel", kernel);
  return fields.Text();
}

std::optional<RdmaDevice> DecodeRdmaDevice(const NetlinkReply& reply) {
  RdmaDevice device;
  bool has_index = false;
  ForEachAttribute(reply.payload, [&](const NetlinkAttribute& attribute) {
    if (attribute.type == RDMA_NLDEV_ATTR_DEV_INDEX) {
      device.index = attribute.U32();
      has_index = true;
    }
    if (attribute.type == RDMA_NLDEV_ATTR_DEV_NAME) device.name = attribute.Text();
  });
  if (!has_index || device.name.empty()) return std::nullopt;
  return device;
}

std::vector<QueuePair> DecodeQueuePairs(const NetlinkReply& reply) {
  std::vector<QueuePair> pairs;
  ForEachAttribute(reply.payload, [&](const NetlinkAttribute& table) {
    if (table.type != RDMA_NLDEV_ATTR_RES_QP) return;
    ForEachAttribute(table.value, [&](const NetlinkAttribute& entry) {
      if (entry.type == RDMA_NLDEV_ATTR_RES_QP_ENTRY) pairs.push_back(DecodeEntry(entry.value));
    });
  });
  return pairs;
}

std::string DecodeRdmaSystem(const NetlinkReply& reply) {
  std::string text;
  ForEachAttribute(reply.payload, [&](const NetlinkAttribute& attribute) {
    if (attribute.type == RDMA_NLDEV_SYS_ATTR_NETNS_MODE)
      text = attribute.As<std::uint8_t>() != 0 ? "netns=shared" : "netns=exclusive";
  });
  return text;
}

}  // namespace railwright::machine
