// The walk against the kernel: random rulesets are loaded, one packet is sent each way, and the judgement
// must be what happened.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>

#include "core/decode/iptables_save.h"
#include "core/diagnose/firewall.h"
#include "tests/support/fork_child.h"
#include "tests/support/rounds.h"

namespace railwright {
namespace {

constexpr const char* kNft = "/usr/sbin/nft";
constexpr std::uint16_t kSourcePort = 50000;  // within RoCE's entropy

// Runs a program with `input`; its output, or nothing when it failed.
std::optional<std::string> Output(const std::vector<std::string>& words, const std::string& input = {}) {
  int in[2], out[2];
  if (pipe(in) != 0 || pipe(out) != 0) return std::nullopt;
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    if (std::getenv("RAILWRIGHT_VERBOSE") == nullptr) dup2(open("/dev/null", O_WRONLY), 2);
    for (const int fd : {in[0], in[1], out[0], out[1]}) close(fd);
    std::vector<char*> argv;
    for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  (void)!write(in[1], input.data(), input.size());  // a ruleset is smaller than a pipe
  close(in[1]);
  std::string text;
  char buffer[65536];
  for (ssize_t size; (size = read(out[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(size));
  close(out[0]);
  int status = -1;
  waitpid(pid, &status, 0);
  if (status != 0) return std::nullopt;
  return text;
}

int UdpSocket(const char* address, std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in local{};
  local.sin_family = AF_INET;
  local.sin_port = htons(port);
  inet_pton(AF_INET, address, &local.sin_addr);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&local), sizeof local) != 0) return -1;
  return fd;
}

// A packet that a rule of `output` drops is refused right here, with EPERM.
void Send(int fd, const char* address, std::uint32_t token) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(4791);
  inet_pton(AF_INET, address, &to.sin_addr);
  (void)sendto(fd, &token, sizeof token, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

bool Arrived(int fd, std::uint32_t token, int patience_ms) {
  pollfd wait{fd, POLLIN, 0};
  while (poll(&wait, 1, patience_ms) > 0) {
    std::uint32_t got = 0;
    if (recv(fd, &got, sizeof got, MSG_DONTWAIT) == sizeof got && got == token) return true;
  }
  return false;
}

// Two hosts: ours, which has the firewall (rail0, 10.9.0.2), and a peer without one (tx0, 10.9.0.1).
class FirewallKernelTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root for network namespaces";
    int ready[2], go[2];
    ASSERT_EQ(pipe(ready), 0);
    ASSERT_EQ(pipe(go), 0);
    peer_ = ForkChild();
    if (peer_ == 0) {
      if (unshare(CLONE_NEWNET) != 0) _exit(1);
      (void)!write(ready[1], "x", 1);
      pause();
      _exit(0);
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    const std::string theirs = "/proc/" + std::to_string(peer_) + "/ns/net";
    const int peer_namespace = OpenFile(theirs);
    ASSERT_EQ(unshare(CLONE_NEWNET), 0);
    const int our_namespace = OpenFile("/proc/thread-self/ns/net");
    ASSERT_TRUE(Output({"/usr/sbin/ip", "-batch", "-"}, "link add rail0 type veth peer name tx0 netns " +
                                                            std::to_string(peer_) +
                                                            "\nlink set lo up\nlink set rail0 up\n"
                                                            "addr add 10.9.0.2/24 dev rail0\n"));
    ASSERT_EQ(setns(peer_namespace, CLONE_NEWNET), 0);
    ASSERT_TRUE(Output({"/usr/sbin/ip", "-batch", "-"},
                       "link set lo up\nlink set tx0 up\naddr add 10.9.0.1/24 dev tx0\n"));
    peer_sends_ = UdpSocket("10.9.0.1", kSourcePort);
    peer_listens_ = UdpSocket("10.9.0.1", 4791);
    ASSERT_EQ(setns(our_namespace, CLONE_NEWNET), 0);
    we_send_ = UdpSocket("10.9.0.2", kSourcePort);
    we_listen_ = UdpSocket("10.9.0.2", 4791);
    ASSERT_GE(std::min({peer_sends_, peer_listens_, we_send_, we_listen_}), 0);
    close(peer_namespace);
    close(our_namespace);
    // Neighbours are resolved before rules are in the way.
    Send(peer_sends_, "10.9.0.2", 1);
    ASSERT_TRUE(Arrived(we_listen_, 1, 2000));
    Send(we_send_, "10.9.0.1", 1);
    ASSERT_TRUE(Arrived(peer_listens_, 1, 2000));
  }
  void TearDown() override {
    for (const int fd : {peer_sends_, peer_listens_, we_send_, we_listen_})
      if (fd >= 0) close(fd);
    if (peer_ > 0) {
      kill(peer_, SIGKILL);
      waitpid(peer_, nullptr, 0);
    }
  }
  static int OpenFile(const std::string& path) { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }

  // What happens to one packet that way.
  bool Passes(PacketClass::Direction direction, bool expected) {
    const std::uint32_t token = ++token_;
    const int patience = expected ? 1000 : 10;  // veth delivers before sendto returns, but for a busy host
    if (direction == PacketClass::Direction::kReceive) {
      Send(peer_sends_, "10.9.0.2", token);
      return Arrived(we_listen_, token, patience);
    }
    Send(we_send_, "10.9.0.1", token);
    return Arrived(peer_listens_, token, patience);
  }

  // Loads the script and compares both ways. False when nft refuses it.
  bool Compare(const std::string& script) {
    if (!Output({kNft, "-f", "-"}, "flush ruleset\n" + script)) return false;
    const auto listing = Output({kNft, "-j", "list", "ruleset"});
    EXPECT_TRUE(listing);
    const auto ruleset = nft::DecodeRuleset(*listing);
    EXPECT_TRUE(ruleset.ok()) << ruleset.status().ToString();
    CompareBothWays(*ruleset, script);
    return true;
  }

  // The same for a text of iptables-restore; what is judged is what iptables-save prints.
  bool CompareIptables(const std::string& text) {
    if (!Output({kNft, "-f", "-"}, "flush ruleset\n") || !Output({"/usr/sbin/iptables-restore"}, text))
      return false;
    const auto listing = Output({"/usr/sbin/iptables-save"});
    EXPECT_TRUE(listing);
    const auto save = DecodeIptablesSave(*listing, "ip");
    EXPECT_TRUE(save.ok() && save->complete) << save.status().ToString();
    CompareBothWays(save->ruleset, *listing);
    return true;
  }

  void CompareBothWays(const nft::Ruleset& ruleset, const std::string& script) {
    for (const auto direction : {PacketClass::Direction::kReceive, PacketClass::Direction::kSend}) {
      PacketClass packets;
      packets.direction = direction;
      packets.ports = IntervalSet::Of(4791);
      packets.peers = ParseNetwork("10.9.0.1")->addresses;
      packets.own = ParseNetwork("10.9.0.2")->addresses;
      packets.interfaces = {"rail0"};
      const FirewallAnswer answer = JudgeFirewall(ruleset, packets);
      const bool judged = answer.passage == Passage::kPasses;
      if (answer.passage != Passage::kPasses && answer.passage != Passage::kDropped) {
        ++undecided_;
        continue;
      }
      ++(judged ? passed_ : dropped_);
      EXPECT_EQ(Passes(direction, judged), judged)
          << (direction == PacketClass::Direction::kReceive ? "received: " : "sent: ") << "judged "
          << Name(answer.passage) << (answer.obstacles.empty() ? "" : " by " + answer.obstacles[0].Where())
          << "\n"
          << script;
    }
  }

  pid_t peer_ = -1;
  int peer_sends_ = -1, peer_listens_ = -1, we_send_ = -1, we_listen_ = -1;
  std::uint32_t token_ = 100;
  int passed_ = 0, dropped_ = 0, undecided_ = 0;
};

// A ruleset of one to three tables that the kernel accepts; most of its rules could matter to the packet.
class RandomRuleset {
 public:
  explicit RandomRuleset(unsigned seed) : random_(seed) {}

