// Signed states on a whole agent: what comes into force, what does not, and what is left when it dies.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files/whole_file.h"
#include "tests/agent/agent_node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;
using identity::StatementNumber;

class SignedStateTest : public testing::Test, protected AgentNode {
 protected:
  void SetUp() override { ASSERT_TRUE(Boot()); }
  nlohmann::json Status() const {
    return nlohmann::json::parse(*ReadWhole(directory.path() + "/status.json"));
  }
  /// Given, and answered with a Nack that has these words; nothing of it is in force.
  void ExpectNack(const v1::DesiredState& message, const std::string& words) {
    const auto before = agent->Hello();
    const std::size_t nacks = Sent<v1::Nack>().size();
    machine.ClearLog();
    Give(message);
    ASSERT_EQ(Sent<v1::Nack>().size(), nacks + 1) << words;
    EXPECT_NE(Sent<v1::Nack>().back().message().find(words), std::string::npos)
        << Sent<v1::Nack>().back().message();
    EXPECT_TRUE(machine.Writes().empty());
    EXPECT_EQ(agent->Hello().state_hash(), before.state_hash());
    EXPECT_EQ(agent->Hello().generation(), before.generation());
  }
  /// State(generation, mtu), valid for the time from `from` to `to`, counted from now.
  v1::DesiredState Valid(std::uint64_t generation, std::chrono::seconds from, std::chrono::seconds to,
                         std::uint64_t issue = 0) const {
    v1::DesiredState message = State(generation);
    identity::Statement said = Signer().Said(message, issue);
    const auto now = std::chrono::floor<std::chrono::seconds>(clock.WallNow());
    said.not_before = now + from;
    said.not_after = now + to;
    if (issue > 0) {
      const std::string digest = agent->Hello().statement_digest();
      std::copy(digest.begin(), digest.end(), said.previous.begin());
    }
    message.set_envelope(Signer().Envelope(said));
    return message;
  }
};

TEST_F(SignedStateTest, TheHelloAndTheAckTellTheNumberThatWasAccepted) {
  EXPECT_EQ(agent->Hello().statement(), 0U);
  Welcome();
  Give(State(7));
  EXPECT_EQ(Sent<v1::Ack>().back().statement(), StatementNumber({7, 0}).Packed());
  EXPECT_EQ(agent->Hello().statement(), StatementNumber({7, 0}).Packed());
  EXPECT_EQ(agent->Hello().statement_digest().size(), 32U);
  const std::string digest = agent->Hello().statement_digest();
  ASSERT_TRUE(Boot());
  EXPECT_EQ(agent->Hello().statement_digest(), digest);
}

TEST_F(SignedStateTest, WhatIsRefusedChangesNothingAndIsInTheStatus) {
  Welcome();
  Give(State(7));
  v1::DesiredState naked = State(8, "9000");
  naked.clear_envelope();
  ExpectNack(naked, "it is not signed");
  v1::DesiredState flipped = State(8, "9000");
  flipped.mutable_group()->at(3) ^= 1;
  ExpectNack(flipped, "its payload has the SHA-256");
  v1::DesiredState lent = State(8, "9000");
  lent.set_envelope(State(9, "4200").envelope());
  ExpectNack(lent, "it says generation 8, signed is generation 9");
  ExpectNack(State(6, "9000"), "generation 6 is older than generation 7");
  ExpectNack(State(7, "9000"), "was accepted here as another statement");
  const TestSigner other("gpu-002", "0f8fad5b-d9cb-469f-a165-708677289502");
  v1::DesiredState elsewhere = State(8, "9000");
  other.Sign(elsewhere);
  ExpectNack(elsewhere, "not addressed to this node");
  ExpectNack(Valid(8, -48h, -24h), "expired");
  Pass(1s);
  EXPECT_NE(Status()["agent"]["refused"].get<std::string>().find("expired"), std::string::npos);
  Give(State(8, "9000"));
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "9000");
}

