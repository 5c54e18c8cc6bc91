// Every n-th write, read and journal entry failing; the agent killed at every one of them.
#include <algorithm>

#include "tests/reconcile/node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

struct Place {
  const char *key, *target, *path, *before, *after;
};
constexpr Place kPlaces[] = {
    {"link.mtu", "rail0", "/rtnl/link/rail0/mtu", "1500", "4200"},
    {"link.channels", "rail0", "/ethtool/rail0/channels", "4", "8"},
    {"rail.address", "rail0", "/rtnl/addr/rail0", "", "10.10.0.1/24"},
    {"link.mtu", "rail1", "/rtnl/link/rail1/mtu", "1500", "4200"},
    {"sysctl.a", "", "/proc/sys/a", "0", "1"},
    {"sysctl.b", "", "/proc/sys/b", "0", "1"},
    {"file.etc/x", "", "/file/etc/x", "", "text"},
};
constexpr int kWrites = static_cast<int>(std::size(kPlaces));

DesiredState Whole(std::uint64_t generation = 1) {
  BuildState state = Node::State(generation);
  for (const Place& place : kPlaces) state.Enforce(place.key, place.target, place.after);
  return state;
}

// What the report says is what there is; originals are journalled for whatever is not as it was.
void ExpectHonest(Node& node, const std::string& trace) {
  SCOPED_TRACE(trace);
  for (const Place& place : kPlaces) {
    const std::string now = node.Value(place.path);
    const Finding& finding = node.Of(place.key, place.target);
    EXPECT_TRUE(now == place.before || now == place.after) << place.path << " is left at " << now;
    if (finding.verdict == Verdict::kCompliant) {
      EXPECT_EQ(now, place.after) << place.path;
    }
    if (finding.verdict == Verdict::kDrifted) {
      EXPECT_EQ(now, place.before) << place.path;
      EXPECT_EQ(finding.observed, now) << place.path;
      EXPECT_FALSE(finding.reason.empty());
      EXPECT_FALSE(finding.message.empty());
      EXPECT_FALSE(finding.fix.empty());
    }
    if (now != place.before) {
      const auto original = node.journal.OriginalOf(place.key, place.target);
      ASSERT_TRUE(original) << place.path;
      EXPECT_EQ(original->value, place.before);
    }
  }
  EXPECT_TRUE(node.journal.OpenSteps().empty());
}

Node& Prepared(Node& node) {
  node.machine.Put("/rtnl/addr/rail0", "");
  return node;
}

class FaultTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(EveryWrite, FaultTest, testing::Range(1, 2 * kWrites + 2));

TEST_P(FaultTest, APermanentErrorUndoesItsPortAndNothingElse) {
  Node node;
  Prepared(node);
  FaultyMachine faulty(node.machine, {.error = FromErrno(EINVAL, "injected")});
  node.Boot(faulty);
  faulty.faults.fail_write = faulty.writes() + GetParam();
  node.Apply(Whole());
  node.Pass(20min);
  ExpectHonest(node, "write " + std::to_string(GetParam()));
  if (GetParam() > kWrites) {
    EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant);
    return;
  }
  EXPECT_TRUE(node.agent->Report().settled);
  // Execution order: mtu rail0, mtu rail1, channels rail0, address rail0, sysctl a, b, file.
  const std::string failed_port = GetParam() == 2 ? "rail1" : GetParam() <= 4 ? "rail0" : "";
  for (const Place& place : kPlaces) {
    const bool same_port = !failed_port.empty() && place.target == failed_port;
    if (same_port) {
      EXPECT_EQ(node.Value(place.path), place.before) << place.path;
    } else if (*place.target != '\0') {
      EXPECT_EQ(node.Value(place.path), place.after) << place.path;
    }
  }
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kDrifted);
}

TEST_P(FaultTest, ATransientErrorIsTriedAgainAndNothingIsUndone) {
  Node node;
  Prepared(node);
  FaultyMachine faulty(node.machine, {.error = FromErrno(EBUSY, "injected")});
  node.Boot(faulty);
  faulty.faults.fail_write = faulty.writes() + GetParam();
  node.Apply(Whole());
  node.Pass(3s);
  ExpectHonest(node, "write " + std::to_string(GetParam()));
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant);
  EXPECT_TRUE(node.Changes(ChangeKind::kUndone).empty());
}