  std::string Make() {
    std::string script;
    const int tables = 1 + Roll(3);
    for (int i = 0; i < tables; ++i) script += Table("t" + std::to_string(i));
    return script;
  }

 private:
  int Roll(int sides) { return static_cast<int>(random_() % static_cast<unsigned>(sides)); }
  template <std::size_t N>
  std::string Pick(const char* const (&list)[N]) {
    return list[Roll(N)];
  }

  std::string Table(const std::string& name) {
    inet_ = Roll(3) != 0;
    std::string text = std::string("table ") + (inet_ ? "inet " : "ip ") + name + " {\n";
    text += " set peers { type ipv4_addr; flags interval; elements = { " +
            Pick({"10.9.0.0/24", "10.8.0.0/16", "10.9.0.1, 10.9.0.7", "10.9.0.2-10.9.0.9"}) + " }\n }\n";
    text += " map verdicts { type inet_service : verdict; elements = { 22 : accept, " +
            Pick({"4791 : accept", "4791 : drop", "4791 : continue", "4791 : return", "53 : drop"}) +
            " }\n }\n";
    const int chains = Roll(3);
    for (int i = chains - 1; i >= 0; --i) {  // a chain jumps only to those above it
      text += " chain c" + std::to_string(i) + " {\n";
      for (int rules = Roll(4); rules > 0; --rules) text += Rule(i + 1, chains, "");
      text += " }\n";
    }
    for (const auto& [hook, type] :
         {std::pair("prerouting", "raw"), std::pair("prerouting", "mangle"), std::pair("input", "filter"),
          std::pair("output", "filter"), std::pair("postrouting", "mangle")}) {
      if (Roll(std::string(hook) == "input" ? 2 : 3) != 0) continue;
      text += " chain b_" + std::string(hook) + "_" + type + " {\n  type filter hook " + hook + " priority " +
              type + (Roll(2) != 0 ? " + 1" : "") + "; policy " + (Roll(5) == 0 ? "drop" : "accept") + ";\n";
      for (int rules = 1 + Roll(5); rules > 0; --rules) text += Rule(0, chains, type);
      text += " }\n";
    }
    return text + "}\n";
  }

