#include <gtest/gtest.h>
#include <rdma/rdma_netlink.h>

#include "agent/machine/linux_machine.h"
#include "agent/machine/rdma_decode.h"

namespace railwright::machine {
namespace {

// As the kernel writes them (drivers/infiniband/core/nldev.c): a table of entries below the device's handle.
struct Pair {
  std::uint32_t number;
  std::uint8_t type, state;
  std::uint32_t pid;
  const char* kernel;
};

NetlinkReply ReplyOf(NetlinkMessage& message) {
  return {0, 0, std::span<const std::uint8_t>(message.Bytes()).subspan(sizeof(nlmsghdr))};
}

NetlinkMessage Table(const std::vector<Pair>& pairs) {
  NetlinkMessage message(0, 0);
  message.PutU32(RDMA_NLDEV_ATTR_DEV_INDEX, 0).PutText(RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
  const auto table = message.Begin(RDMA_NLDEV_ATTR_RES_QP);
  for (const Pair& pair : pairs) {
    const auto entry = message.Begin(RDMA_NLDEV_ATTR_RES_QP_ENTRY);
    message.PutU32(RDMA_NLDEV_ATTR_PORT_INDEX, 1).PutU32(RDMA_NLDEV_ATTR_RES_LQPN, pair.number);
    message.PutU8(RDMA_NLDEV_ATTR_RES_TYPE, pair.type).PutU8(RDMA_NLDEV_ATTR_RES_STATE, pair.state);
    if (pair.kernel != nullptr)
      message.PutText(RDMA_NLDEV_ATTR_RES_KERN_NAME, pair.kernel);
    else
      message.PutU32(RDMA_NLDEV_ATTR_RES_PID, pair.pid);
    message.End(entry);
  }
  message.End(table);
  return message;
}

TEST(RdmaDecodeTest, AQueuePairTellsItsStateAndWhoMadeIt) {
  NetlinkMessage message =
      Table({{1, 1, 3, 0, "ib_core"}, {17, 2, 3, 4711, nullptr}, {18, 2, 6, 4711, nullptr}});
  std::vector<std::string> lines;
  for (const QueuePair& pair : DecodeQueuePairs(ReplyOf(message))) lines.push_back(pair.Text());
  EXPECT_EQ(lines, (std::vector<std::string>{"qpn=1 port=1 type=GSI state=RTS kernel=ib_core",
                                             "qpn=17 port=1 type=RC state=RTS pid=4711",
                                             "qpn=18 port=1 type=RC state=ERR pid=4711"}));
}

TEST(RdmaDecodeTest, AStateOrTypeThatIsNotKnownHereIsShownByItsNumber) {
  NetlinkMessage message = Table({{9, 77, 200, 1, nullptr}});
  EXPECT_EQ(DecodeQueuePairs(ReplyOf(message)).at(0).Text(), "qpn=9 port=1 type=77 state=200 pid=1");
}

TEST(RdmaDecodeTest, ADamagedTableGivesWhatIsWholeAndNeverReadsBeyondIt) {
  NetlinkMessage message = Table({{1, 1, 3, 0, "ib_core"}, {17, 2, 3, 4711, nullptr}});
  const auto whole = std::span<const std::uint8_t>(message.Bytes()).subspan(sizeof(nlmsghdr));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_LE(DecodeQueuePairs({0, 0, cut}).size(), 2u);
  }
}

TEST(RdmaDecodeTest, ADeviceNeedsNumberAndName) {
  NetlinkMessage whole(0, 0), nameless(0, 0);
  whole.PutU32(RDMA_NLDEV_ATTR_DEV_INDEX, 3).PutText(RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
  nameless.PutU32(RDMA_NLDEV_ATTR_DEV_INDEX, 3);
  ASSERT_TRUE(DecodeRdmaDevice(ReplyOf(whole)));
  EXPECT_EQ(DecodeRdmaDevice(ReplyOf(whole))->name, "rxe0");
  EXPECT_FALSE(DecodeRdmaDevice(ReplyOf(nameless)));
}

TEST(RdmaDecodeTest, TheModeOfNetworkNamespacesIsTold) {
  NetlinkMessage shared(0, 0), exclusive(0, 0), silent(0, 0);
  shared.PutU8(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1);
  exclusive.PutU8(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 0);
  EXPECT_EQ(DecodeRdmaSystem(ReplyOf(shared)), "netns=shared");
  EXPECT_EQ(DecodeRdmaSystem(ReplyOf(exclusive)), "netns=exclusive");
  EXPECT_EQ(DecodeRdmaSystem(ReplyOf(silent)), "");
}

TEST(RdmaMachineTest, WithoutRdmaInTheKernelItSaysSoAndListsNoDevice) {
  const auto machine = MakeLinuxMachine({});
  const auto devices = machine->List("/rdma/dev");
  // A host with ib_core lists its devices; one without says that the family is missing. Never an empty list.
  if (devices.ok()) return;
  EXPECT_EQ(devices.status().code(), Code::kUnimplemented) << devices.status().ToString();
  EXPECT_NE(devices.status().message().find("ib_core"), std::string::npos) << devices.status().ToString();
}

}  // namespace
}  // namespace railwright::machine
