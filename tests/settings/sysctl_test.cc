#include <cerrno>

#include "core/decode/sysctl_names.h"
#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kRpAll = "/proc/sys/net/ipv4/conf/all/rp_filter";
constexpr const char* kRpRail = "/proc/sys/net/ipv4/conf/rail0/rp_filter";

struct RpFilter : FakeMachine {
  RpFilter(const std::string& all, const std::string& own) { Put(kRpAll, all).Put(kRpRail, own); }
};

TEST(SysctlTest, BothSpellingsOfANameAreOneKey) {
  const Catalog catalog = MakeCatalog();
  struct {
    const char* typed;
    const char* canonical;
  } cases[] = {
      {"sysctl.net.ipv4.conf.all.arp_ignore", "sysctl.net.ipv4.conf.all.arp_ignore"},
      {"sysctl.net/ipv4/conf/all/arp_ignore", "sysctl.net.ipv4.conf.all.arp_ignore"},
      {"sysctl.net/ipv4/conf/eth0.100/arp_ignore", "sysctl.net.ipv4.conf.eth0/100.arp_ignore"},
      {"sysctl.net.ipv4.conf.eth0/100.arp_ignore", "sysctl.net.ipv4.conf.eth0/100.arp_ignore"},
      {"sysctl.net.ipv4.conf.eth0.100.arp_ignore", "sysctl.net.ipv4.conf.eth0/100.arp_ignore"},
      {"sysctl.net.ipv4.conf.{netdev}.arp_ignore", "sysctl.net.ipv4.conf.{netdev}.arp_ignore"},
  };
  for (const auto& one : cases) {
    const auto match = catalog.Find(one.typed);
    ASSERT_TRUE(match.ok());
    EXPECT_EQ(match->key, one.canonical) << one.typed;
    EXPECT_EQ(catalog.Find(match->key)->key, match->key) << "idempotent";
  }
}

TEST(SysctlTest, ANameWithNetdevIsAppliedToPorts) {
  EXPECT_EQ(Subject("sysctl.net.ipv4.conf.{netdev}.rp_filter").target.name, "rail0");
  EXPECT_EQ(Subject("sysctl.net.ipv4.conf.all.rp_filter").target.port, nullptr);
}

TEST(SysctlTest, MalformedNamesAreRefused) {
  for (const char* bad : {"", "swappiness", "net..ipv4", "net.ipv4.", ".net.ipv4", "net/ipv4/../../etc",
                          "net/./ipv4", "net.ipv4.a b", "vm.{netdev}", "net.ipv4.conf.{netdev}x.rp_filter",
                          "net.ipv4.{netdev}.all.rp_filter", "vm.x\ny", "vm.*"}) {
    EXPECT_FALSE(SysctlName::Parse(bad).ok()) << bad;
    // What cannot be parsed is refused by Canonical too, never let through as "some other name".
    const Catalog catalog = MakeCatalog();
    const auto match = catalog.Find(std::string("sysctl.") + bad);
    if (!match.ok()) continue;
    EXPECT_FALSE(match->setting->Canonical(match->param, "1").ok()) << bad;
  }
  EXPECT_FALSE(SysctlName::Parse(std::string(257, 'a')).ok());
}

TEST(SysctlTest, ATypingErrorGetsTheNameThatWasMeant) {
  const Catalog catalog = MakeCatalog();
  const auto say = [&](const char* name) {
    const auto match = catalog.Find(std::string("sysctl.") + name);
    return match->setting->Canonical(match->param, "1").status().message();
  };
  EXPECT_EQ(
      say("net.ipv4.conf.all.arp_ignroe"),
      "unknown sysctl \"net.ipv4.conf.all.arp_ignroe\"; did you mean \"net.ipv4.conf.all.arp_ignore\"?");
  EXPECT_EQ(say("net.ipv4.conf.{netdev}.rp_fliter"),
            "unknown sysctl \"net.ipv4.conf.{netdev}.rp_fliter\"; did you mean "
            "\"net.ipv4.conf.{netdev}.rp_filter\"?");
  EXPECT_NE(say("vm.swapiness").find("vm.swappiness"), std::string::npos);
}