TEST_F(SignedStateTest, WithoutTrustNothingIsTakenAndTheNextStepIsSaid) {
  trust = Result<NodeTrust>(
      railwright::Status(Code::kNotFound, "this node has not joined: railwright-agent join LINE"));
  ASSERT_TRUE(Boot());
  Welcome();
  ExpectNack(State(7), "railwright-agent join");
  EXPECT_FALSE(ReadWhole(directory.path() + "/desired.bin").ok());
  v1::Command command;
  *command.mutable_plan() = State(8);
  Give(command);
  EXPECT_NE(Sent<v1::CommandResult>().back().error().find("railwright-agent join"), std::string::npos);
}

TEST_F(SignedStateTest, AnUnsignedDryRunIsAnsweredAndLeavesNothing) {
  Welcome();
  Give(State(7));
  v1::Command command;
  *command.mutable_plan() = State(8, "9000");
  command.mutable_plan()->clear_envelope();
  machine.ClearLog();
  const auto before = *ReadWhole(directory.path() + "/desired.bin");
  const auto floor = *ReadWhole(directory.path() + "/trust/floor");
  Give(command);
  ASSERT_EQ(Sent<v1::CommandResult>().size(), 1U);
  EXPECT_EQ(Sent<v1::CommandResult>()[0].plan().steps_size(), 1);
  EXPECT_TRUE(machine.Writes().empty());
  EXPECT_EQ(*ReadWhole(directory.path() + "/desired.bin"), before);
  EXPECT_EQ(*ReadWhole(directory.path() + "/trust/floor"), floor);
  EXPECT_EQ(agent->Hello().generation(), 7U);
  command.mutable_plan()->set_group(std::string(identity::Statement::kMostPayloadBytes + 1, 'g'));
  Give(command);
  EXPECT_NE(Sent<v1::CommandResult>().back().error().find("are taken"), std::string::npos);
}

TEST_F(SignedStateTest, WhatExpiresGoesOnBeingEnforcedAndIsSaidUntilItIsRenewed) {
  Welcome();
  Give(Valid(7, 0h, 1h));
  AcknowledgeReports();
  EXPECT_EQ(Sent<v1::Report>().back().verdict(), v1::VERDICT_COMPLIANT);
  Pass(1h + 6min);
  AcknowledgeReports();
  const v1::Report told = Sent<v1::Report>().back();
  EXPECT_EQ(told.verdict(), v1::VERDICT_UNKNOWN);
  ASSERT_EQ(told.findings_size(), 1);
  EXPECT_EQ(told.findings(0).reason(), "StateStale");
  EXPECT_NE(told.findings(0).message().find("stale signed state"), std::string::npos);
  Drift("/proc/sys/a", "0");
  EXPECT_EQ(Value("/proc/sys/a"), "1") << "it is enforced all the same";
  ASSERT_TRUE(Boot());
  Settle();
  EXPECT_EQ(agent->Hello().generation(), 7U) << "also in the next life";
  EXPECT_TRUE(Logged("stale signed state"));
  Welcome();
  Settle();
  AcknowledgeReports();
  Give(Valid(7, -1h, 24h, 1));
  AcknowledgeReports();
  EXPECT_EQ(Sent<v1::Report>().back().verdict(), v1::VERDICT_COMPLIANT);
  EXPECT_EQ(Sent<v1::Ack>().back().statement(), StatementNumber({7, 1}).Packed());
  ASSERT_TRUE(Boot());
  Pass(1min);
  EXPECT_EQ(agent->Hello().statement(), StatementNumber({7, 1}).Packed()) << "the renewal was kept";
}

TEST_F(SignedStateTest, ACrashBetweenTheFloorAndTheStateLeavesTheOldOneInForceAndTakesTheSameAgain) {
  Welcome();
  Give(State(7));
  const std::string kept = *ReadWhole(directory.path() + "/desired.bin");
  Give(State(8, "9000"));
  // As if it had died before desired.bin was renamed: the floor says 8.
  ASSERT_TRUE(WriteWholeFile(directory.path() + "/desired.bin", kept, {.sync = Sync::kNone}).ok());
  ASSERT_TRUE(Boot());
  Settle();
  EXPECT_EQ(agent->Hello().generation(), 7U);
  EXPECT_EQ(agent->Hello().statement(), StatementNumber({8, 0}).Packed());
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "4200");
  Welcome();
  ExpectNack(State(7), "is older than generation 8");
  Give(State(8, "9000"));
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "9000");
  EXPECT_EQ(agent->Hello().generation(), 8U);
}

