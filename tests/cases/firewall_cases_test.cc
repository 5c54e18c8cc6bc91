// Category G: does a real ruleset block RDMA, or does it only look so?
#include <gtest/gtest.h>

#include "core/decode/iptables_save.h"
#include "core/decode/nft_ruleset.h"
#include "core/decode/ufw_status.h"
#include "core/diagnose/firewall.h"
#include "core/diagnose/firewall_ufw.h"
#include "tests/cases/cases.h"

namespace railwright {
namespace {

// The packets that the answers were measured with: UDP to 4791 between 10.9.0.1 and 10.9.0.2 on ens1f0np0.
PacketClass Packets(PacketClass::Direction direction) {
  PacketClass packets;
  packets.direction = direction;
  packets.ports = IntervalSet::Of(kRoceV2.first);
  packets.peers = ParseNetwork("10.9.0.1")->addresses;
  packets.own = ParseNetwork("10.9.0.2")->addresses;
  packets.interfaces = {"ens1f0np0"};
  return packets;
}

FirewallAnswer Judge(const std::string& text, const PacketClass& packets) {
  if (text.find("\"nftables\"") != std::string::npos) {
    const auto ruleset = nft::DecodeRuleset(text);
    EXPECT_TRUE(ruleset.ok()) << ruleset.status().ToString();
    return JudgeFirewall(*ruleset, packets);
  }
  if (IsIptablesListing(text)) {
    FirewallAnswer answer;
    answer.passage = Passage::kCannotTell;
    return answer;
  }
  if (text.find("Status:") != std::string::npos) {
    const auto status = DecodeUfwStatus(text);
    EXPECT_TRUE(status.ok()) << status.status().ToString();
    return JudgeUfw(*status, packets);
  }
  const auto save = DecodeIptablesSave(text, "ip");
  EXPECT_TRUE(save.ok()) << save.status().ToString();
  return JudgeFirewall(save->ruleset, packets);
}

bool Agrees(const std::string& expected, Passage passage) {
  if (expected.starts_with("BLOCKED or undecidable"))
    return passage == Passage::kDropped || passage == Passage::kCannotTell;
  if (expected.starts_with("BLOCKED")) return passage == Passage::kDropped;
  if (expected.starts_with("THROTTLED")) return passage == Passage::kThrottled;
  return expected.starts_with("pass") && passage == Passage::kPasses;
}

TEST(FirewallCases, EveryRealRulesetIsJudgedRight) {
  const auto list = cases::Load("G");
  RW_SKIP_WITHOUT_CASES(list);
  int judged = 0;
  for (const cases::Case& one : list) {
    for (const auto& file : one.files) {
      if (file.string().ends_with(".nft.txt")) continue;  // the same ruleset as its .json, for people
      const std::string text = cases::Read(file);
      for (const auto& [key, direction] : {std::pair("rx_udp4791", PacketClass::Direction::kReceive),
                                           std::pair("tx_udp4791", PacketClass::Direction::kSend)}) {
        if (!one.answer.contains(key)) continue;
        const std::string expected = one.answer[key];
        const FirewallAnswer answer = Judge(text, Packets(direction));
        ++judged;
        EXPECT_TRUE(Agrees(expected, answer.passage))
            << file.filename() << ' ' << key << ": expected " << expected << ", judged "
            << Name(answer.passage)
            << (answer.obstacles.empty()
                    ? ""
                    : " by " + answer.obstacles[0].Where() + " " + answer.obstacles[0].why);
      }
      if (one.answer.contains("default_in")) {
        EXPECT_EQ(DecodeUfwStatus(text)->default_in, one.answer["default_in"].get<std::string>());
      }
    }
  }
  std::printf("%zu cases, %d answers\n", list.size(), judged);
  EXPECT_GT(judged, static_cast<int>(list.size()));
}

}  // namespace
}  // namespace railwright
