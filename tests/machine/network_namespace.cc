#include "tests/machine/network_namespace.h"

#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace railwright::machine {
namespace {

void MustSucceed(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

/// Back where the test's process came from; a test that stayed inside would spoil the next one.
void MustEnter(int ns, int kind) {
  if (::setns(ns, kind) != 0) throw std::runtime_error(std::string("setns: ") + std::strerror(errno));
}

}  // namespace

void NetworkNamespaceTest::SetUp() {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to make a network namespace";
  network_ = Descriptor(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  mounts_ = Descriptor(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(network_ && mounts_);
  ASSERT_EQ(::unshare(CLONE_NEWNET | CLONE_NEWNS), 0) << std::strerror(errno);
  // What is mounted here stays here; /sys shows the network namespace that was there when it was mounted.
  ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0) << std::strerror(errno);
  ASSERT_EQ(::mount("sysfs", "/sys", "sysfs", 0, nullptr), 0) << std::strerror(errno);
  socket_ = std::make_unique<NetlinkSocket>(NETLINK_ROUTE);
}

void NetworkNamespaceTest::TearDown() {
  socket_.reset();
  if (network_) MustEnter(network_.get(), CLONE_NEWNET);
  if (mounts_) MustEnter(mounts_.get(), CLONE_NEWNS);
}

void NetworkNamespaceTest::MakeVeth(std::string_view name, std::string_view peer, unsigned queues) {
  NetlinkMessage message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.Header(ifinfomsg{}).PutText(IFLA_IFNAME, name);
  message.PutU32(IFLA_NUM_RX_QUEUES, queues).PutU32(IFLA_NUM_TX_QUEUES, queues);
  const std::size_t info = message.Begin(IFLA_LINKINFO);
  message.PutText(IFLA_INFO_KIND, "veth");
  const std::size_t data = message.Begin(IFLA_INFO_DATA);
  const std::size_t other = message.Begin(VETH_INFO_PEER);
  message.Header(ifinfomsg{}).PutText(IFLA_IFNAME, peer);
  message.PutU32(IFLA_NUM_RX_QUEUES, queues).PutU32(IFLA_NUM_TX_QUEUES, queues);
  message.End(other).End(data).End(info);
  MustSucceed(socket_->Do(message, "veth " + std::string(name)));
}

void NetworkNamespaceTest::DeleteLink(std::string_view name) {
  NetlinkMessage message(RTM_DELLINK, 0);
  message.Header(ifinfomsg{}).PutText(IFLA_IFNAME, name);
  MustSucceed(socket_->Do(message, "delete " + std::string(name)));
}

void NetworkNamespaceTest::RenameLink(std::string_view name, std::string_view to) {
  ifinfomsg head{};
  head.ifi_index = static_cast<int>(socket_->InterfaceIndex(name).value());
  NetlinkMessage message(RTM_NEWLINK, 0);
  message.Header(head).PutText(IFLA_IFNAME, to);
  MustSucceed(socket_->Do(message, "rename " + std::string(name)));
}

}  // namespace railwright::machine
