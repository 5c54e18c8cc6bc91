#include "core/identity/floor.h"

#include <limits>

#include "tests/identity/world.h"

namespace railwright::identity {
namespace {

const PublicKey& Key(std::size_t which) {
  static const std::vector<PublicKey> keys = [] {
    std::vector<PublicKey> made;
    for (int i = 0; i < 3; ++i) made.push_back(NewKey(KeyKind::kEd25519).public_key());
    return made;
  }();
  return keys[which];
}

TrustedSigners Trusted(const std::vector<std::size_t>& revoked = {}) {
  TrustedSigners trusted{.keys = {Key(0), Key(1), Key(2)}, .revoked = {}, .threshold = 1};
  for (const std::size_t one : revoked) trusted.revoked.insert(Key(one).pin());
  return trusted;
}

// An envelope as Open gives it; what signed it is Open's to know and not Floor's.
OpenedEnvelope Opened(std::uint64_t generation, const Digest& previous = {}, std::size_t key = 0,
                      std::string_view content = "") {
  Statement said{.cluster = Cluster(),
                 .audience = Audience::Node(Uuid()),
                 .line = Key(key).pin(),
                 .generation = generation,
                 .previous = previous,
                 .not_before = Noon(),
                 .not_after = Noon() + std::chrono::hours(1),
                 .created_by = "ada",
                 .payload_bytes = 1,
                 .payload_sha256 = Must(Sha256(content))};
  const Digest digest = Must(Sha256(Must(said.Encode())));
  return {std::move(said), digest, {Key(key).pin()}};
}

// Accepts, as a node does.
Result<Floor::Next> Take(Floor& floor, const OpenedEnvelope& one, const TrustedSigners& trusted = Trusted()) {
  auto next = floor.Judge(one, trusted);
  if (next.ok()) floor.Raise(one);
  return next;
}

TEST(Floor, NothingTakesAnything) {
  EXPECT_EQ(Must(Floor().Judge(Opened(1), Trusted())), Floor::Next::kNew);
  EXPECT_EQ(Must(Floor().Judge(Opened(900, Must(Sha256("unseen"))), Trusted())), Floor::Next::kNew);
}

TEST(Floor, TheSameAgainIsTheSame) {
  Floor floor;
  EXPECT_EQ(Must(Take(floor, Opened(5))), Floor::Next::kNew);
  const Floor before = floor;
  EXPECT_EQ(Must(Take(floor, Opened(5))), Floor::Next::kSame);
  EXPECT_EQ(floor, before);
}

TEST(Floor, AReplayOfEveryOlderGenerationIsRefused) {
  Floor floor;
  std::vector<OpenedEnvelope> past;
  Digest previous{};
  int replays = 0;
  for (std::uint64_t generation = 1; generation <= 200; ++generation) {
    past.push_back(Opened(generation, previous, generation % 3));
    previous = past.back().digest;
    ASSERT_EQ(Must(Take(floor, past.back())), Floor::Next::kNew) << generation;
    for (std::size_t i = 0; i + 1 < past.size(); ++i, ++replays)
      ASSERT_EQ(floor.Judge(past[i], Trusted()).status().code(), Code::kFailedPrecondition)
          << past[i].statement.generation << " after " << generation;
  }
  EXPECT_EQ(replays, 200 * 199 / 2);
  ExpectRefused(floor.Judge(past[0], Trusted()), Code::kFailedPrecondition, "generation 1 is older than 200");
}

TEST(Floor, AnotherStateOfTheSameGenerationIsRefused) {
  Floor floor;
  ASSERT_TRUE(Take(floor, Opened(5)).ok());
  ExpectRefused(Take(floor, Opened(5, {}, 0, "other")), Code::kFailedPrecondition,
                "another state of the same number");
  ExpectRefused(Take(floor, Opened(5, {}, 1)), Code::kFailedPrecondition, "another state of the same number");
}

TEST(Floor, TheNextGenerationFollowsWhatWasAccepted) {
  Floor floor;
  const OpenedEnvelope five = Opened(5);
  ASSERT_TRUE(Take(floor, five).ok());
  ExpectRefused(Take(floor, Opened(6, Must(Sha256("another five")))), Code::kFailedPrecondition,
                "what was accepted before it");
  ExpectRefused(Take(floor, Opened(6)), Code::kFailedPrecondition, "what was accepted before it");
  EXPECT_TRUE(floor.Judge(Opened(6, five.digest), Trusted()).ok());
  EXPECT_TRUE(floor.Judge(Opened(6, five.digest, 1), Trusted()).ok()) << "also in another key's line";
  EXPECT_TRUE(floor.Judge(Opened(8, Must(Sha256("unseen"))), Trusted()).ok()) << "6 and 7 were missed";
}

TEST(Floor, TheNewestOfOneKeyIsNotReplayedOverANewerOneOfAnother) {
  Floor floor;
  const OpenedEnvelope five = Opened(5, {}, 0);
  ASSERT_TRUE(Take(floor, five).ok());
  ASSERT_TRUE(Take(floor, Opened(9, {}, 1)).ok());
  ExpectRefused(Take(floor, five), Code::kFailedPrecondition, "generation 5 is older than 9");
  ExpectRefused(Take(floor, Opened(7, {}, 0)), Code::kFailedPrecondition, "generation 7 is older than 9");
}

TEST(Floor, AFastForwardEndsWhenItsKeyIsRevoked) {
  Floor floor;
  const OpenedEnvelope five = Opened(5, {}, 0);
  ASSERT_TRUE(Take(floor, five).ok());
  ASSERT_TRUE(Take(floor, Opened(std::numeric_limits<std::uint64_t>::max(), {}, 1)).ok());
  const OpenedEnvelope six = Opened(6, five.digest, 0);
  ExpectRefused(Take(floor, six), Code::kFailedPrecondition, "is older than 18446744073709551615");
  EXPECT_TRUE(floor.Judge(six, Trusted({1})).ok());
  ExpectRefused(floor.Judge(Opened(4, {}, 0), Trusted({1})), Code::kFailedPrecondition, "older than 5");
  EXPECT_EQ(floor.ForgetUntrusted(Trusted({1})), 1U);
  EXPECT_TRUE(Take(floor, six).ok());
}

TEST(Floor, TheRootMayForgetALine) {
  Floor floor;
  ASSERT_TRUE(Take(floor, Opened(1000)).ok());
  floor.Forget(Key(0).pin());
  EXPECT_TRUE(Take(floor, Opened(1)).ok());
}

TEST(Floor, NeverGetsLower) {
  Floor floor;
  floor.Raise(Opened(9));
  floor.Raise(Opened(3));
  EXPECT_EQ(floor.marks().at(Key(0).pin()).generation, 9U);
}

TEST(Floor, IsReadBackFromItsText) {
  Floor floor;
  EXPECT_EQ(floor.Text(), "");
  EXPECT_EQ(Must(Floor::Parse("")), floor);
  floor.Raise(Opened(1, {}, 0));
  floor.Raise(Opened(std::numeric_limits<std::uint64_t>::max(), {}, 1));
  EXPECT_EQ(Must(Floor::Parse(floor.Text())), floor);
}

TEST(Floor, ADamagedOneIsNoLowerOne) {
  Floor floor;
  floor.Raise(Opened(17, {}, 0));
  floor.Raise(Opened(18, {}, 1));
  const std::string text = floor.Text();
  const std::size_t first = text.find('\n') + 1;
  std::vector<std::string> damaged = {text + "\n",
                                      " " + text,
                                      text + "x",
                                      text.substr(first) + text.substr(0, first),
                                      text.substr(0, first) + text,
                                      text.substr(0, first - 1)};
  for (std::size_t size = 1; size < text.size(); ++size)
    if (size != first) damaged.push_back(text.substr(0, size));
  std::string zero = text;
  zero.replace(zero.find(' ') + 1, 2, "0 ");
  damaged.push_back(zero);
  zero = text;
  zero.replace(zero.find(' ') + 1, 2, "017");
  damaged.push_back(zero);
  zero.replace(zero.find(' ') + 1, 3, "99999999999999999999");
  damaged.push_back(zero);
  for (const std::string& one : damaged) EXPECT_EQ(Floor::Parse(one).status().code(), Code::kDataLoss) << one;
}

}  // namespace
}  // namespace railwright::identity
