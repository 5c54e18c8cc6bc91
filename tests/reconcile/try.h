// TryNode: a node whose rail0 leads to the controller, with an RDMA device, neighbours, and a controller that
// answers when the test says so.
#pragma once

#include <algorithm>
#include <set>

#include "tests/reconcile/node.h"

namespace railwright {

/// Neighbours that answer as long as the test says so.
class FakeNeighbours final : public PeerProbe {
 public:
  void Ask(const std::string& netdev, const std::vector<std::string>& addresses) override {
    asked[netdev] = addresses;
    ++asks;
  }
  std::vector<std::string> Answered(const std::string& netdev) override {
    std::vector<std::string> answered;
    for (const std::string& address : asked[netdev])
      if (awake.contains(address)) answered.push_back(address);
    return answered;
  }
  std::string Obstacle(const std::string&) const override { return obstacle; }
  std::set<std::string> awake;
  std::string obstacle;
  std::map<std::string, std::vector<std::string>> asked;
  int asks = 0;
};

class TryNode : public Node {
 public:
  static constexpr const char* kMtu = "/rtnl/link/rail0/mtu";
  static constexpr const char* kCarrier = "/sys/class/net/rail0/carrier";
  static constexpr const char* kNetSpeed = "/sys/class/net/rail0/speed";
  static constexpr const char* kActive = "/sys/class/infiniband/mlx5_0/ports/1/state";
  static constexpr const char* kGid = "/sys/class/infiniband/mlx5_0/ports/1/gids/0";
  static constexpr const char* kGidText = "fe80:0000:0000:0000:0e42:a1ff:fe00:0001";

  TryNode() {
    machine.Put(kCarrier, "1").Put(kNetSpeed, "400000").Put("/sys/class/net/rail1/carrier", "1");
    machine.Put("/sys/class/net/rail0/device/infiniband/mlx5_0", "").Put(kActive, "4: ACTIVE");
    machine.Put("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "rail0").Put(kGid, kGidText);
    machine.Put("/rtnl/addr/rail0", "10.10.0.1/24").Put("/rtnl/addr/rail1", "");
    options.boot_id = "boot-1";
    options.management.netdevs = {"rail0"};
    options.witnesses.connected = [this] { return connected; };
    options.witnesses.redial = [this] {
      ++redials;
      if (answers) due_answer = true;
    };
    options.witnesses.peers = &neighbours;
    neighbours.awake = {"10.10.0.2"};
  }
  /// link.mtu of the way to the controller; the operator allows a try of this length.
  static DesiredState Mtu(std::uint64_t generation, const std::string& mtu = "4200",
                          std::chrono::milliseconds try_for = std::chrono::seconds(60)) {
    DesiredState state = State(generation).Enforce("link.mtu", "rail0", mtu);
    state.try_for = try_for;
    state.peers = {{"rail0", "10.10.0.2"}, {"rail0", "10.10.0.3"}};
    return state;
  }
  /// As Node's, with a controller that answers what was dialled anew.
  void Live(std::chrono::nanoseconds time) {
    const auto end = clock.Now() + time;
    for (int i = 0; i < 100'000; ++i) {
      if (std::exchange(due_answer, false)) agent->ControllerAnswered();
      const auto due = agent->NextDue();
      if (due > end) break;
      clock.AdvanceTo(due);
      agent->Tick();
    }
    clock.AdvanceTo(end);
  }
  /// Accepts, and lives a second: the neighbours are asked first.
  void Begin(const DesiredState& state) {
    if (!agent) Boot();
    ASSERT_TRUE(agent->Accept(state).ok());
    Live(std::chrono::seconds(1));
  }
  /// Keeps what TakeChanges gives; the messages of one kind.
  std::vector<std::string> Messages(ChangeKind kind) {
    (void)Changes(kind);
    std::vector<std::string> messages;
    for (const ChangeRecord& record : history)
      if (record.kind == kind) messages.push_back(record.message);
    return messages;
  }
  std::string MtuNow() const { return Value(kMtu); }
  bool Open() const { return journal.Try().has_value(); }

  FakeNeighbours neighbours;
  bool connected = true;  ///< before the try
  bool answers = true;    ///< the controller, when it is dialled anew
  bool due_answer = false;
  int redials = 0;
};

}  // namespace railwright