TEST(SysctlTest, KnownValuesAreCheckedByNumberAndRange) {
  const Subject memory("sysctl.net.ipv4.tcp_rmem");
  EXPECT_EQ(memory.Said("4096\t131072   6291456"), "4096 131072 6291456");
  EXPECT_EQ(memory.Said("4096,131072,6291456"), "4096 131072 6291456") << "a list in a document";
  EXPECT_NE(memory.Said("4096 131072").find("holds 2 numbers; allowed: 3"), std::string::npos);
  EXPECT_NE(memory.Said("4096 131072 100").find("must not descend"), std::string::npos);
  const Subject ignore("sysctl.net.ipv4.conf.all.arp_ignore");
  EXPECT_EQ(ignore.Said("1"), "1");
  EXPECT_EQ(ignore.Said("9"), "net.ipv4.conf.all.arp_ignore: \"9\" is too large; allowed: 0…8");
  for (const char* bad : {"", "no", "on", "017", "0x1", "-1", "1 1"})
    EXPECT_FALSE(ignore.Canonical(bad).ok()) << bad;
}

TEST(SysctlTest, TabsOfTheKernelEqualTheBlanksOfTheProfile) {
  Subject memory("sysctl.net.ipv4.tcp_rmem");
  FakeMachine machine;
  machine.Put("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456");
  memory.Wish("4096 131072 6291456");
  EXPECT_TRUE(memory.Satisfied(machine));
}

// include/linux/inetdevice.h: the greater of the two counts for rp_filter, arp_ignore and arp_announce;
// either one for arp_filter.
TEST(SysctlTest, TheEffectiveValueOfAnInterfaceIsComparedNotItsOwn) {
  struct {
    const char* key;
    const char* all;
    const char* own;
    const char* seen;
    const char* effective;
  } cases[] = {
      {"rp_filter", "0", "2", "2", "2"},
      {"rp_filter", "1", "0", "1 (own 0, all 1)", "1"},
      {"rp_filter", "1", "2", "2", "2"},
      {"rp_filter", "2", "1", "2 (own 1, all 2)", "2"},
      {"arp_ignore", "1", "0", "1 (own 0, all 1)", "1"},
      {"arp_announce", "0", "2", "2", "2"},
      {"arp_filter", "1", "0", "1 (own 0, all 1)", "1"},
      {"arp_filter", "0", "1", "1", "1"},
      {"arp_filter", "1", "1", "1", "1"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(std::string(one.key) + " all=" + one.all + " own=" + one.own);
    Subject subject(std::string("sysctl.net.ipv4.conf.{netdev}.") + one.key);
    FakeMachine machine;
    machine.Put(std::string("/proc/sys/net/ipv4/conf/all/") + one.key, one.all);
    machine.Put(std::string("/proc/sys/net/ipv4/conf/rail0/") + one.key, one.own);
    EXPECT_EQ(subject.See(machine).value, one.seen);
    for (const char* wish : {"0", "1", "2"}) {
      subject.target.wish = wish;
      EXPECT_EQ(subject.Satisfied(machine), std::string(wish) == one.effective) << wish;
    }
  }
}

TEST(SysctlTest, AWishThatAllMakesImpossibleSaysSoAndWritesNothing) {
  Subject filter("sysctl.net.ipv4.conf.{netdev}.rp_filter");
  RpFilter machine("1", "0");
  filter.Wish("0");
  EXPECT_FALSE(filter.Satisfied(machine));
  EXPECT_EQ(filter.See(machine).message,
            "net.ipv4.conf.all.rp_filter=1 wins over rail0's own 0: effective 1");
  const Status refused = filter.Apply(machine, "0");
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.message().find("net.ipv4.conf.all.rp_filter=1 wins: effective 1"), std::string::npos)
      << refused.message();
  EXPECT_TRUE(machine.Writes().empty());
}

TEST(SysctlTest, AnOverruledOriginalIsPutBackAsItWas) {
  Subject filter("sysctl.net.ipv4.conf.{netdev}.rp_filter");
  RpFilter machine("1", "0");
  const std::string original = filter.See(machine).value;
  ASSERT_TRUE(filter.Apply(machine, "2").ok());
  EXPECT_EQ(filter.See(machine).value, "2");
  ASSERT_TRUE(filter.Apply(machine, original).ok());
  EXPECT_EQ(machine.Value(kRpRail), "0");
  filter.target.wish = original;
  EXPECT_TRUE(filter.Satisfied(machine));
}

TEST(SysctlTest, AParameterThatTheKernelLacksIsNotApplicable) {
  const Subject memory("sysctl.net.core.rmem_max");
  const FakeMachine machine;
  const Observation observed = memory.See(machine);
  EXPECT_EQ(observed.kind, Observation::Kind::kNotApplicable);
  EXPECT_EQ(observed.reason, "NoSuchSysctl");
}

TEST(SysctlTest, AMissingInterfaceIsAnError) {
  const Subject filter("sysctl.net.ipv4.conf.{netdev}.rp_filter");
  FakeMachine machine;
  machine.Put(kRpAll, "0");
  EXPECT_EQ(filter.setting->Observe(machine, filter.target).status().code(), Code::kNotFound);
}

