#include <gtest/gtest.h>

#include "railwright/check.h"
#include "railwright/explain.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

std::string Ruleset(const std::string& objects) {
  return R"({"nftables": [{"metainfo": {"version": "1.0.6", "release_name": "Lester Gooch #5", "json_schema_version": 1}})" +
         std::string(objects.empty() ? "" : ", ") + objects + "]}";
}

const std::string kOurTable =
    R"({"table": {"family": "inet", "name": "railwright", "handle": 1}}, )"
    R"({"chain": {"family": "inet", "table": "railwright", "name": "input", "handle": 1, "type": "filter", "hook": "input", "prio": -10, "policy": "accept"}}, )"
    R"({"rule": {"family": "inet", "table": "railwright", "chain": "input", "handle": 2, "expr": [{"accept": null}]}})";

// `rules` are expr lists of consecutive handles from 5.
std::string InputChain(const std::string& table, const std::string& policy,
                       const std::vector<std::string>& rules) {
  std::string text =
      R"({"table": {"family": "inet", "name": ")" + table +
      R"(", "handle": 7}}, {"chain": {"family": "inet", "table": ")" + table +
      R"(", "name": "input", "handle": 1, "type": "filter", "hook": "input", "prio": 0, "policy": ")" +
      policy + "\"}}";
  int handle = 5;
  for (const auto& rule : rules)
    text += R"(, {"rule": {"family": "inet", "table": ")" + table + R"(", "chain": "input", "handle": )" +
            std::to_string(handle++) + R"(, "expr": [)" + rule + "]}}";
  return text;
}

std::string Match(const std::string& left, const std::string& right) {
  return R"({"match": {"op": "==", "left": )" + left + R"(, "right": )" + right + "}}";
}
const std::string kUdpDport = R"({"payload": {"protocol": "udp", "field": "dport"}})";
const std::string kTcpDport = R"({"payload": {"protocol": "tcp", "field": "dport"}})";
const std::string kIif = R"({"meta": {"key": "iifname"}})";
const std::string kDrop = R"({"drop": null})";
const std::string kAccept = R"({"accept": null})";

class FirewallForeignTest : public testing::Test {
 protected:
  FirewallForeignTest() {
    facts_.subnets = {"10.10.0.0/16"};
    AddPort("rail0", "eth2", PortRole::kFabric, "10.10.0.1/24");
    AddPort("rail1", "eth3", PortRole::kFabric, "10.10.1.1/24");
    AddPort("mgmt", "eno1", PortRole::kManagement, "192.0.2.1/24");
    machine_.FailReads("/proc/net/ip_tables_names", Status(Code::kNotFound, "no such file", 2));
    machine_.FailReads("/proc/net/ip6_tables_names", Status(Code::kNotFound, "no such file", 2));
  }
  void AddPort(const std::string& name, const std::string& netdev, PortRole role,
               const std::string& address) {
    BoundPort port;
    port.port.name = name;
    port.port.role = role;
    port.port.addresses = {address};
    port.netdev = netdev;
    port.index = static_cast<int>(facts_.ports.size());
    facts_.ports.push_back(port);
  }
  std::vector<Finding> Run() {
    for (const auto& check : MakeChecks()) {
      if (check->info().key != "firewall.foreign") continue;
      auto findings = check->Run(machine_, facts_);
      for (const Finding& one : findings) {
        EXPECT_EQ(one.key, "firewall.foreign");
        EXPECT_EQ(one.code, "RW-2101");
        if (one.verdict == Verdict::kCompliant) continue;
        const auto pages = ReasonPages();
        EXPECT_TRUE(std::any_of(pages.begin(), pages.end(), [&](const ReasonPage& page) {
          return page.word == one.reason;
        })) << one.reason;
      }
      EXPECT_TRUE(machine_.Writes().empty());
      return findings;
    }
    return {};
  }
  std::vector<Finding> RunWith(const std::string& objects) {
    machine_.Put("/nft/ruleset", Ruleset(objects));
    return Run();
  }
  static bool Has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  FakeMachine machine_;
  NodeFacts facts_;
};

TEST_F(FirewallForeignTest, OurOwnTableAloneIsCompliantOnEveryFabricPort) {
  const auto findings = RunWith(kOurTable);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].target, "rail0");
  EXPECT_EQ(findings[1].target, "rail1");
  for (const Finding& one : findings) {
    EXPECT_EQ(one.verdict, Verdict::kCompliant) << one.message;
    EXPECT_EQ(one.observed, "Passes");
    EXPECT_EQ(one.evidence, std::vector<std::string>{"/nft/ruleset: no table but ours"});
  }
}