TEST_P(FaultTest, AnErrorOfUnclearKindIsUndoneAndTriedAgain) {
  Node node;
  Prepared(node);
  FaultyMachine faulty(node.machine, {.error = FromErrno(EIO, "injected")});
  node.Boot(faulty);
  faulty.faults.fail_write = faulty.writes() + GetParam();
  node.Apply(Whole());
  node.Pass(1min);
  ExpectHonest(node, "write " + std::to_string(GetParam()));
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant);
}

TEST_P(FaultTest, WhenAllWritesFailFromThereOnWhatIsLeftIsSaid) {
  Node node;
  Prepared(node);
  FaultyMachine faulty(node.machine, {.error = FromErrno(EPERM, "injected")});
  node.Boot(faulty);
  faulty.faults.fail_writes_from = faulty.writes() + GetParam();
  node.Apply(Whole());
  node.Pass(20min);
  for (const Place& place : kPlaces) {
    const Finding& finding = node.Of(place.key, place.target);
    const std::string now = node.Value(place.path);
    EXPECT_TRUE(now == place.before || now == place.after);
    EXPECT_EQ(finding.verdict, now == place.after ? Verdict::kCompliant : Verdict::kDrifted) << place.path;
  }
  // An undo that failed is in the history, with what is left.
  const Lines undone = node.Changes(ChangeKind::kUndone);
  if (GetParam() == 3 || GetParam() == 4) {
    EXPECT_FALSE(undone.empty());
    EXPECT_NE(node.Of(GetParam() == 3 ? "link.channels" : "rail.address", "rail0")
                  .message.find("could not be put back"),
              std::string::npos);
  }
}

TEST_P(FaultTest, AWriteThatIsAnsweredOkAndNotTakenIsNoSuccess) {
  Node node;
  Prepared(node);
  FaultyMachine faulty(node.machine, {});
  node.Boot(faulty);
  faulty.faults.ignore_write = faulty.writes() + GetParam();
  node.Apply(Whole());
  if (GetParam() <= kWrites) {
    EXPECT_EQ(node.agent->Report().verdict, Verdict::kDrifted);
    EXPECT_FALSE(node.agent->Report().settled) << "it is looked at once more";
  }
  node.Pass(20min);
  ExpectHonest(node, "write " + std::to_string(GetParam()));
  EXPECT_TRUE(node.agent->Report().settled);
}

TEST_P(FaultTest, AWriteThatTookEffectInSpiteOfItsErrorIsSuccess) {
  Node node;
  Prepared(node);
  FaultyMachine faulty(node.machine, {.error = FromErrno(EIO, "injected")});
  node.Boot(faulty);
  faulty.faults.half_write = faulty.writes() + GetParam();
  node.Apply(Whole());
  ExpectHonest(node, "write " + std::to_string(GetParam()));
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant);
}

TEST(FaultTest, AStaleReadBackIsBridged) {
  Node node;
  Prepared(node);
  FaultyMachine faulty(node.machine, {.stale_reads = 2});
  node.Boot(faulty);
  node.Apply(Whole());
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant);
  EXPECT_TRUE(node.Changes(ChangeKind::kUndone).empty());
}

TEST(FaultTest, AValueThatShowsOnlyLaterIsWaitedFor) {
  Node node;
  Prepared(node);
  FaultyMachine faulty(node.machine, {.stale_reads = 4});
  node.Boot(faulty);
  node.Apply(Node::State(1).Enforce("link.mtu", "rail0", "4200").Enforce("link.channels", "rail0", "8"));
  EXPECT_EQ(node.Of("link.mtu", "rail0").reason, "ApplyFailed");
  EXPECT_EQ(node.Of("link.channels", "rail0").reason, "HeldBack");
  EXPECT_EQ(node.journal.OpenSteps().size(), 1u);
  node.Pass(5s);
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant);
  EXPECT_TRUE(node.Changes(ChangeKind::kUndone).empty());
  EXPECT_TRUE(node.journal.OpenSteps().empty());
}