TEST(SysctlTest, AnInterfaceThatIsNoFabricPortIsNotWritten) {
  const Subject sneaky("sysctl.net.ipv4.conf.eno1.rp_filter");
  FakeMachine machine;
  machine.Put("/proc/sys/net/ipv4/conf/all/rp_filter", "0")
      .Put("/proc/sys/net/ipv4/conf/eno1/rp_filter", "1");
  EXPECT_EQ(sneaky.See(machine).value, "1") << "reading is fine";
  EXPECT_EQ(sneaky.Apply(machine, "2").code(), Code::kFailedPrecondition);
  EXPECT_TRUE(machine.Writes().empty());
  EXPECT_EQ(sneaky.setting->BlastSet(sneaky.target), std::vector<std::string>{"eno1"});
  const Subject rail("sysctl.net.ipv4.conf.rail0.rp_filter");
  machine.Put(kRpRail, "1");
  EXPECT_TRUE(rail.Apply(machine, "2").ok()) << "rail0 is a fabric port";
}

TEST(SysctlTest, ANameOutsideTheListNeedsTheNodesOwnFile) {
  Subject pattern("sysctl.kernel.sched_autogroup_enabled");
  EXPECT_EQ(pattern.Said("0"), "0") << "a node may allow it, which only the node can tell";
  FakeMachine machine;
  machine.Put("/proc/sys/kernel/sched_autogroup_enabled", "1");
  const auto refused = pattern.setting->Observe(machine, pattern.target);
  EXPECT_EQ(refused.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.status().message().find("/etc/railwright/sysctl.allow"), std::string::npos);
  EXPECT_EQ(pattern.Apply(machine, "0").code(), Code::kFailedPrecondition);
  EXPECT_TRUE(machine.Writes().empty());

  for (const char* allow : {"kernel.sched_autogroup_enabled\n",
                            "# ours\n\n kernel/sched_autogroup_enabled # why\n", "kernel.sched_*\n"}) {
    machine.Put("/file/etc/railwright/sysctl.allow", allow);
    EXPECT_EQ(pattern.See(machine).value, "1") << allow;
  }
  EXPECT_TRUE(pattern.Apply(machine, "0").ok());
  EXPECT_EQ(pattern.See(machine).value, "0");
  machine.Put("/file/etc/railwright/sysctl.allow", "vm.*\n*\n");
  EXPECT_FALSE(pattern.setting->Observe(machine, pattern.target).ok());
}

TEST(SysctlTest, ABrokenListOfTheNodeIsNamedWithItsLine) {
  const Subject pattern("sysctl.kernel.sched_autogroup_enabled");
  FakeMachine machine;
  machine.Put("/file/etc/railwright/sysctl.allow", "# one\nkernel..x\n");
  const auto refused = pattern.setting->Observe(machine, pattern.target);
  EXPECT_NE(refused.status().message().find("/etc/railwright/sysctl.allow:2: "), std::string::npos)
      << refused.status().message();
  machine.FailReads("/file/etc/railwright/sysctl.allow", FromErrno(EIO, "read"));
  EXPECT_FALSE(pattern.setting->Observe(machine, pattern.target).ok());
}

TEST(SysctlTest, OnlyChangesThatDropPacketsAreABlip) {
  const Subject filter("sysctl.net.ipv4.conf.{netdev}.rp_filter");
  EXPECT_EQ(filter.setting->DisruptionOf(filter.target, "2", "1"), Disruption::kTrafficBlip);
  EXPECT_EQ(filter.setting->DisruptionOf(filter.target, "1", "2"), Disruption::kNone);
  const Subject memory("sysctl.net.core.rmem_max");
  EXPECT_EQ(memory.setting->DisruptionOf(memory.target, "1", "2"), Disruption::kNone);
}

TEST(SysctlTest, TheInterfacesNameAndThePortsAreOnePlace) {
  const Subject port("sysctl.net.ipv4.conf.{netdev}.arp_ignore");
  const Subject named("sysctl.net.ipv4.conf.rail0.arp_ignore");
  const auto of_port = port.setting->WritesTo(port.target, "1", Observation::Value("0"));
  const auto of_name = named.setting->WritesTo(named.target, "2 (own 1, all 2)", Observation::Value("0"));
  ASSERT_TRUE(of_port && of_name);
  EXPECT_EQ(of_port->path, "/proc/sys/net/ipv4/conf/rail0/arp_ignore");
  EXPECT_EQ(of_name->path, of_port->path);
  EXPECT_EQ(of_name->value, "1") << "an original: what the interface itself held";
}

}  // namespace
}  // namespace railwright