TEST_F(FirewallForeignTest, ADropIsNamedWithTableChainHandleAndTextAndWhatToDo) {
  const auto findings =
      RunWith(kOurTable + ", " +
              InputChain("site", "accept",
                         {Match(kUdpDport, "53") + ", " + kDrop, Match(kUdpDport, "4791") + ", " + kDrop}));
  ASSERT_EQ(findings.size(), 2U);
  const Finding& one = findings[0];
  EXPECT_EQ(one.verdict, Verdict::kDrifted);
  EXPECT_EQ(one.reason, "ForeignRule");
  EXPECT_EQ(one.message,
            "on eth2: table inet site chain input handle 6: \"udp dport 4791 drop\" drops UDP 4791 (rocev2) "
            "from 10.10.0.0/16");
  EXPECT_EQ(one.fix,
            "nft insert rule inet site input handle 6 iifname \"eth2\" ip saddr 10.10.0.0/16 udp dport 4791 "
            "accept");
}

TEST_F(FirewallForeignTest, OnlyThePortThatIsHitDrifts) {
  const auto findings = RunWith(InputChain(
      "site", "accept",
      {Match(kIif, "\"eth3\"") + ", " + Match(kTcpDport, R"({"range": [40000, 40009]})") + ", " + kDrop}));
  EXPECT_EQ(findings[0].verdict, Verdict::kCompliant);
  EXPECT_EQ(findings[1].verdict, Verdict::kDrifted);
  EXPECT_TRUE(Has(findings[1].message, "drops TCP 40000-40009 (nccl) from 10.10.0.0/16"))
      << findings[1].message;
}

TEST_F(FirewallForeignTest, AManagementPortIsNoneOfItsBusiness) {
  EXPECT_EQ(RunWith(InputChain("site", "accept", {Match(kIif, "\"eno1\"") + ", " + kDrop}))[0].verdict,
            Verdict::kCompliant);
}

TEST_F(FirewallForeignTest, AnAcceptOfOursDoesNotOverruleAPolicy) {
  const auto findings = RunWith(kOurTable + ", " + InputChain("firewalld", "drop", {}));
  EXPECT_EQ(findings[0].verdict, Verdict::kDrifted);
  EXPECT_TRUE(Has(findings[0].message,
                  "table inet firewalld chain input: \"policy drop\", kept by firewalld, drops UDP 4791"))
      << findings[0].message;
  EXPECT_TRUE(Has(findings[0].message,
                  "TCP 7471 (rdma_cm), 7174 (rping), 18515-18530 (perftest), 32768-60999 (nccl)"))
      << findings[0].message;
  EXPECT_TRUE(findings[0].fix.starts_with("firewall-cmd ")) << findings[0].fix;
}

TEST_F(FirewallForeignTest, EveryTableInTheWayIsNamed) {
  const auto findings = RunWith(InputChain("first", "drop", {}) + ", " + InputChain("second", "drop", {}));
  EXPECT_TRUE(Has(findings[0].message, "table inet first")) << findings[0].message;
  EXPECT_TRUE(Has(findings[0].message, "table inet second")) << findings[0].message;
}

TEST_F(FirewallForeignTest, WhatCannotBeReadIsUnknownAndSaysWhy) {
  const auto findings = RunWith(
      InputChain("filter", "drop", {R"({"xt": {"type": "match", "name": "multiport"}}, )" + kAccept}));
  EXPECT_EQ(findings[0].verdict, Verdict::kUnknown);
  EXPECT_EQ(findings[0].reason, "UnclearRule");
  EXPECT_TRUE(Has(findings[0].message, "xt match multiport in table inet filter chain input handle 5"))
      << findings[0].message;
}

TEST_F(FirewallForeignTest, LegacyTablesAreUnknownUnlessARuleDropsAnyway) {
  machine_.FailReads("/proc/net/ip_tables_names", Ok());
  machine_.Put("/proc/net/ip_tables_names", "nat\nfilter");
  auto findings = RunWith(kOurTable);
  EXPECT_EQ(findings[0].verdict, Verdict::kUnknown);
  EXPECT_EQ(findings[0].reason, "HiddenRules");
  EXPECT_TRUE(Has(findings[0].message, "nat filter (IPv4)")) << findings[0].message;
  findings = RunWith(InputChain("site", "drop", {}));
  EXPECT_EQ(findings[0].verdict, Verdict::kDrifted);
  machine_.Put("/proc/net/ip_tables_names", "");
  EXPECT_EQ(RunWith(kOurTable)[0].verdict, Verdict::kCompliant);
}