TEST(FaultTest, APortThatVanishesBetweenWriteAndReadBackIsNotWrittenTo) {
  Node node;
  FaultyMachine faulty(node.machine, {.stale_reads = 3});
  node.Boot(faulty);
  node.Apply(Node::State(1).Enforce("link.mtu", "rail0", "4200").Enforce("link.channels", "rail0", "8"));
  EXPECT_EQ(node.Of("link.mtu", "rail0").reason, "ApplyFailed");
  faulty.faults.stale_reads = 0;
  node.machine.Remove("/rtnl/link/rail0");
  node.machine.ClearLog();
  node.Hint("/rtnl/link/rail0");
  node.Pass(1min);
  EXPECT_TRUE(node.machine.Writes().empty());
  EXPECT_EQ(node.Of("link.mtu", "rail0").reason, "PortNotFound");
  EXPECT_TRUE(node.journal.OpenSteps().empty());
  node.machine.Put("/rtnl/link/rail0/mtu", "1500");
  node.Drift("/rtnl/link/rail0", "mtu=1500");
  node.Pass(10min);
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "4200");
  EXPECT_EQ(node.Value("/ethtool/rail0/channels"), "8");
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant);
}

TEST(FaultTest, AClampedValueIsPutBackAndSaid) {
  Node node;
  Faults faults;
  faults.clamp = [](const std::string& path, const std::string& value) {
    return path == "/rtnl/link/rail0/mtu" && value == "9000" ? std::string("4096") : value;
  };
  FaultyMachine faulty(node.machine, faults);
  node.Boot(faulty);
  node.Apply(Node::State(1).Enforce("link.mtu", "rail0", "9000").Enforce("sysctl.a", "", "1"));
  node.Pass(5s);
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "1500");
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
  const Finding& finding = node.Of("link.mtu", "rail0");
  EXPECT_EQ(finding.reason, "ApplyFailed");
  EXPECT_NE(finding.message.find("written and accepted, but it is 4096 now"), std::string::npos)
      << finding.message;
  EXPECT_NE(finding.message.find("link.mtu on rail0 is 1500 again"), std::string::npos) << finding.message;
  node.machine.ClearLog();
  node.Pass(1h);
  EXPECT_TRUE(node.machine.Writes().empty()) << "never a tight loop, never a loop at all";
}

TEST(FaultTest, APermanentErrorWaitsForTheWorldToChange) {
  Node node;
  node.machine.FailWrites("/ethtool/rail0/channels", FromErrno(EINVAL, "channels"));
  node.Apply(Node::State(1).Enforce("link.mtu", "rail0", "4200").Enforce("link.channels", "rail0", "8"));
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "1500");
  EXPECT_EQ(node.Of("link.mtu", "rail0").reason, "Undone");
  EXPECT_NE(node.Of("link.mtu", "rail0").message.find("link.channels on rail0"), std::string::npos);
  EXPECT_EQ(node.Changes(ChangeKind::kUndone), Lines{"link.mtu rail0 4200→1500"});
  EXPECT_TRUE(node.agent->Report().settled);
  node.machine.ClearLog();
  node.Pass(1h);
  node.Hint("/ethtool/rail0");  // told to look, but nothing differs
  node.Settle();
  EXPECT_TRUE(node.machine.Writes().empty());
  node.machine.FailWrites("/ethtool/rail0/channels", Ok());
  node.Drift("/ethtool/rail0/channels", "2");  // the driver was loaded anew
  node.Pass(2s);
  EXPECT_EQ(node.Value("/ethtool/rail0/channels"), "8");
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "4200") << "the whole of what was asked of the port";
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant);
}

TEST(FaultTest, WhatTheWorldIsNotReadyForWaitsAndHoldsNobodyUp) {
  Node node;
  node.machine.Put("/rtnl/addr/rail0", "");
  node.machine.FailWrites("/ethtool/rail0/channels",
                          Status(Code::kFailedPrecondition, "rail0 is down: no channels", ENETDOWN));
  node.Apply(Node::State(1)
                 .Enforce("link.mtu", "rail0", "4200")
                 .Enforce("link.channels", "rail0", "8")
                 .Enforce("rail.address", "rail0", "declared"));
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "4200");
  EXPECT_EQ(node.Value("/rtnl/addr/rail0"), "10.10.0.1/24");
  EXPECT_EQ(node.Of("link.channels", "rail0").reason, "ApplyFailed");
  EXPECT_TRUE(node.Changes(ChangeKind::kUndone).empty());
  EXPECT_TRUE(node.agent->Report().settled);
  node.machine.FailWrites("/ethtool/rail0/channels", Ok());
  node.Pass(10s);
  node.Drift("/ethtool/rail0/channels", "6");
  EXPECT_EQ(node.Value("/ethtool/rail0/channels"), "8");
}

