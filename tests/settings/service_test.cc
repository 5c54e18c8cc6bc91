#include <cerrno>

#include "core/decode/unit_name.h"
#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kOpenibd = "/dbus/unit/openibd.service";
constexpr const char* kIrqbalance = "/dbus/unit/irqbalance.service";

TEST(ServiceTest, ANameWithoutSuffixIsAService) {
  const Catalog catalog = MakeCatalog();
  EXPECT_EQ(catalog.Find("service.openibd")->key, "service.openibd.service");
  EXPECT_EQ(catalog.Find("service.rdma-load-modules@rdma.service")->key,
            "service.rdma-load-modules@rdma.service");
  EXPECT_EQ(catalog.Find("service.apt-daily.timer")->key, "service.apt-daily.timer");
  for (const char* bad : {"service.a b", "service.../x", "service.", "service.a/b.service"})
    if (const auto match = catalog.Find(bad); match.ok()) {
      EXPECT_FALSE(match->setting->Canonical(match->param, "running").ok()) << bad;
    }
}

TEST(ServiceTest, TwoWordsAtMostAndTheyMustAgree) {
  const Subject service("service.openibd");
  EXPECT_EQ(service.Said("enabled running"), "running enabled");
  EXPECT_EQ(service.Said("stopped,masked"), "stopped masked");
  EXPECT_EQ(service.Said("disabled"), "disabled");
  for (const char* bad :
       {"", "active", "running stopped", "running masked", "enabled disabled", "restarted", "static"})
    EXPECT_FALSE(service.Canonical(bad).ok()) << bad;
  EXPECT_NE(service.Said("on").find("allowed: running or stopped"), std::string::npos);
}

TEST(ServiceTest, EveryStateOfAUnit) {
  struct {
    const char* systemd;
    const char* value;
    const char* wish;
    bool fulfilled;
  } cases[] = {
      {"load=loaded active=active sub=running enabled=enabled", "running enabled", "running enabled", true},
      {"load=loaded active=active sub=running enabled=enabled", "running enabled", "stopped", false},
      {"load=loaded active=active sub=exited enabled=disabled", "running disabled", "running enabled", false},
      {"load=loaded active=inactive sub=dead enabled=disabled", "stopped disabled", "stopped disabled", true},
      {"load=masked active=inactive sub=dead enabled=masked", "stopped masked", "stopped masked", true},
      {"load=loaded active=failed sub=failed enabled=enabled", "failed enabled", "stopped", true},
      {"load=loaded active=failed sub=failed enabled=enabled", "failed enabled", "running", false},
      {"load=loaded active=activating sub=auto-restart enabled=enabled", "activating enabled", "running",
       false},
      {"load=loaded active=activating sub=auto-restart enabled=enabled", "activating enabled", "stopped",
       false},
      {"load=loaded active=active sub=running enabled=static", "running static", "running enabled", false},
      {"load=loaded active=active sub=running", "running", "running", true},
      {"load=not-found active=inactive sub=dead", "", "stopped disabled", true},
      {"load=not-found active=inactive sub=dead", "", "running", false},
      {"load=not-found active=inactive sub=dead", "", "masked", false},
  };
  for (const auto& one : cases) {
    Subject service("service.openibd");
    FakeMachine machine;
    machine.Put(kOpenibd, one.systemd);
    service.Wish(one.wish);
    EXPECT_EQ(service.See(machine).value, one.value) << one.systemd;
    EXPECT_EQ(service.Satisfied(machine), one.fulfilled) << one.wish << " by " << one.systemd;
  }
}

TEST(ServiceTest, WithoutSystemdItDoesNotApplyAndASilentBusIsAnError) {
  const Subject service("service.openibd");
  FakeMachine machine;
  machine.FailReads(kOpenibd, Status(Code::kNotFound, "systemd does not run here", ENOENT));
  EXPECT_EQ(service.See(machine).reason, "NoSystemd");
  machine.FailReads(kOpenibd, Status(Code::kUnavailable, "the system bus", ECONNREFUSED));
  EXPECT_EQ(service.setting->Observe(machine, service.target).status().code(), Code::kUnavailable);
}

TEST(ServiceTest, OnlyWhatDiffersIsWritten) {
  const Subject service("service.irqbalance");
  FakeMachine machine;
  machine.Put(kIrqbalance, "load=loaded active=active sub=running enabled=enabled");
  ASSERT_TRUE(service.Apply(machine, "running enabled").ok());
  EXPECT_TRUE(machine.Writes().empty());
  ASSERT_TRUE(service.Apply(machine, "stopped enabled").ok());
  EXPECT_EQ(machine.Writes().back().second, "active=inactive");
  machine.Put(kIrqbalance, "load=loaded active=inactive sub=dead enabled=disabled");
  ASSERT_TRUE(service.Apply(machine, "running masked").ok());
  EXPECT_EQ(machine.Writes().back().second, "active=active enabled=masked");
}

