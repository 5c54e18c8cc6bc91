// A try that outlives the life of the agent, or the boot, in which it was begun.
#include "tests/reconcile/try.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

class TryLifeTest : public testing::Test, protected TryNode {};

TEST_F(TryLifeTest, TheNextLifeKeepsTheDeadlineOfTheLastOne) {
  answers = false;
  Begin(Mtu(1));
  const auto deadline = journal.Try()->deadline;
  Live(40s);
  Boot();
  EXPECT_EQ(MtuNow(), "4200");
  Live(deadline - clock.BootNow() - 10ms);
  EXPECT_EQ(MtuNow(), "4200");
  Live(20ms);
  EXPECT_EQ(MtuNow(), "1500") << "although no desired state was taken up yet";
  EXPECT_FALSE(Open());
}

TEST_F(TryLifeTest, ALifeThatBeginsAfterTheDeadlinePutsBackBeforeAnythingElse) {
  answers = false;
  Begin(Mtu(1));
  agent.reset();
  clock.Advance(1h);
  Boot();
  EXPECT_EQ(MtuNow(), "1500") << "by Start alone";
}

TEST_F(TryLifeTest, AnAgentThatIsStoppedPutsBackAndItsNextLifeTriesAnew) {
  answers = false;
  Begin(Mtu(1));
  ASSERT_EQ(MtuNow(), "4200");
  ASSERT_TRUE(agent->Stop().ok());
  EXPECT_EQ(MtuNow(), "1500");
  EXPECT_FALSE(Open());
  answers = true;
  Boot();
  Begin(Mtu(1));
  Live(10s);
  EXPECT_EQ(MtuNow(), "4200");
  EXPECT_FALSE(Open());
}

TEST_F(TryLifeTest, ARouteThatGoesWhileTheLinkIsDownIsAddedAgain) {
  machine.Put("/rtnl/route/main/rail0", "default via 10.10.0.254 dev rail0");
  Begin(Mtu(1));
  machine.Put("/rtnl/route/main/rail0", "");
  Live(10s);
  EXPECT_EQ(Value("/rtnl/route/main/rail0"), "default via 10.10.0.254 dev rail0");
  EXPECT_FALSE(Open());
  EXPECT_EQ(MtuNow(), "4200");
}

TEST_F(TryLifeTest, TheNextLifeMayConfirmIt) {
  answers = false;
  Begin(Mtu(1));
  Live(10s);
  answers = true;
  Boot();
  Begin(Mtu(1));
  Live(10s);
  EXPECT_FALSE(Open());
  Live(1h);
  EXPECT_EQ(MtuNow(), "4200");
}

TEST_F(TryLifeTest, ABootInBetweenPutsBackAtOnce) {
  Begin(Mtu(1));
  ASSERT_TRUE(Open());
  options.boot_id = "boot-2";
  Boot();
  EXPECT_EQ(MtuNow(), "1500");
  EXPECT_FALSE(Open());
  Begin(Mtu(1));
  Live(1h);
  EXPECT_EQ(MtuNow(), "1500");
  EXPECT_EQ(Of("link.mtu", "rail0").reason, "TryFailed");
  EXPECT_NE(Of("link.mtu", "rail0").message.find("the node has booted before it was confirmed"),
            std::string::npos)
      << Of("link.mtu", "rail0").message;
}

TEST_F(TryLifeTest, WithoutABootIdNobodyKnowsWhetherItWasThisBoot) {
  Begin(Mtu(1));
  ASSERT_TRUE(Open());
  options.boot_id.clear();
  Boot();
  EXPECT_EQ(MtuNow(), "1500");
  EXPECT_FALSE(Open());
}

TEST_F(TryLifeTest, ABootAfterItWasConfirmedChangesNothing) {
  Begin(Mtu(1));
  Live(10s);
  ASSERT_FALSE(Open());
  options.boot_id = "boot-2";
  Boot();
  EXPECT_EQ(MtuNow(), "4200");
}

// Kill -9 at every call of the journal and at every write, before and after it took effect: what is
// unconfirmed comes back at its time, and no life begins it anew once it has been put back.
TEST(TryCrash, AtEveryPointItComesBack) {
  int points = 0;
  for (int kind = 0; kind < 3; ++kind) {
    for (int at = 1; at < 60; ++at) {
      TryNode node;
      node.answers = false;
      Faults faults;
      if (kind == 1) faults.die_before_write = at;
      if (kind == 2) faults.die_after_write = at;
      FaultyMachine faulty(node.machine, faults);
      if (kind == 0) node.journal.die_at = at;
      bool died = false;
      try {
        node.Boot(faulty);
        node.Begin(TryNode::Mtu(1));
        node.Live(70s);
      } catch (const Died&) {
        died = true;
      }
      if (!died) break;
      ++points;
      node.journal.die_at = 0;
      const bool open = node.Open();
      const auto deadline = open ? node.journal.Try()->deadline : std::chrono::milliseconds(0);
      node.Boot();
      node.Begin(TryNode::Mtu(1));
      if (open && deadline > node.clock.BootNow()) node.Live(deadline - node.clock.BootNow() + 1s);
      if (open) {
        EXPECT_EQ(node.MtuNow(), "1500") << kind << " " << at;
      }
      node.Live(2min);  // one that died before it had begun is tried now
      EXPECT_EQ(node.MtuNow(), "1500") << kind << " " << at;
      EXPECT_FALSE(node.Open()) << kind << " " << at;
      node.machine.ClearLog();
      node.Live(1h);
      EXPECT_TRUE(node.machine.Writes().empty()) << kind << " " << at;
    }
  }
  EXPECT_GT(points, 10) << "the walk died too seldom to mean anything";
}

class SteppedClock final : public Clock {
 public:
  Steady Now() const override { return inner.Now(); }
  Wall WallNow() const override { return inner.WallNow() + wall_step; }
  std::chrono::milliseconds BootNow() const override { return inner.BootNow() + slept; }
  SimClock inner;
  std::chrono::hours wall_step{0};
  std::chrono::milliseconds slept{0};
};

TEST(TryClock, TheTimeOfDayDoesNotMoveTheDeadlineAndSleepCounts) {
  for (const bool sleeps : {false, true}) {
    TryNode node;
    node.answers = false;
    SteppedClock stepped;
    Reconciler loop(node.machine, node.catalog, node.checks, node.journal, stepped, node.options);
    ASSERT_TRUE(loop.Start().ok());
    ASSERT_TRUE(loop.Accept(TryNode::Mtu(1)).ok());
    const auto live = [&](std::chrono::nanoseconds time) {
      const auto end = stepped.inner.Now() + time;
      while (loop.NextDue() <= end) {
        stepped.inner.AdvanceTo(loop.NextDue());
        loop.Tick();
      }
      stepped.inner.AdvanceTo(end);
    };
    live(2s);
    ASSERT_EQ(node.MtuNow(), "4200");
    stepped.wall_step = std::chrono::hours(24 * 40);
    live(10s);
    stepped.wall_step = -std::chrono::hours(24 * 3);
    live(10s);
    EXPECT_EQ(node.MtuNow(), "4200");
    if (sleeps) stepped.slept = 1min;
    live(2s);
    EXPECT_EQ(node.MtuNow(), sleeps ? "1500" : "4200");
    live(40s);
    EXPECT_EQ(node.MtuNow(), "1500");
  }
}

}  // namespace
}  // namespace railwright