TEST(FaultTest, ALinkThatComesAndGoesIsNoFight) {
  Node node;
  node.Apply(Node::State(1).Enforce("link.channels", "rail0", "8"));
  for (int i = 0; i < 20; ++i) {
    node.machine.FailWrites("/ethtool/rail0/channels", Status(Code::kFailedPrecondition, "rail0 is down"));
    node.Drift("/ethtool/rail0/channels", "0");
    node.Pass(5s);
    node.machine.FailWrites("/ethtool/rail0/channels", Ok());
    node.Drift("/ethtool/rail0/channels", "1");
    EXPECT_EQ(node.Value("/ethtool/rail0/channels"), "8");
    node.Pass(1s);
  }
  EXPECT_EQ(node.agent->counters().contended, 0u);
}

TEST(FaultTest, WhatGoesWithItsLinkIsNoFightUnlessItNeverEnds) {
  Node node;
  node.options.contention_window = 1h;
  const std::string carrier = "/sys/class/net/rail0/carrier_changes";
  node.machine.Put(carrier, "2").Put("/rtnl/addr/rail0", "");
  node.Apply(Node::State(1).Enforce("rail.address", "rail0", "declared"));
  for (int i = 1; i < 20; ++i) {
    node.machine.Put(carrier, std::to_string(2 + 2 * i));
    node.Drift("/rtnl/addr/rail0", "");
    EXPECT_EQ(node.Value("/rtnl/addr/rail0"), "10.10.0.1/24") << "bounce " << i;
    node.Pass(1s);
  }
  EXPECT_EQ(node.agent->counters().contended, 0u);
  node.machine.Put(carrier, "99");
  node.Drift("/rtnl/addr/rail0", "");
  EXPECT_EQ(node.Of("rail.address", "rail0").reason, "Contended");
}

TEST(FaultTest, ADriftOfWhatGoesWithItsLinkSaysSoOnlyWhenTheLinkMoved) {
  Node node;
  const std::string carrier = "/sys/class/net/rail0/carrier_changes";
  node.machine.Put(carrier, "2").Put("/rtnl/addr/rail0", "");
  node.Apply(
      Node::State(1).Enforce("rail.address", "rail0", "declared").Enforce("link.mtu", "rail0", "4200"));
  const auto told = [&] {
    node.Changes(ChangeKind::kDrift);
    for (auto record = node.history.rbegin(); record != node.history.rend(); ++record)
      if (record->kind == ChangeKind::kDrift) return record->with_link;
    ADD_FAILURE() << "no drift";
    return false;
  };
  node.Drift("/rtnl/addr/rail0", "");
  EXPECT_FALSE(told()) << "somebody took the address";
  node.machine.Put(carrier, "4");
  node.Drift("/rtnl/addr/rail0", "");
  EXPECT_TRUE(told());
  node.machine.Put(carrier, "6");
  node.Drift("/rtnl/link/rail0/mtu", "1500");
  EXPECT_FALSE(told()) << "an MTU stays when a link goes: somebody changed it";
}

TEST(FaultTest, ANewGenerationTriesAgain) {
  Node node;
  node.machine.FailWrites("/proc/sys/a", FromErrno(EPERM, "/proc/sys/a"));
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "1"));
  EXPECT_EQ(node.Of("sysctl.a").reason, "ApplyFailed");
  node.machine.FailWrites("/proc/sys/a", Ok());
  node.Apply(Node::State(2).Enforce("sysctl.a", "", "1"));
  EXPECT_EQ(node.Of("sysctl.a").verdict, Verdict::kCompliant);
}

