// A fresh network namespace for one test, with its own /sys, and the devices that it needs.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "agent/machine/netlink_socket.h"
#include "core/files/descriptor.h"

namespace railwright::machine {

/// Between SetUp and TearDown the test's process is in a network and mount namespace of its own: devices,
/// routes, rules, nftables and /proc/sys/net are its own, and vanish with it. Skipped without root.
class NetworkNamespaceTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// A pair of veth devices, as Railwright's own test hardware: `name` and `peer`, both down. `queues` is
  /// what channels may go up to. Made by netlink, aborts the test when refused.
  void MakeVeth(std::string_view name, std::string_view peer, unsigned queues = 1);
  void DeleteLink(std::string_view name);
  void RenameLink(std::string_view name, std::string_view to);

  NetlinkSocket& socket() { return *socket_; }

 private:
  Descriptor network_, mounts_;
  std::unique_ptr<NetlinkSocket> socket_;
};

}  // namespace railwright::machine
