// What may cut the node off: begun only with the way back written down, confirmed by everybody or put back.
#include "tests/reconcile/try.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

class TryTest : public testing::Test, protected TryNode {
 protected:
  void ExpectPutBack(const std::string& what) {
    EXPECT_EQ(MtuNow(), "1500") << what;
    EXPECT_FALSE(Open()) << what;
    const Finding& finding = Of("link.mtu", "rail0");
    EXPECT_EQ(finding.reason, "TryFailed") << what << finding.message;
    EXPECT_EQ(finding.verdict, Verdict::kDrifted) << what;
    EXPECT_NE(finding.message.find(what), std::string::npos) << finding.message;
    EXPECT_NE(finding.message.find("link.mtu on rail0 is 1500 again"), std::string::npos) << finding.message;
  }
};

TEST_F(TryTest, WithoutTheOperatorsWordTheWayToTheControllerIsLeftAlone) {
  Begin(Mtu(1, "4200", 0ms));
  Live(1h);
  EXPECT_EQ(MtuNow(), "1500");
  EXPECT_EQ(Of("link.mtu", "rail0").reason, "ManagementPath");
  EXPECT_NE(Of("link.mtu", "rail0").fix.find("railctl apply --try 120s"), std::string::npos);
}

TEST_F(TryTest, HisWordDoesNotRaiseTheClassThatTheProfileAllows) {
  DesiredState state = State(1).Enforce("link.speed", "rail0", "400");
  state.try_for = 60s;
  Begin(state);
  EXPECT_EQ(Value("/ethtool/rail0/speed"), "100");
  EXPECT_EQ(Of("link.speed", "rail0").reason, "ApprovalNeeded");
}

TEST_F(TryTest, WhileTheWayIsUnknownNothingIsTried) {
  options.management = {{}, "never reached"};
  Begin(Mtu(1));
  EXPECT_EQ(MtuNow(), "1500");
  EXPECT_EQ(Of("link.mtu", "rail0").reason, "ManagementPath");
}

TEST_F(TryTest, ACardThatAStoragePortSharesIsNeverTried) {
  machine.Put("/sys/bus/pci/devices/0000:01:00.0/net/nvme0", "");
  DesiredState state = State(1).Enforce("node.card", "", "1");
  state.ports[2].netdev.clear();
  state.ports[2].pci = "0000:01:00.0";
  state.try_for = 60s;
  machine.Put("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x15b3");
  Begin(state);
  EXPECT_EQ(Value("/proc/card"), "0");
  EXPECT_EQ(Of("node.card").reason, "ManagementPath");
}

TEST_F(TryTest, TheWayBackIsJournalledBeforeTheFirstWrite) {
  Boot();
  machine.on_set = [&](const std::string& path, const std::string&) {
    if (path != kMtu) return;
    ASSERT_TRUE(journal.Try());
    const OpenTry open = *journal.Try();
    EXPECT_EQ(open.boot_id, "boot-1");
    EXPECT_EQ(open.deadline - open.begun, 60s);
    ASSERT_EQ(open.steps.size(), 1u);
    EXPECT_EQ(open.steps[0].before, "1500");
    EXPECT_EQ(open.steps[0].to, "4200");
    ASSERT_EQ(open.evidence.size(), 1u);
    EXPECT_TRUE(open.evidence[0].link);
    EXPECT_EQ(open.evidence[0].speed, 400000u);
    EXPECT_EQ(open.evidence[0].gids, Lines{kGidText});
    EXPECT_EQ(open.evidence[0].peers, Lines{"10.10.0.2"}) << "the one that had answered";
    EXPECT_TRUE(open.controller);
  };
  Begin(Mtu(1));
  EXPECT_EQ(MtuNow(), "4200");
  machine.on_set = nullptr;
}