TEST(FaultTest, ATransientErrorBacksOffFromOneSecondToFiveMinutes) {
  Node node;
  node.machine.FailWrites("/proc/sys/a", FromErrno(EBUSY, "/proc/sys/a"));
  node.Boot();
  ASSERT_TRUE(node.agent->Accept(Node::State(1).Enforce("sysctl.a", "", "1")).ok());
  std::vector<Clock::Steady> tries;
  const auto end = node.clock.Now() + 1h;
  while (node.clock.Now() < end) {
    const auto writes = node.machine.Writes().size();
    node.agent->Tick();
    if (node.machine.Writes().size() > writes) tries.push_back(node.clock.Now());
    node.clock.AdvanceTo(node.agent->NextDue());
  }
  ASSERT_GT(tries.size(), 10u);
  double expected = 1;
  for (std::size_t i = 1; i < tries.size(); ++i) {
    const double waited = std::chrono::duration<double>(tries[i] - tries[i - 1]).count();
    EXPECT_GE(waited, expected * 0.79) << "try " << i;
    EXPECT_LE(waited, expected * 1.21) << "try " << i;
    expected = std::min(expected * 2, 300.0);
  }
  EXPECT_TRUE(node.agent->Report().settled) << "waiting for minutes is a result";
}

TEST(FaultTest, ACorrectionIsNotUndoneByTheFailureOfAnother) {
  Node node;
  node.Apply(Node::State(1).Enforce("link.mtu", "rail0", "4200").Enforce("link.channels", "rail0", "8"));
  node.machine.FailWrites("/ethtool/rail0/channels", FromErrno(EINVAL, "channels"));
  node.machine.Put("/ethtool/rail0/channels", "4");
  node.Drift("/rtnl/link/rail0/mtu", "1500");
  EXPECT_EQ(node.Value("/rtnl/link/rail0/mtu"), "4200");
  EXPECT_EQ(node.Of("link.channels", "rail0").reason, "ApplyFailed");
  EXPECT_TRUE(node.Changes(ChangeKind::kUndone).empty());
  EXPECT_EQ(node.agent->counters().failed, 1u);
}

TEST(FaultTest, EveryReadFailingNeverGivesAPass) {
  for (int n = 1; n < 60; ++n) {
    Node node;
    Prepared(node);
    FaultyMachine faulty(node.machine, {.error = FromErrno(EIO, "injected")});
    node.Boot(faulty);
    faulty.faults.fail_reads_from = faulty.reads() + n;
    ASSERT_TRUE(node.agent->Accept(Whole()).ok());
    node.Settle();
    while (faulty.reads() < faulty.faults.fail_reads_from) {
      node.agent->Refresh();
      node.Settle();
    }
    node.agent->Refresh();
    node.Settle();
    for (const Place& place : kPlaces) {
      EXPECT_NE(node.Of(place.key, place.target).verdict, Verdict::kCompliant)
          << "reads failing from " << n << ": " << place.key << " " << place.target;
    }
  }
}

TEST(FaultTest, OneFailedReadHealsWithinSeconds) {
  for (int n = 1; n < 60; ++n) {
    Node node;
    Prepared(node);
    FaultyMachine faulty(node.machine, {.error = FromErrno(EIO, "injected")});
    node.Boot(faulty);
    faulty.faults.fail_read = faulty.reads() + n;
    ASSERT_TRUE(node.agent->Accept(Whole()).ok());
    for (int i = 0; i < 200 && faulty.reads() < faulty.faults.fail_read; ++i) {
      node.agent->Tick();
      node.clock.AdvanceTo(node.agent->NextDue());
    }
    node.Pass(5s);
    EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant) << "read " << n;
    ExpectHonest(node, "read " + std::to_string(n));
  }
}

TEST(FaultTest, EveryJournalEntryFailingLosesNoOriginal) {
  for (int n = 1; n < 3 * kWrites + 3; ++n) {
    Node node;
    Prepared(node);
    node.Boot();
    node.journal.fail_at = node.journal.calls + n;
    node.Apply(Whole());
    node.Pass(3min);
    EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant) << "journal call " << n;
    ExpectHonest(node, "journal call " + std::to_string(n));
  }
}

enum class Death { kBeforeWrite, kAfterWrite, kInJournal };
class DeathTest : public testing::TestWithParam<std::pair<Death, int>> {};