TEST_F(SignedStateTest, AFloorThatCannotBeWrittenHoldsTheStateBackUntilItCan) {
  Welcome();
  Give(State(7));
  const std::string trust_folder = directory.path() + "/trust";
  std::filesystem::rename(trust_folder, directory.path() + "/away");
  ASSERT_TRUE(WriteWholeFile(trust_folder, "in the way", {.sync = Sync::kNone}).ok());
  ExpectNack(State(8, "9000"), "it cannot be kept yet: the floor of generations");
  std::filesystem::remove(trust_folder);
  std::filesystem::rename(directory.path() + "/away", trust_folder);
  Pass(6s);
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "9000") << "nobody had to send it again";
  EXPECT_EQ(Sent<v1::Ack>().back().generation(), 8U);
}

TEST_F(SignedStateTest, BothFloorsDamagedKeepsTheOldStateInForceAndRefusesEveryNewOne) {
  Welcome();
  Give(State(7));
  for (const char* name : {"/trust/floor", "/trust/floor.2"})
    ASSERT_TRUE(WriteWholeFile(directory.path() + name, "damaged", {.sync = Sync::kNone}).ok());
  ASSERT_TRUE(Boot());
  Settle();
  EXPECT_TRUE(Logged("the floor of generations is damaged"));
  EXPECT_EQ(agent->Hello().generation(), 7U);
  Drift("/proc/sys/a", "0");
  EXPECT_EQ(Value("/proc/sys/a"), "1");
  Welcome();
  ExpectNack(State(8, "9000"), "to begin anew from the state that is in force");
  for (const char* name : {"/trust/floor", "/trust/floor.2"})
    std::filesystem::remove(directory.path() + name);
  ASSERT_TRUE(Boot());
  Welcome();
  ExpectNack(State(6, "9000"), "is older than generation 7");
  Give(State(8, "9000"));
  EXPECT_EQ(agent->Hello().generation(), 8U);
}

TEST_F(SignedStateTest, AfterAFastForwardTheRevokedKeyAndARestartBringTheNodeBack) {
  TestSigner thief;
  thief.key = std::move(identity::PrivateKey::Generate(identity::KeyKind::kEd25519)).value();
  trust->signers.keys.push_back(thief.key.public_key());
  Welcome();
  Give(State(7));
  v1::DesiredState far = State(StatementNumber::kMostGeneration, "9000");
  thief.Sign(far);
  Give(far);
  EXPECT_EQ(agent->Hello().generation(), StatementNumber::kMostGeneration);
  ExpectNack(State(8), "is older than");
  trust->signers.revoked.insert(thief.key.public_key().pin());
  ASSERT_TRUE(Boot());
  EXPECT_EQ(agent->Hello().generation(), 0U) << "what a revoked key signed is not taken up";
  EXPECT_EQ(agent->Hello().statement(), StatementNumber({7, 0}).Packed()) << "its number counts no more";
  Welcome();
  ExpectNack(State(6, "9000"), "generation 6 is older than generation 7");
  Give(State(8));
  EXPECT_EQ(agent->Hello().generation(), 8U);
  EXPECT_EQ(Value("/rtnl/link/rail0/mtu"), "4200");
}

TEST_F(SignedStateTest, WhereverTheBytesAreCutTheStateIsTheSameOrRefused) {
  // Signed are group and overlay in a row. Who carries them may cut elsewhere; that must not say anything
  // else.
  const v1::DesiredState good = State(7);
  const std::string bytes = good.group() + good.overlay();
  const auto said = FromWire(good);
  ASSERT_TRUE(said.ok());
  int same = 0;
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    v1::DesiredState message = good;
    message.set_group(bytes.substr(0, cut));
    message.set_overlay(bytes.substr(cut));
    const auto state = FromWire(message);
    if (!state.ok()) continue;
    ++same;
    EXPECT_EQ(state->settings, said->settings) << cut;
    EXPECT_EQ(state->ports, said->ports) << cut;
    EXPECT_EQ(state->restore, said->restore) << cut;
    EXPECT_EQ(state->node, said->node) << cut;
    EXPECT_EQ(state->subnets, said->subnets) << cut;
  }
  EXPECT_GE(same, 1);
}

}  // namespace
}  // namespace railwright