TEST_F(FirewallForeignTest, WithoutNftablesThereIsNothingToFind) {
  machine_.FailReads("/nft/ruleset",
                     Status(Code::kUnimplemented, "/nft/ruleset: this kernel has no nf_tables", 22));
  auto findings = Run();
  EXPECT_EQ(findings[0].verdict, Verdict::kNotApplicable);
  EXPECT_EQ(findings[0].reason, "NoNftables");
  // Legacy iptables needs no nf_tables.
  machine_.FailReads("/proc/net/ip_tables_names", Ok());
  machine_.Put("/proc/net/ip_tables_names", "filter");
  EXPECT_EQ(Run()[0].reason, "HiddenRules");
}

TEST_F(FirewallForeignTest, AFailedReadIsUnknownNeverCompliant) {
  machine_.FailReads("/nft/ruleset",
                     Status(Code::kPermissionDenied, "/nft/ruleset: Operation not permitted", 1));
  EXPECT_EQ(Run()[0].reason, "ReadFailed");
  EXPECT_EQ(Run()[0].verdict, Verdict::kUnknown);
  machine_.FailReads("/nft/ruleset", Ok());
  machine_.Put("/nft/ruleset", "{\"nftables\": [");
  EXPECT_EQ(Run()[0].verdict, Verdict::kUnknown);
  machine_.Put("/nft/ruleset", Ruleset(kOurTable));
  machine_.FailReads("/proc/net/ip_tables_names", Status(Code::kPermissionDenied, "denied", 13));
  EXPECT_EQ(Run()[0].verdict, Verdict::kUnknown);
}

TEST_F(FirewallForeignTest, WithoutTheNftProgramOnlyAnUntouchedRulesetIsKnown) {
  machine_.FailReads("/nft/ruleset", Status(Code::kNotFound, "/usr/sbin/nft: No such file or directory", 2));
  machine_.Put("/nft/generation", "1");
  EXPECT_EQ(Run()[0].verdict, Verdict::kCompliant);
  machine_.Put("/nft/generation", "2");
  EXPECT_EQ(Run()[0].verdict, Verdict::kUnknown);
  EXPECT_TRUE(Has(Run()[0].fix, "nftables")) << Run()[0].fix;
}

TEST_F(FirewallForeignTest, WithoutAFabricPortNothingIsRead) {
  for (BoundPort& port : facts_.ports) port.port.role = PortRole::kStorage;
  const auto findings = Run();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].verdict, Verdict::kNotApplicable);
  EXPECT_TRUE(machine_.Reads().empty());
}

TEST_F(FirewallForeignTest, AFabricPortThatIsNotThereIsUnknown) {
  facts_.ports[0].netdev.clear();
  facts_.ports[0].unbound = "no interface eth2";
  const auto findings = RunWith(kOurTable);
  EXPECT_EQ(findings[0].verdict, Verdict::kUnknown);
  EXPECT_EQ(findings[0].reason, "PortNotFound");
  EXPECT_EQ(findings[0].message, "no interface eth2");
  EXPECT_EQ(findings[1].verdict, Verdict::kCompliant);
}

TEST_F(FirewallForeignTest, Ipv6SubnetsHaveTheirOwnRules) {
  const std::string drop6 = InputChain("site", "accept",
                                       {Match(R"({"payload": {"protocol": "ip6", "field": "saddr"}})",
                                              R"({"prefix": {"addr": "fd00::", "len": 8}})") +
                                        ", " + kDrop});
  EXPECT_EQ(RunWith(drop6)[0].verdict, Verdict::kCompliant);
  facts_.subnets.push_back("fd00:10::/64");
  EXPECT_TRUE(Has(RunWith(drop6)[0].message, "from fd00:10::/64")) << RunWith(drop6)[0].message;
}

TEST_F(FirewallForeignTest, ACardThatPassesTheFirewallByIsSaid) {
  facts_.ports[0].ibdev = "mlx5_0";
  facts_.ports[1].ibdev = "rxe0";
  const auto findings = RunWith(InputChain("site", "drop", {}));
  EXPECT_TRUE(Has(findings[0].evidence.back(), "mlx5_0 carries RoCE past")) << findings[0].evidence.back();
  EXPECT_FALSE(Has(findings[1].evidence.back(), "rxe0"));
}

}  // namespace
}  // namespace railwright
