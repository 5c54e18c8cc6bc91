// What a firewall does to RDMA, over any ruleset in any of its three notations.
#include <algorithm>

#include "core/decode/iptables_save.h"
#include "core/decode/nft_ruleset.h"
#include "core/decode/ufw_status.h"
#include "core/diagnose/firewall.h"
#include "core/diagnose/firewall_ufw.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

namespace {

PacketClass Packets(std::uint8_t which) {
  PacketClass packets;
  packets.direction = (which & 1) != 0 ? PacketClass::Direction::kSend : PacketClass::Direction::kReceive;
  packets.ipv6 = (which & 2) != 0;
  packets.protocol = (which & 4) != 0 ? PortProtocol::kTcp : PortProtocol::kUdp;
  packets.ports = IntervalSet::Of(kRoceV2.first);
  packets.peers = ParseNetwork(packets.ipv6 ? "fd00:10::/64" : "10.9.0.0/24")->addresses;
  packets.own = ParseNetwork(packets.ipv6 ? "fd00:10::2" : "10.9.0.2")->addresses;
  packets.interfaces = {"rail0", "rail1"};
  return packets;
}

void Check(const FirewallAnswer& answer, std::string_view text) {
  Passage worst = Passage::kPasses;
  for (const Obstacle& obstacle : answer.obstacles) {
    ALWAYS(obstacle.passage != Passage::kPasses, obstacle.Where(), text);
    if (!obstacle.behind) worst = std::max(worst, obstacle.passage);
  }
  ALWAYS(answer.passage == worst, Name(answer.passage), text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const PacketClass packets = Packets(static_cast<std::uint8_t>(input.Byte() - '0'));
  const std::string_view text = input.Rest();
  if (text.find("nftables") != std::string_view::npos) {
    if (const auto ruleset = nft::DecodeRuleset(text); ruleset.ok()) {
      Check(JudgeFirewall(*ruleset, packets), text);
      Check(JudgeFirewall(*ruleset, packets,
                          {.without_tables = {{"inet", "railwright"}}, .hidden_rules = true}),
            text);
    }
  } else if (text.find("Status:") != std::string_view::npos) {
    if (const auto status = DecodeUfwStatus(text); status.ok()) Check(JudgeUfw(*status, packets), text);
  } else if (const auto save = DecodeIptablesSave(text, packets.ipv6 ? "ip6" : "ip"); save.ok()) {
    Check(JudgeFirewall(save->ruleset, packets), text);
  }
  return 0;
}
