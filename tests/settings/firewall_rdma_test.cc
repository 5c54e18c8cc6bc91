#include <algorithm>
#include <cerrno>
#include <string>

#include "core/decode/rdma_firewall.h"
#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kPath = "/nft/table/inet/railwright";

// What nft 1.0.6 prints for our table with one subnet and one port, handles and counters included.
std::string Listed(const std::string& more = "", const std::string& policy = "accept",
                   const std::string& elements = R"({"prefix":{"addr":"10.10.0.0","len":16}})",
                   const std::string& hook = "input", const std::string& comment = "railwright:rocev2",
                   const std::string& prio = "-10") {
  return R"([{"table":{"family":"inet","name":"railwright","handle":2}},
{"set":{"family":"inet","name":"fabric4","table":"railwright","type":"ipv4_addr","handle":2,"flags":["interval"],"elem":[)" +
         elements + R"(]}},
{"chain":{"family":"inet","table":"railwright","name":"input","handle":1,"type":"filter","hook":")" +
         hook + R"(","prio":)" + prio + R"(,"policy":")" + policy + R"("}},
{"rule":{"family":"inet","table":"railwright","chain":"input","handle":4,"comment":")" +
         comment +
         R"(","expr":[{"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":"@fabric4"}},{"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":4791}},{"counter":{"packets":17,"bytes":2040}},{"accept":null}]}})" +
         more + "]";
}

std::string Value(const std::string& json, const std::string& expected = "") {
  const auto reading = ReadRdmaFirewall(json, expected);
  EXPECT_TRUE(reading.ok()) << reading.status().ToString();
  return reading.ok() ? reading->value : "";
}

TEST(FirewallRdmaTest, PortsHaveOneSpelling) {
  const Subject firewall("firewall.rdma");
  EXPECT_EQ(firewall.Said("allow"), "allow");
  EXPECT_EQ(firewall.Said("tcp:7471,udp:4791"), "udp:4791,tcp:7471");
  EXPECT_EQ(firewall.Said("tcp:18515-18520 tcp:18521-18530 tcp:18516"), "tcp:18515-18530");
  EXPECT_EQ(firewall.Said("allow,udp:4791,tcp:29500"), "allow,tcp:29500") << "4791 is among allow's";
  EXPECT_EQ(firewall.Said("tcp:5000-5000"), "tcp:5000");
  for (const char* bad : {"", "deny", "4791", "udp:0", "udp:65536", "tcp:9-8", "sctp:1", "udp:4791-",
                          "udp:", "udp:a", "allow;flush ruleset"})
    EXPECT_FALSE(firewall.Canonical(bad).ok()) << bad;
  EXPECT_NE(firewall.Said("udp:65536").find("\"udp:65536\""), std::string::npos);
}

TEST(FirewallRdmaTest, TheWishNamesSourcesAndPorts) {
  Subject firewall("firewall.rdma");
  firewall.facts.subnets = {"fd00:10::/48", "10.10.0.0/16", "10.10.3.0/24", "10.20.0.7/16"};
  EXPECT_EQ(firewall.Wish("allow"),
            "from 10.10.0.0/16,10.20.0.0/16,fd00:10::/48: udp 4791, tcp 7174, tcp 7471, tcp 18515-18530, "
            "tcp 32768-60999");
  EXPECT_EQ(firewall.Wish("udp:4791"), "from 10.10.0.0/16,10.20.0.0/16,fd00:10::/48: udp 4791");
}

TEST(FirewallRdmaTest, WithoutSubnetsNothingIsOpened) {
  Subject firewall("firewall.rdma");
  firewall.facts.subnets.clear();
  const auto none = firewall.setting->Desired(firewall.target, "allow");
  EXPECT_EQ(none.status().code(), Code::kInvalidArgument);
  EXPECT_NE(none.status().message().find("subnets"), std::string::npos);
  for (const char* bad : {"0.0.0.0/0", "::/0", "10.10.0.0", "10.10.0.0/33", "x"}) {
    firewall.facts.subnets = {bad};
    EXPECT_FALSE(firewall.setting->Desired(firewall.target, "allow").ok()) << bad;
  }
}