TEST_F(TryTest, AnAnswerOverANewConnectionConfirmsIt) {
  answers = false;
  Begin(Mtu(1));
  ASSERT_EQ(MtuNow(), "4200");
  EXPECT_EQ(redials, 0) << "a driver may take the link down yet";
  agent->ControllerAnswered();  // over a connection from before
  Live(1s);
  EXPECT_TRUE(Open());
  EXPECT_FALSE(agent->Report().settled);
  Live(3s);
  EXPECT_EQ(redials, 1);
  EXPECT_TRUE(Open());
  agent->ControllerAnswered();
  Live(2s);
  EXPECT_FALSE(Open());
  EXPECT_TRUE(agent->Report().settled);
  EXPECT_EQ(agent->Report().verdict, Verdict::kCompliant);
  Live(1h);
  EXPECT_EQ(MtuNow(), "4200");
  EXPECT_EQ(redials, 1);
  EXPECT_TRUE(Changes(ChangeKind::kUndone).empty());
}

TEST_F(TryTest, EveryOneOfThemMustConfirmIt) {
  struct Doubt {
    const char* said;
    std::function<void(bool)> set;
  };
  const std::vector<Doubt> doubts{
      {"the controller has not answered", [this](bool there) { answers = there; }},
      {"runs at 100000 Mbit/s, before at 400000",
       [this](bool there) { machine.Put(kNetSpeed, there ? "400000" : "100000"); }},
      {"GID fe80:",
       [this](bool there) {
         machine.Put(kGid, there ? kGidText : "0000:0000:0000:0000:0000:0000:0000:0000");
       }},
      {"no neighbour of rail0 answers",
       [this](bool there) {
         if (there) neighbours.awake = {"10.10.0.2"};
         if (!there) neighbours.awake = {"10.10.0.3"};  // had not answered before: proves nothing
       }},
      {"route default via 10.10.0.254 dev rail0 is gone", [this](bool there) {
         machine.FailWrites("/rtnl/route/main/rail0", there ? Ok() : Status(Code::kUnavailable, "no way"));
         machine.Put("/rtnl/route/main/rail0", there ? "default via 10.10.0.254 dev rail0" : "");
       }}};
  std::uint64_t generation = 0;
  for (unsigned missing = 0; missing < 1u << doubts.size(); ++missing) {
    for (const Doubt& doubt : doubts) doubt.set(true);
    machine.Put(kMtu, "1500");
    Begin(Mtu(++generation, "4200"));
    ASSERT_EQ(MtuNow(), "4200") << missing;
    for (std::size_t i = 0; i < doubts.size(); ++i)
      if ((missing & (1u << i)) != 0) doubts[i].set(false);
    Live(58s);
    if (missing == 0) {
      EXPECT_FALSE(Open());
    } else {
      EXPECT_EQ(MtuNow(), "4200") << "not before its time: " << missing;
    }
    Live(3s);
    EXPECT_EQ(MtuNow(), missing == 0 ? "4200" : "1500") << missing;
    for (std::size_t i = 0; i < doubts.size(); ++i) {
      const bool told = Of("link.mtu", "rail0").message.find(doubts[i].said) != std::string::npos;
      // Behind a controller that answers only when the rest is well, all that is missing is told all the
      // same.
      EXPECT_EQ(told, (missing & (1u << i)) != 0)
          << missing << doubts[i].said << Of("link.mtu", "rail0").message;
    }
    Live(15s);  // what cannot be added again is given up after ten tries
    EXPECT_FALSE(Open()) << missing;
  }
}

TEST_F(TryTest, ALinkThatStaysDownIsNotWaitedForToTheEnd) {
  Begin(Mtu(1, "4200", 10min));
  machine.Put(kCarrier, "0");
  Live(32s);
  EXPECT_EQ(MtuNow(), "1500");
  EXPECT_EQ(Of("link.mtu", "rail0").reason, "LinkStayedDown");
  EXPECT_FALSE(Open());
}

TEST_F(TryTest, WhoWasNotThereBeforeIsNotDemandedAndThatIsTold) {
  connected = false;
  answers = false;
  neighbours.awake.clear();
  machine.Put(kCarrier, "0");
  Begin(Mtu(1));
  Live(50s);
  EXPECT_EQ(MtuNow(), "1500") << "a new life dials first";
  EXPECT_EQ(Of("link.mtu", "rail0").reason, "TryBegins");
  Live(15s);
  EXPECT_EQ(MtuNow(), "4200");
  EXPECT_FALSE(Open());
  const auto messages = Messages(ChangeKind::kIntended);
  ASSERT_EQ(messages.size(), 1u);
  for (const char* said :
       {"put back in 60 s unless confirmed by: 1 GIDs of rail0; not demanded: the controller (was not "
        "connected)",
        "the link of rail0 (was down)", "a neighbour of rail0 (none had answered)"})
    EXPECT_NE(messages[0].find(said), std::string::npos) << messages[0];
}