  std::string Rule(int from, int chains, const std::string& type) {
    std::string rule = "  ";
    for (int conditions = Roll(4); conditions > 0; --conditions) rule += Condition(inet_) + " ";
    if (Roll(12) == 0) return rule.substr(0, 2) + Alone(inet_) + (Roll(2) == 0 ? " drop\n" : " accept\n");
    if (Roll(6) == 0) rule += "counter ";
    switch (Roll(12)) {
      case 0:
      case 1:
      case 2: rule += "accept"; break;
      case 3:
      case 4: rule += "drop"; break;
      case 5: rule += "return"; break;
      case 6:
        rule +=
            type == "raw" ? "notrack" : Pick({"meta mark set 1", "meta mark set 0x12", "ip dscp set cs1"});
        break;
      case 7:
        rule += Pick({"udp dport vmap @verdicts", "iifname vmap { \"rail0\" : accept, \"lo\" : drop }",
                      "ct state vmap { established : accept, new : continue, untracked : return }",
                      "meta mark vmap { 0 : return, 1 : drop }",
                      "ip saddr vmap { 10.9.0.0/24 : continue, 10.0.0.0-10.8.255.255 : drop }",
                      "ip saddr . udp dport vmap { 10.9.0.1 . 4791 : accept, 10.9.0.1 . 4792 : drop }"});
        break;
      case 8: rule += Pick({"reject", "reject with icmp type host-prohibited"}); break;
      default:
        if (from < chains)
          rule += (Roll(3) == 0 ? "goto c" : "jump c") + std::to_string(from + Roll(chains - from));
        else
          rule += "continue";
    }
    // reject is allowed in few hooks; drop says the same.
    if (type.empty() || type == "raw" || type == "mangle")
      if (const auto at = rule.find("reject"); at != std::string::npos) rule = rule.substr(0, at) + "drop";
    return rule + "\n";
  }