std::vector<std::pair<Death, int>> Deaths() {
  std::vector<std::pair<Death, int>> list;
  for (int n = 1; n <= kWrites; ++n)
    list.insert(list.end(), {{Death::kBeforeWrite, n}, {Death::kAfterWrite, n}});
  for (int n = 1; n <= 3 * kWrites; ++n) list.push_back({Death::kInJournal, n});
  return list;
}
INSTANTIATE_TEST_SUITE_P(Everywhere, DeathTest, testing::ValuesIn(Deaths()), [](const auto& one) {
  const char* where = one.param.first == Death::kBeforeWrite  ? "BeforeWrite"
                      : one.param.first == Death::kAfterWrite ? "AfterWrite"
                                                              : "InJournal";
  return where + std::to_string(one.param.second);
});

TEST_P(DeathTest, TheNextLifeFinishesTheWorkAndKnowsTheOriginals) {
  Node node;
  Prepared(node);
  FaultyMachine faulty(node.machine, {});
  node.Boot(faulty);
  const auto [death, n] = GetParam();
  if (death == Death::kBeforeWrite) faulty.faults.die_before_write = faulty.writes() + n;
  if (death == Death::kAfterWrite) faulty.faults.die_after_write = faulty.writes() + n;
  if (death == Death::kInJournal) node.journal.die_at = node.journal.calls + n;
  ASSERT_TRUE(node.agent->Accept(Whole()).ok());
  EXPECT_THROW(node.Settle(), Died);

  node.Boot();
  node.Apply(Whole());
  EXPECT_EQ(node.agent->Report().verdict, Verdict::kCompliant);
  ExpectHonest(node, "first life");
  EXPECT_TRUE(node.Changes(ChangeKind::kDrift).empty());

  // Everything can still be put back to what was there before the first life.
  BuildState state = Node::State(2);
  for (const Place& place : kPlaces) state.Restore(place.key, place.target);
  node.Apply(state);
  for (const Place& place : kPlaces) EXPECT_EQ(node.Value(place.path), place.before) << place.path;
}

TEST_P(DeathTest, ALifeThatIsToldSomethingElseLeavesNoStepOpen) {
  Node node;
  Prepared(node);
  FaultyMachine faulty(node.machine, {});
  node.Boot(faulty);
  const auto [death, n] = GetParam();
  if (death == Death::kBeforeWrite) faulty.faults.die_before_write = faulty.writes() + n;
  if (death == Death::kAfterWrite) faulty.faults.die_after_write = faulty.writes() + n;
  if (death == Death::kInJournal) node.journal.die_at = node.journal.calls + n;
  ASSERT_TRUE(node.agent->Accept(Whole()).ok());
  EXPECT_THROW(node.Settle(), Died);

  node.Boot();
  node.Apply(Node::State(2).Enforce("sysctl.c", "", "1"));
  EXPECT_TRUE(node.journal.OpenSteps().empty());
  EXPECT_EQ(node.Value("/proc/sys/c"), "1");
  for (const Place& place : kPlaces)
    EXPECT_TRUE(node.Value(place.path) == place.before || node.journal.OriginalOf(place.key, place.target));
}

TEST(DeathTest, AHalfDoneWriteIsReported) {
  Node node;
  ASSERT_TRUE(node.journal.RecordOriginal({"sysctl.a", "", Original::Kind::kValue, "0"}).ok());
  ASSERT_TRUE(node.journal.Begin({"sysctl.a", "", "0", "1"}).ok());
  ASSERT_TRUE(node.journal.RecordOriginal({"sysctl.b", "", Original::Kind::kValue, "0"}).ok());
  ASSERT_TRUE(node.journal.Begin({"sysctl.b", "", "0", "1"}).ok());
  node.machine.Put("/proc/sys/a", "5").Put("/proc/sys/b", "6");
  node.Apply(Node::State(1).Enforce("sysctl.a", "", "1"));
  EXPECT_EQ(node.Changes(ChangeKind::kDrift), (Lines{"sysctl.a  0→5", "sysctl.b  0→6"}));
  EXPECT_NE(node.history.front().message.find("the agent died while it wrote 1"), std::string::npos);
  EXPECT_EQ(node.Value("/proc/sys/a"), "1");
  EXPECT_EQ(node.Value("/proc/sys/b"), "6") << "no longer declared: reported, not touched";
  EXPECT_TRUE(node.journal.OpenSteps().empty());
}

}  // namespace
}  // namespace railwright