TEST(ServiceTest, WhatIsNotThereCannotBeStartedAndNeedNotBeStopped) {
  const Subject service("service.lldpad");
  FakeMachine machine;
  machine.Put("/dbus/unit/lldpad.service", "load=not-found active=inactive sub=dead");
  EXPECT_EQ(service.Apply(machine, "running").code(), Code::kFailedPrecondition);
  EXPECT_TRUE(service.Apply(machine, "stopped").ok());
  EXPECT_TRUE(service.Apply(machine, "").ok());
  EXPECT_TRUE(machine.Writes().empty());
}

TEST(ServiceTest, UnitsOutsideTheListNeedTheNodesOwn) {
  Subject service("service.site-agent");
  FakeMachine machine;
  machine.Put("/dbus/unit/site-agent.service", "load=loaded active=active sub=running enabled=enabled");
  EXPECT_TRUE(service.Canonical("running").ok()) << "the controller cannot know the node's list";
  const auto refused = service.setting->Observe(machine, service.target);
  EXPECT_EQ(refused.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(
      refused.status().message().find("add a line \"site-agent.service\" to /etc/railwright/service.allow"),
      std::string::npos);
  EXPECT_EQ(service.Apply(machine, "stopped").code(), Code::kFailedPrecondition);
  machine.Put("/file/etc/railwright/service.allow", "# ours\nsite-*.service\n");
  EXPECT_EQ(service.See(machine).value, "running enabled");
  ASSERT_TRUE(service.Apply(machine, "stopped").ok());
  machine.Put("/dbus/unit/site-agent.service", "load=loaded active=inactive sub=dead enabled=enabled");
  machine.Put("/file/etc/railwright/service.allow", "site-agent\n");
  EXPECT_TRUE(service.setting->Observe(machine, service.target).ok()) << "a name without suffix there, too";
}

TEST(ServiceTest, StartingIsOfTheUnitsClassAndEnablingDisturbsNothing) {
  const auto disruption = [](const char* key, const char* from, const char* to) {
    const Subject service(key);
    return service.setting->DisruptionOf(service.target, from, to);
  };
  EXPECT_EQ(disruption("service.openibd", "stopped disabled", "running enabled"), Disruption::kFunctionReset);
  EXPECT_EQ(disruption("service.openibd", "stopped disabled", "enabled"), Disruption::kNone);
  EXPECT_EQ(disruption("service.openibd", "running disabled", "running enabled"), Disruption::kNone);
  EXPECT_EQ(disruption("service.irqbalance", "running enabled", "stopped"), Disruption::kNone);
  EXPECT_EQ(disruption("service.lldpad", "running enabled", "stopped"), Disruption::kTrafficBlip);
  EXPECT_EQ(disruption("service.site-agent", "running", "stopped"), Disruption::kFunctionReset);
  EXPECT_EQ(disruption("service.site-agent", "running disabled", "enabled"), Disruption::kNone);
}

TEST(ServiceTest, OpenibdTakesEveryRdmaPortAlongAndAnUnknownUnitPerhapsAll) {
  Subject openibd("service.openibd");
  BoundPort management = openibd.bound;
  management.netdev = "eno1";
  management.ibdev = "";
  openibd.facts.ports.push_back(management);
  openibd.target.facts = &openibd.facts;
  EXPECT_EQ(openibd.setting->BlastSet(openibd.target), std::vector<std::string>{"rail0"});
  openibd.target.param = "site-agent.service";
  EXPECT_EQ(openibd.setting->BlastSet(openibd.target), (std::vector<std::string>{"rail0", "eno1"}));
  openibd.target.param = "irqbalance.service";
  EXPECT_TRUE(openibd.setting->BlastSet(openibd.target).empty());
}

TEST(UnitNameTest, TheListHoldsNamesOfUnitsInOrder) {
  const auto units = KnownUnits();
  for (const std::string& unit : units) EXPECT_TRUE(IsUnitName(unit)) << unit;
  EXPECT_FALSE(IsUnitName("openibd"));
  EXPECT_FALSE(IsUnitName(".service"));
  EXPECT_FALSE(IsUnitName(std::string(250, 'a') + ".service"));
  EXPECT_TRUE(IsUnitName("dev-disk-by\\x2duuid.swap"));
}

}  // namespace
}  // namespace railwright