  // nft refuses rules whose conditions contradict each other, so another protocol comes alone.
  std::string Condition(bool inet) {
    if (Roll(40) == 0) return Pick({"meta l4proto tcp", "meta l4proto { tcp, icmp }", "ip protocol icmp"});
    if (inet && Roll(25) == 0) return "meta nfproto ipv4";
    return Pick({"ip saddr 10.9.0.1",
                 "ip saddr 10.9.0.0/24",
                 "ip saddr != 10.9.0.0/16",
                 "ip saddr @peers",
                 "ip saddr != @peers",
                 "ip daddr { 10.9.0.2, 10.9.0.1 }",
                 "ip daddr 10.9.0.2",
                 "ip daddr & 255.255.255.0 == 10.9.0.0",
                 "udp dport 4791",
                 "udp dport 4790",
                 "udp dport 4700-4800",
                 "udp dport != { 53, 4791 }",
                 "udp dport { 53, 4789-4791 }",
                 "udp dport >= 4791",
                 "udp dport < 4791",
                 "udp sport 49152-65535",
                 "udp sport 4791",
                 "@th,16,16 4791",
                 "@th,16,16 4790",
                 "iifname \"rail0\"",
                 "iifname \"rail*\"",
                 "iifname != \"rail0\"",
                 "iifname { \"lo\", \"eth*\" }",
                 "oifname \"rail0\"",
                 "oifname != \"rail0\"",
                 "meta l4proto udp",
                 "meta l4proto != tcp",
                 "ip protocol udp",
                 "ct state new",
                 "ct state established,related",
                 "ct state invalid",
                 "ct state untracked",
                 "ct state != new",
                 "ct state { new, untracked }",
                 "ct direction original",
                 "ct direction reply",
                 "ct status dnat",
                 "meta mark 0",
                 "meta mark 1",
                 "meta mark & 0x3 == 0x2",
                 "meta mark != 0",
                 "meta pkttype host",
                 "meta pkttype { broadcast, multicast }",
                 "ip frag-off & 0x1fff != 0",
                 "fib daddr type local",
                 "fib saddr type local",
                 "ip saddr . udp dport { 10.9.0.0/24 . 4791, 10.8.0.0/16 . 1-65535 }",
                 "iifname . ip saddr { \"rail0\" . 10.9.0.2, \"rail0\" . 10.9.0.1 }",
                 "udp length > 0"});
  }

  std::string Alone(bool inet) {
    return inet && Roll(2) == 0 ? Pick({"ip6 saddr fd00::1", "ip6 saddr != fd00::1", "meta nfproto ipv6"})
                                : Pick({"tcp dport != 22", "tcp flags syn", "tcp dport 4791"});
  }

  std::mt19937 random_;
  bool inet_ = true;
};

// The same in iptables' words.
class RandomIptables {
 public:
  explicit RandomIptables(unsigned seed) : random_(seed) {}

  std::string Make() {
    std::string text = "*raw\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n";
    if (Roll(3) == 0) text += "-A PREROUTING " + Condition() + " -j CT --notrack\n";
    text += "COMMIT\n*mangle\n:PREROUTING ACCEPT [0:0]\n";
    if (Roll(2) == 0)
      text += "-A PREROUTING " + Condition() + " -j MARK --set-mark " + Pick({"0x1", "0x4000"}) + "\n";
    text += "COMMIT\n*filter\n";
    for (const char* chain : {"INPUT", "OUTPUT"})
      text += std::string(":") + chain + " " + (Roll(3) == 0 ? "DROP" : "ACCEPT") + " [0:0]\n";
    text += ":SUB - [0:0]\n:LEAF - [0:0]\n";
    for (const char* chain : {"INPUT", "OUTPUT", "SUB", "LEAF"})
      for (int rules = Roll(5); rules > 0; --rules)
        text += std::string("-A ") + chain + " " + Rule(chain) + "\n";
    return text + "COMMIT\n";
  }

