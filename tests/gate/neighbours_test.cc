// Neighbours, asked through a front: one of the test's own making, and the real passage.
#include "agent/gate/neighbours.h"

#include <sys/eventfd.h>

#include "agent/gate/passage.h"
#include "tests/gate/gate_fixture.h"

namespace railwright::gate {
namespace {

using Addresses = std::vector<std::string>;

class NeighboursTest : public GateTest {
 protected:
  void SetUp() override { Begin(); }
  // The next question, as the front hears it.
  static std::optional<Frame> Asked(TestFront& front) { return front.Hear(FrameKind::kAskPeers); }
};

TEST_F(NeighboursTest, AreAskedThroughTheFrontAndAnswerWhenItSaysSo) {
  TestFront front = Come();
  front.Greet();
  ASSERT_EQ(Taken(1).size(), 1U);
  neighbours_.Ask("rail0", {"10.10.0.2", "10.10.0.3"});
  const auto question = Asked(front);
  ASSERT_TRUE(question);
  EXPECT_EQ(ReadAskPeers(*question)->addresses, (Addresses{"10.10.0.2", "10.10.0.3"}));
  EXPECT_TRUE(neighbours_.Answered("rail0").empty()) << "no evidence is no answer";
  front.Say(HeardFrame(question->connection, {"", {"10.10.0.3"}}));
  EXPECT_TRUE(Within([&] { return neighbours_.Answered("rail0") == Addresses{"10.10.0.3"}; }));
  neighbours_.Ask("rail0", {"10.10.0.3"});
  EXPECT_TRUE(neighbours_.Answered("rail0").empty()) << "what had answered before is forgotten";
}

TEST_F(NeighboursTest, ThatWereNotAskedDoNotAnswerNorDoesAnOlderQuestion) {
  TestFront front = Come();
  front.Greet();
  ASSERT_EQ(Taken(1).size(), 1U);
  neighbours_.Ask("rail0", {"10.10.0.2"});
  const auto first = Asked(front);
  neighbours_.Ask("rail0", {"10.10.0.2"});
  const auto second = Asked(front);
  ASSERT_TRUE(first && second);
  front.Say(HeardFrame(first->connection, {"", {"10.10.0.2"}}));
  front.Say(HeardFrame(second->connection + 1, {"", {"10.10.0.2"}}));
  front.Say(HeardFrame(second->connection, {"", {"10.10.0.9"}}));
  neighbours_.Ask("rail1", {"10.11.0.2"});  // a mark that all of that was read
  front.Say(HeardFrame(Asked(front)->connection, {"", {"10.11.0.2"}}));
  ASSERT_TRUE(Within([&] { return !neighbours_.Answered("rail1").empty(); }));
  EXPECT_TRUE(neighbours_.Answered("rail0").empty());
}

TEST_F(NeighboursTest, AnAnswerThatIsNoneEndsTheFront) {
  TestFront front = Come();
  front.Greet();
  front.Say({FrameKind::kHeard, 1, "\n10.0.0.1; rm"});
  EXPECT_TRUE(front.Ended());
  EXPECT_TRUE(Within([&] { return Told("no address"); }));
}

TEST_F(NeighboursTest, WithoutAFrontNobodyAnswersAndTheNextIsGreetedAsEver) {
  neighbours_.Ask("rail0", {"10.10.0.2"});
  gate_->Redial();
  std::this_thread::sleep_for(50ms);
  EXPECT_TRUE(neighbours_.Answered("rail0").empty());
  TestFront front = Come();
  const auto first = front.Hear();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, FrameKind::kVersion) << Name(first->kind);
}

TEST_F(NeighboursTest, OutliveTheGate) {
  gate_.reset();
  neighbours_.Ask("rail0", {"10.10.0.2"});
  EXPECT_TRUE(neighbours_.Answered("rail0").empty());
}

// Answers one of those that are asked, at the third look; of "down0" it says why none can be.
class SlowNeighbours final : public PeerProbe {
 public:
  void Ask(const std::string& netdev, const std::vector<std::string>& addresses) override {
    asked_[netdev] = addresses;
    looks_ = 0;
  }
  std::vector<std::string> Answered(const std::string& netdev) override {
    return netdev == "rail0" && ++looks_ >= 3 ? Addresses{asked_[netdev].front()} : Addresses{};
  }
  std::string Obstacle(const std::string& netdev) const override {
    return netdev == "down0" ? "no echo can be bound to down0" : "";
  }

 private:
  std::map<std::string, Addresses> asked_;
  int looks_ = 0;
};

TEST_F(NeighboursTest, AreHeardByThePassageUntilTheyAnswer) {
  const Descriptor signals(eventfd(0, EFD_CLOEXEC));
  SlowNeighbours there;
  std::thread front([&] {
    Passage passage(door_->Come(), *Bell::Make());
    ASSERT_TRUE(passage.Open(signals.get()).ok());
    EXPECT_TRUE(passage.Run(signals.get(), {{}, [] { return std::string("connected"); }, {}, &there}).ok());
  });
  ASSERT_TRUE(Within([&] { return gate_->StateText() == "connected"; }));
  neighbours_.Ask("rail0", {"10.10.0.2", "10.10.0.3"});
  EXPECT_TRUE(Within([&] { return neighbours_.Answered("rail0") == Addresses{"10.10.0.2"}; }));
  neighbours_.Ask("down0", {"10.10.0.2"});
  EXPECT_TRUE(Within([&] { return neighbours_.Obstacle("down0") == "no echo can be bound to down0"; }));
  EXPECT_EQ(neighbours_.Obstacle("rail0"), "");
  const std::uint64_t one = 1;
  EXPECT_EQ(write(signals.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  front.join();
}

}  // namespace
}  // namespace railwright::gate