TEST(FirewallRdmaTest, OurTableReadsAsTheWishWhateverItsHandlesAndCounters) {
  EXPECT_EQ(Value(Listed()), "from 10.10.0.0/16: udp 4791");
  EXPECT_EQ(Value(Listed("", "accept", R"("10.0.0.1",{"prefix":{"addr":"10.10.0.0","len":16}})")),
            "from 10.0.0.1/32,10.10.0.0/16: udp 4791");
}

TEST(FirewallRdmaTest, ATableThatDiffersInAnyWayDoesNotLookEqual) {
  const std::string ours = "from 10.10.0.0/16: udp 4791";
  const std::string drop =
      R"(,{"rule":{"family":"inet","table":"railwright","chain":"input","handle":9,"expr":[{"drop":null}]}})";
  const std::string twin =
      R"(,{"rule":{"family":"inet","table":"railwright","chain":"input","handle":9,"comment":"railwright:rocev2","expr":[{"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":"@fabric4"}},{"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":4791}},{"counter":null},{"accept":null}]}})";
  const std::string chain =
      R"(,{"chain":{"family":"inet","table":"railwright","name":"output","handle":9,"type":"filter","hook":"output","prio":0,"policy":"accept"}})";
  const std::string set =
      R"(,{"set":{"family":"inet","table":"railwright","name":"more","type":"ipv4_addr","handle":9}})";
  const std::string unknown =
      R"(,{"flowtable":{"family":"inet","table":"railwright","name":"f","handle":9}})";
  const std::string limited =
      R"(,{"rule":{"family":"inet","table":"railwright","chain":"input","handle":9,"expr":[{"brandnew":{"a":1}}]}})";
  for (const auto& [what, json] : std::vector<std::pair<std::string, std::string>>{
           {"an extra rule", Listed(drop)},
           {"a rule twice", Listed(twin)},
           {"another chain", Listed(chain)},
           {"another set", Listed(set)},
           {"an unknown object", Listed(unknown)},
           {"an unknown statement", Listed(limited)},
           {"another policy", Listed("", "drop")},
           {"another hook", Listed("", "accept", R"({"prefix":{"addr":"10.10.0.0","len":16}})", "forward")},
           {"another priority", Listed("", "accept", R"({"prefix":{"addr":"10.10.0.0","len":16}})", "input",
                                       "railwright:rocev2", "0")},
           {"another comment",
            Listed("", "accept", R"({"prefix":{"addr":"10.10.0.0","len":16}})", "input", "mine")}}) {
    const std::string value = Value(json, ours);
    EXPECT_TRUE(value.starts_with("other, ")) << what << ": " << value;
  }
  EXPECT_EQ(Value(Listed("", "accept", R"({"prefix":{"addr":"10.11.0.0","len":16}})")),
            "from 10.11.0.0/16: udp 4791")
      << "another source is another value";
}

TEST(FirewallRdmaTest, AMissingRuleIsAnotherValue) {
  Subject firewall("firewall.rdma");
  FakeMachine machine;
  firewall.Wish("allow");
  machine.Put(kPath, Listed());
  EXPECT_EQ(firewall.See(machine).value, "from 10.10.0.0/16: udp 4791");
  EXPECT_FALSE(firewall.Satisfied(machine));
  machine.Put(kPath, R"([{"table":{"family":"inet","name":"railwright","handle":2}}])");
  EXPECT_FALSE(firewall.Satisfied(machine));
  EXPECT_TRUE(firewall.See(machine).value.starts_with("other, 0 rules")) << firewall.See(machine).value;
}

TEST(FirewallRdmaTest, TheDifferenceIsToldInWords) {
  Subject firewall("firewall.rdma");
  FakeMachine machine;
  firewall.Wish("udp:4791");
  machine.Put(
      kPath,
      Listed(
          R"(,{"rule":{"family":"inet","table":"railwright","chain":"input","handle":9,"expr":[{"match":{"op":"==","left":{"payload":{"protocol":"tcp","field":"dport"}},"right":22}},{"drop":null}]}})"));
  const Observation observed = firewall.See(machine);
  EXPECT_TRUE(observed.value.starts_with("other, 2 rules, not ours: tcp dport 22 drop [{")) << observed.value;
  EXPECT_EQ(observed.message, "table inet railwright differs: too much: rule in input: tcp dport 22 drop");
  EXPECT_FALSE(firewall.Satisfied(machine));
}