TEST_F(TryTest, WithoutAConnectionOnlyWhatItWasReachedWithBeforeIsWritten) {
  std::map<KeyTarget, std::string> reached;
  options.witnesses.confirmed_before = [&](const KeyTarget& what, const std::string& value) {
    return reached.contains(what) && reached[what] == value;
  };
  options.witnesses.confirmed = [&](const std::map<KeyTarget, std::string>& values) {
    for (const auto& [what, value] : values) reached[what] = value;
  };
  connected = answers = false;
  Begin(Mtu(1));
  Live(10min);
  EXPECT_EQ(MtuNow(), "1500") << "nobody would miss the node";
  EXPECT_NE(Of("link.mtu", "rail0").message.find("who is to confirm it, is not connected"), std::string::npos)
      << Of("link.mtu", "rail0").message;
  connected = answers = true;
  Live(30s);
  EXPECT_EQ(MtuNow(), "4200");
  EXPECT_FALSE(Open());
  EXPECT_EQ(reached[(KeyTarget{"link.mtu", "rail0"})], "4200");

  machine.Put(kMtu, "1500");  // a boot, and the controller is away
  connected = answers = false;
  Boot();
  ASSERT_TRUE(agent->Accept(Mtu(1)).ok());
  Live(3min);
  EXPECT_EQ(MtuNow(), "4200");
  EXPECT_FALSE(Open());
}

TEST_F(TryTest, WhyNoNeighbourCouldBeAskedIsTold) {
  neighbours.awake.clear();
  neighbours.obstacle = "the kernel lets no echo out";
  Begin(Mtu(1));
  Live(2s);
  ASSERT_EQ(MtuNow(), "4200");
  const auto messages = Messages(ChangeKind::kIntended);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NE(messages[0].find("not demanded: a neighbour of rail0 (the kernel lets no echo out)"),
            std::string::npos)
      << messages[0];
}

TEST_F(TryTest, WithoutAWordItLasts120Seconds) {
  DesiredState state = State(1).Enforce("link.speed", "rail1", "400").Allow(Disruption::kLinkFlap);
  answers = false;
  Begin(state);
  ASSERT_EQ(Value("/ethtool/rail1/speed"), "400");
  const auto deadline = journal.Try()->deadline;
  EXPECT_EQ(deadline - journal.Try()->begun, 120s);
  Live(deadline - clock.BootNow() - 10ms);
  EXPECT_EQ(Value("/ethtool/rail1/speed"), "400");
  Live(20ms);
  EXPECT_EQ(Value("/ethtool/rail1/speed"), "100") << "at the deadline, not a look later";
  EXPECT_EQ(Of("link.speed", "rail1").reason, "TryFailed");
}

TEST_F(TryTest, WhatFailedIsNotTriedAgainUntilANewGenerationOrAPerson) {
  answers = false;
  Begin(Mtu(1));
  Live(61s);
  ExpectPutBack("the controller has not answered over a new connection");
  EXPECT_EQ(Changes(ChangeKind::kUndone), Lines{"link.mtu rail0 4200→1500"});
  EXPECT_TRUE(agent->Report().settled);
  machine.ClearLog();
  Hint(kMtu);
  Live(24h);
  EXPECT_TRUE(machine.Writes().empty());
  Boot();  // also in the next life
  Begin(Mtu(1));
  Live(10min);
  EXPECT_TRUE(machine.Writes().empty());
  EXPECT_EQ(Of("link.mtu", "rail0").reason, "TryFailed");
  answers = true;
  agent->SetPauses({Pause{"", "link.mtu", "a person", ""}});
  Live(1s);
  agent->SetPauses({});
  Live(10s);
  EXPECT_EQ(MtuNow(), "4200");
  EXPECT_TRUE(journal.FailedTries().empty());
  answers = false;
  Begin(Mtu(2, "9000"));
  Live(2min);
  EXPECT_EQ(MtuNow(), "4200") << "what was confirmed is what it goes back to";
  answers = true;
  Begin(Mtu(3, "9000"));
  Live(10s);
  EXPECT_EQ(MtuNow(), "9000");
}

