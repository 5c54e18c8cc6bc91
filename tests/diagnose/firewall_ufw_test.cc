#include "core/diagnose/firewall_ufw.h"

#include <gtest/gtest.h>

namespace railwright {
namespace {

PacketClass Roce(bool ipv6 = false) {
  PacketClass packets;
  packets.ipv6 = ipv6;
  packets.ports = IntervalSet::Of(4791);
  packets.peers = ParseNetwork(ipv6 ? "fd00:9::/64" : "10.9.0.0/24")->addresses;
  packets.interfaces = {"rail0"};
  return packets;
}

FirewallAnswer Judge(
    const std::string& rules, const PacketClass& packets = Roce(),
    const std::string& defaults = "Default: deny (incoming), allow (outgoing), disabled (routed)\n") {
  const auto status = DecodeUfwStatus("Status: active\n" + defaults +
                                      "\nTo                         Action      From\n"
                                      "--                         ------      ----\n" +
                                      rules);
  EXPECT_TRUE(status.ok()) << status.status().ToString();
  return JudgeUfw(*status, packets);
}

TEST(JudgeUfwTest, TheFirstRuleThatFitsDecides) {
  EXPECT_EQ(Judge("").passage, Passage::kDropped);
  EXPECT_EQ(Judge("4791/udp                   ALLOW IN    10.9.0.0/24\n").passage, Passage::kPasses);
  EXPECT_EQ(Judge("4791/tcp                   ALLOW IN    Anywhere\n").passage, Passage::kDropped);
  EXPECT_EQ(Judge("4791                       ALLOW IN    Anywhere\n").passage, Passage::kPasses);
  EXPECT_EQ(Judge("4791/udp (v6)              ALLOW IN    Anywhere (v6)\n").passage, Passage::kDropped);
  EXPECT_EQ(Judge("4791/udp (v6)              ALLOW IN    Anywhere (v6)\n", Roce(true)).passage,
            Passage::kPasses);
  EXPECT_EQ(Judge("Anywhere on rail0          ALLOW IN    Anywhere\n").passage, Passage::kPasses);
  EXPECT_EQ(Judge("Anywhere on eno1           ALLOW IN    Anywhere\n").passage, Passage::kDropped);
  EXPECT_EQ(Judge("4791/udp DENY IN 10.9.0.0/16\n4791/udp ALLOW IN Anywhere\n").passage, Passage::kDropped);
  EXPECT_EQ(Judge("4000:5000/udp              LIMIT IN    Anywhere\n").passage, Passage::kThrottled);
  EXPECT_EQ(Judge("4791/udp ALLOW OUT Anywhere\n").passage, Passage::kDropped);
}

TEST(JudgeUfwTest, AnUnknownProfileDecidesOnlyWhereItWould) {
  EXPECT_EQ(Judge("Our RDMA                   ALLOW IN    Anywhere\n").passage, Passage::kCannotTell);
  EXPECT_EQ(Judge("Our RDMA                   DENY IN     Anywhere\n").passage, Passage::kCannotTell);
  EXPECT_EQ(Judge("OpenSSH                    ALLOW IN    Anywhere\n").passage, Passage::kDropped);
  EXPECT_EQ(Judge("Our RDMA                   DENY IN     Anywhere\n4791 ALLOW IN Anywhere\n").passage,
            Passage::kCannotTell);
}

TEST(JudgeUfwTest, WithoutTheDefaultLineTheDefaultIsNotKnown) {
  const auto answer = Judge("22/tcp                     ALLOW       Anywhere\n", Roce(), "");
  EXPECT_EQ(answer.passage, Passage::kCannotTell);
  EXPECT_NE(answer.obstacles.at(0).why.find("verbose"), std::string::npos);
}

TEST(DecodeUfwStatusTest, EndsAreReadWhateverTheirOrder) {
  const auto status = DecodeUfwStatus(
      "Status: active\n--\n10.10.10.10 8080 on enp34s0 ALLOW       127.0.0.1 8000   # note DENY\n"
      "10.4.0.0/16/esp ALLOW FWD Apache Full (v6)\n");
  ASSERT_TRUE(status.ok()) << status.status().ToString();
  const UfwRule& first = status->rules.at(0);
  EXPECT_EQ(first.to.address, "10.10.10.10");
  EXPECT_EQ(first.to.interface, "enp34s0");
  EXPECT_EQ(first.to.ports, (std::vector<UfwEnd::Ports>{{8080, 8080}}));
  EXPECT_EQ(first.from.ports, (std::vector<UfwEnd::Ports>{{8000, 8000}}));
  EXPECT_EQ(first.direction, UfwRule::Direction::kIn);
  const UfwRule& second = status->rules.at(1);
  EXPECT_EQ(second.to.address, "10.4.0.0/16");
  EXPECT_EQ(second.to.protocol, "esp");
  EXPECT_EQ(second.from.application, "Apache Full");
  EXPECT_TRUE(second.ipv6);
}

TEST(DecodeUfwStatusTest, AnotherTextIsRefused) {
  EXPECT_FALSE(DecodeUfwStatus("").ok());
  EXPECT_FALSE(DecodeUfwStatus("hello\n").ok());
  EXPECT_FALSE(DecodeUfwStatus("Status: active\n--\nno action here\n").ok());
}

}  // namespace
}  // namespace railwright