TEST(FirewallRdmaTest, WhatIsWrittenReadsBackAsWritten) {
  Subject firewall("firewall.rdma");
  firewall.facts.subnets = {"10.10.0.0/16", "fd00:10::/48", "10.20.0.7/32"};
  FakeMachine machine;
  EXPECT_EQ(firewall.See(machine).kind, Observation::Kind::kAbsent);
  firewall.Wish("allow,tcp:29500");
  ASSERT_TRUE(firewall.Apply(machine, firewall.target.wish).ok());
  EXPECT_EQ(firewall.See(machine).value, firewall.target.wish);
  EXPECT_TRUE(firewall.Satisfied(machine));
  ASSERT_EQ(machine.Writes().size(), 1U) << "one transaction";
  ASSERT_TRUE(firewall.Apply(machine, "").ok());
  EXPECT_EQ(firewall.See(machine).kind, Observation::Kind::kAbsent);
}

TEST(FirewallRdmaTest, ATransactionTouchesNoOtherTable) {
  const auto firewall = RdmaFirewall::For({"10.10.0.0/16", "fd00::/64"}, {{PortProtocol::kUdp, 4791, 4791}});
  ASSERT_TRUE(firewall.ok());
  const std::string transaction = firewall->Transaction();
  EXPECT_EQ(transaction.find("flush"), std::string::npos);
  EXPECT_EQ(transaction.find("ruleset"), std::string::npos);
  // Every object that names a table names ours.
  for (std::size_t at = 0; (at = transaction.find("\"table\":\"", at)) != std::string::npos; at += 9)
    EXPECT_EQ(transaction.substr(at, 20), "\"table\":\"railwright\"");
}

TEST(FirewallRdmaTest, AnotherTablesContentIsKeptAndPutBack) {
  const std::string foreign =
      R"([{"table":{"family":"inet","name":"railwright","handle":2}},{"chain":{"family":"inet","table":"railwright","name":"mine","handle":1}},{"rule":{"family":"inet","table":"railwright","chain":"mine","handle":4,"comment":"a [{\"table\": trap","expr":[{"counter":{"packets":5,"bytes":6}},{"accept":null}]}},{"set":{"family":"inet","table":"railwright","name":"s","type":"ipv4_addr","handle":7}}])";
  const std::string value = Value(foreign);
  ASSERT_TRUE(value.starts_with("other, 1 rule, not ours: accept [{")) << value;
  EXPECT_EQ(value.find("handle"), std::string::npos);
  const auto back = OtherTableTransaction(value);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(Value(*back), value) << "read back, it is the same value";
  EXPECT_LT(back->find("\"set\""), back->find("\"rule\"")) << "a rule may refer to a set";
  Subject firewall("firewall.rdma");
  FakeMachine machine;
  ASSERT_TRUE(firewall.Apply(machine, value).ok());
  EXPECT_EQ(firewall.See(machine).value, value);
}

TEST(FirewallRdmaTest, AnUnreadableTableIsAnError) {
  Subject firewall("firewall.rdma");
  FakeMachine machine;
  for (const char* bad :
       {"", "{", "[]", "{}", "null", "17", R"([{"table":{"family":"ip","name":"railwright"}}])"}) {
    machine.Put(kPath, bad);
    EXPECT_FALSE(firewall.setting->Observe(machine, firewall.target).ok()) << bad;
  }
  machine.FailReads(kPath, FromErrno(EPERM, kPath));
  EXPECT_EQ(firewall.setting->Observe(machine, firewall.target).status().code(), Code::kPermissionDenied);
  for (const char* bad :
       {"other, ", "other, x [{\"table\":", "from x: udp 1", "from 10.0.0.0/8: ", "nonsense"})
    EXPECT_FALSE(firewall.Apply(machine, bad).ok()) << bad;
  EXPECT_TRUE(machine.Writes().empty());
}

}  // namespace
}  // namespace railwright