TEST_F(TryTest, APauseDoesNotStopTheWayBack) {
  answers = false;
  Begin(Mtu(1));
  agent->SetPauses({Pause{"", "", "a person", "hands off"}});
  options.paused_now = [](std::string_view) { return true; };
  Live(61s);
  EXPECT_EQ(MtuNow(), "1500") << "nobody could lift the pause of a node that is cut off";
  EXPECT_FALSE(Open());
}

TEST_F(TryTest, AJournalThatTakesNoWritesStopsTheBeginningAndNotTheEnd) {
  Boot();
  journal.fail_from = journal.calls + 1;
  Begin(Mtu(1));
  EXPECT_EQ(MtuNow(), "1500");
  EXPECT_EQ(Of("link.mtu", "rail0").reason, "ApplyFailed");
  EXPECT_NE(Of("link.mtu", "rail0").message.find("the way back could not be journalled"), std::string::npos);
  journal.fail_from = 0;
  answers = false;
  Live(10s);
  ASSERT_EQ(MtuNow(), "4200");
  journal.fail_from = journal.calls + 1;
  Live(70s);
  EXPECT_EQ(MtuNow(), "1500");
  EXPECT_TRUE(Open()) << "it could not be written down that it has ended";
  journal.fail_from = 0;
  Live(15s);
  EXPECT_FALSE(Open());
  EXPECT_EQ(MtuNow(), "1500");
}

TEST_F(TryTest, AWayBackThatIsBarredIsTriedUntilItIsFree) {
  answers = false;
  Begin(Mtu(1));
  machine.FailWrites(kMtu, Status(Code::kUnavailable, "Device or resource busy", 16));
  Live(65s);
  EXPECT_EQ(MtuNow(), "4200");
  EXPECT_TRUE(Open());
  EXPECT_NE(Of("link.mtu", "rail0").message.find("could not be put back to 1500"), std::string::npos)
      << Of("link.mtu", "rail0").message;
  machine.FailWrites(kMtu, Ok());
  Live(2s);
  ExpectPutBack("the controller has not answered");
  EXPECT_EQ(Changes(ChangeKind::kUndone),
            (Lines{"link.mtu rail0 4200→1500 FAILED", "link.mtu rail0 4200→1500"}));
}

TEST_F(TryTest, WhatTheKernelDropsWithAValueComesBackToo) {
  machine.Put("/rtnl/addr/rail0", "10.10.0.1/24\nfd00::1/64");
  machine.Put("/rtnl/route/main/rail0", "default via 10.10.0.254 dev rail0");
  machine.on_set = [&](const std::string& path, const std::string& value) {
    if (path == kMtu && value == "1000")
      machine.Put("/rtnl/addr/rail0", "10.10.0.1/24");  // as IPv6 below 1280
  };
  answers = false;
  Begin(Mtu(1, "1000"));
  machine.Put("/rtnl/route/main/rail0", "");
  Live(61s);
  EXPECT_EQ(MtuNow(), "1500");
  EXPECT_EQ(Value("/rtnl/addr/rail0"), "10.10.0.1/24\nfd00::1/64");
  EXPECT_EQ(Value("/rtnl/route/main/rail0"), "default via 10.10.0.254 dev rail0");
}

TEST_F(TryTest, ANewGenerationGoesOnWithItAndGoesBackToTheFirstValue) {
  answers = false;
  Begin(Mtu(1));
  Live(40s);
  Begin(Mtu(2, "9000"));
  EXPECT_EQ(MtuNow(), "9000");
  Live(40s);
  EXPECT_EQ(MtuNow(), "9000") << "60 s of its own";
  Live(25s);
  ExpectPutBack("writing 9000 was not confirmed");
}