 private:
  int Roll(int sides) { return static_cast<int>(random_() % static_cast<unsigned>(sides)); }
  template <std::size_t N>
  std::string Pick(const char* const (&list)[N]) {
    return list[Roll(N)];
  }
  std::string Rule(const std::string& chain) {
    std::string target =
        Pick({"-j ACCEPT", "-j DROP", "-j RETURN", "-j REJECT", "-j SUB", "-g SUB", "-j LEAF", ""});
    if (chain == "LEAF" || (chain == "SUB" && target.ends_with("SUB")))
      target = Pick({"-j ACCEPT", "-j DROP", "-j RETURN"});
    return Condition() + " " + target;
  }
  std::string Condition() {
    return Pick({"-s 10.9.0.0/24",
                 "! -s 10.9.0.0/255.255.255.0",
                 "-d 10.9.0.2",
                 "-i rail0",
                 "-i rail+",
                 "! -o rail0",
                 "-i lo",
                 "-p udp",
                 "! -p udp",
                 "-p tcp",
                 "-p udp -m udp --dport 4791",
                 "-p udp -m udp ! --dport 4790:4792",
                 "-p udp -m udp --sport 49152:65535",
                 "-p udp -m multiport --dports 53,4788:4795",
                 "-p udp -m multiport ! --dports 4791",
                 "-p tcp -m tcp --syn",
                 "-m conntrack --ctstate NEW",
                 "-m conntrack --ctstate RELATED,ESTABLISHED",
                 "-m conntrack ! --ctstate INVALID",
                 "-m conntrack --ctstate UNTRACKED",
                 "-m state --state NEW,UNTRACKED",
                 "-m conntrack --ctstate DNAT",
                 "-m mark --mark 0x1",
                 "-m mark ! --mark 0x4000/0x4000",
                 "-m pkttype --pkt-type unicast",
                 "-m iprange --src-range 10.9.0.1-10.9.0.9",
                 "-m iprange ! --dst-range 10.9.0.1-10.9.0.9",
                 "-m addrtype --dst-type LOCAL",
                 "-m addrtype ! --src-type LOCAL",
                 "-m comment --comment \"a -j DROP\"",
                 "! -f",
                 ""});
  }

  std::mt19937 random_;
};

TEST_F(FirewallKernelTest, RandomIptablesRulesAreJudgedAsTheKernelJudgesThem) {
  if (access("/usr/sbin/iptables-restore", X_OK) != 0) GTEST_SKIP() << "no iptables here";
  const char* set = std::getenv("RAILWRIGHT_RULESETS");
  const int rulesets = set != nullptr ? std::atoi(set) : Rounds(100, 800);
  int refused = 0;
  for (int i = 0; i < rulesets && !HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(i));
    if (!CompareIptables(RandomIptables(static_cast<unsigned>(i)).Make())) ++refused;
  }
  std::printf("%d rulesets, %d refused by iptables-restore; judged: %d pass, %d dropped, %d undecided\n",
              rulesets, refused, passed_, dropped_, undecided_);
  EXPECT_LT(refused, rulesets / 3);  // iptables has no -o in INPUT, and the like
  EXPECT_GT(passed_, rulesets / 4);
  EXPECT_GT(dropped_, rulesets / 8);
  EXPECT_EQ(undecided_, 0);
}

TEST_F(FirewallKernelTest, RandomRulesetsAreJudgedAsTheKernelJudgesThem) {
  const char* set = std::getenv("RAILWRIGHT_RULESETS");
  const int rulesets = set != nullptr ? std::atoi(set) : Rounds(250, 2000);
  const char* first = std::getenv("RAILWRIGHT_SEED");
  const unsigned seed = first != nullptr ? static_cast<unsigned>(std::atoi(first)) : 1;
  int refused = 0;
  for (int i = 0; i < rulesets && !HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed + static_cast<unsigned>(i)));
    if (!Compare(RandomRuleset(seed + static_cast<unsigned>(i)).Make())) ++refused;
  }
  std::printf("%d rulesets, %d refused by nft; judged: %d pass, %d dropped, %d undecided\n", rulesets,
              refused, passed_, dropped_, undecided_);
  EXPECT_LT(refused, rulesets / 5);
  EXPECT_GT(passed_, rulesets / 4);
  EXPECT_GT(dropped_, rulesets / 8);
  EXPECT_LT(undecided_, rulesets / 5);
}

}  // namespace
}  // namespace railwright