TEST_F(TryTest, ANewGenerationThatWantsTheValueFromBeforeCallsItOff) {
  answers = false;
  Begin(Mtu(1));
  Live(5s);
  Begin(Mtu(2, "1500", 0ms));
  Live(2s);
  EXPECT_EQ(MtuNow(), "1500");
  EXPECT_FALSE(Open());
  EXPECT_EQ(agent->Report().verdict, Verdict::kCompliant);
}

TEST_F(TryTest, AGidGoesWithTheAddressThatTheTryTakesAwayAndNotWithAnother) {
  const std::string table = "/sys/class/infiniband/mlx5_0/ports/1/gids/";
  machine.FailReads(table + "1", Status(Code::kInvalidArgument, "Invalid argument", 22));  // an unset place
  machine.Put(table + "2", "0000:0000:0000:0000:0000:ffff:0a0a:0001");                     // 10.10.0.1
  machine.Put(table + "3", "0000:0000:0000:0000:0000:ffff:0a0a:000b");                     // 10.10.0.11
  machine.Put("/rtnl/addr/rail0", "10.10.0.1/24");
  const auto state = [](std::uint64_t generation, const std::string& address) {
    DesiredState wanted = State(generation).Enforce("rail.address", "rail0", address);
    wanted.try_for = 60s;
    return wanted;
  };
  Begin(state(1, "10.10.0.7/24"));
  ASSERT_EQ(journal.Try()->evidence[0].gids.size(), 3u);
  machine.Put(table + "2", "0000:0000:0000:0000:0000:ffff:0a0a:0007");
  Live(10s);
  EXPECT_FALSE(Open()) << "confirmed";
  EXPECT_EQ(Value("/rtnl/addr/rail0"), "10.10.0.7/24");
  Begin(state(2, "10.10.0.8/24"));
  machine.Put(table + "3", "0000:0000:0000:0000:0000:0000:0000:0000");
  Live(61s);
  EXPECT_EQ(Value("/rtnl/addr/rail0"), "10.10.0.7/24");
  EXPECT_NE(Of("rail.address", "rail0")
                .message.find("GID 0000:0000:0000:0000:0000:ffff:0a0a:000b of rail0 is gone"),
            std::string::npos)
      << Of("rail.address", "rail0").message;
}

class TwoPorts : public TryTest {
 protected:
  DesiredState Speeds(std::uint64_t generation) {
    DesiredState state = State(generation)
                             .Enforce("link.speed", "rail0", "400")
                             .Allow(Disruption::kLinkFlap)
                             .Enforce("link.speed", "rail1", "400")
                             .Allow(Disruption::kLinkFlap);
    state.try_for = 60s;
    return state;
  }
};

TEST_F(TwoPorts, OnlyTheOneThatDoesNotComeBackIsPutBack) {
  Begin(Speeds(1));
  ASSERT_EQ(journal.Try()->steps.size(), 2u);
  machine.Put("/sys/class/net/rail1/carrier", "0");
  Live(35s);
  EXPECT_EQ(Value("/ethtool/rail0/speed"), "400");
  EXPECT_EQ(Value("/ethtool/rail1/speed"), "100");
  EXPECT_EQ(Of("link.speed", "rail1").reason, "LinkStayedDown");
  machine.Put("/sys/class/net/rail1/carrier", "1");
  Live(30s);
  EXPECT_FALSE(Open());
  EXPECT_EQ(Value("/ethtool/rail0/speed"), "400");
  EXPECT_EQ(Of("link.speed", "rail0").verdict, Verdict::kCompliant);
}

TEST_F(TwoPorts, WithoutTheControllerBothAreInTheReverseOrder) {
  answers = false;
  Begin(Speeds(1));
  machine.ClearLog();
  Live(61s);
  const auto writes = machine.Writes();
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_EQ(writes[0], (std::pair<std::string, std::string>("/ethtool/rail1/speed", "100")));
  EXPECT_EQ(writes[1], (std::pair<std::string, std::string>("/ethtool/rail0/speed", "100")));
}

}  // namespace
}  // namespace railwright
