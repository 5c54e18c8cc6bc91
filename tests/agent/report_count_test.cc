// How much an agent says: what the controller would store or show, once, and heartbeats.
#include <gtest/gtest.h>

#include "tests/agent/agent_node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

class ReportCountTest : public testing::Test, protected AgentNode {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Boot());
    Welcome();
    Give(State(7));
    AcknowledgeReports();
    last_ = Sent<v1::Report>().back();
    Forget();
  }
  // Counts from here on.
  void Forget() {
    sent.clear();
    acknowledged = 0;
  }
  std::size_t Reports() const { return Sent<v1::Report>().size(); }
  v1::HeldReport Held() const {
    v1::HeldReport held;
    held.set_hash(last_.hash());
    held.set_generation(last_.generation());
    held.set_state_hash(last_.state_hash());
    held.set_verdict(last_.verdict());
    held.set_settled(last_.settled());
    held.set_agent_version("0.1.0");
    held.set_boot_id("b00t");
    return held;
  }
  v1::Report last_;
};

TEST_F(ReportCountTest, ScansThatFindNothingNewAreNotReported) {
  Pass(10min);
  EXPECT_EQ(Reports(), 0U);
  EXPECT_EQ(Sent<v1::Heartbeat>().size(), sent.size()) << "nothing but heartbeats";
  EXPECT_GE(sent.size(), 59U);
  EXPECT_LE(sent.size(), 61U);
}

TEST_F(ReportCountTest, HintsThatChangeNothingAreNotReported) {
  for (int i = 0; i < 50; ++i) {
    clock.Advance(100ms);
    agent->Notice({{"", "", 0, clock.Now()}});
    Settle();
  }
  EXPECT_EQ(Reports(), 0U);
}

TEST_F(ReportCountTest, AStateThatIsSentAgainIsAcknowledgedAndNotReported) {
  Give(State(7));
  EXPECT_EQ(Sent<v1::Ack>().size(), 1U);
  EXPECT_EQ(Reports(), 0U);
}

TEST_F(ReportCountTest, ARepairedDriftIsOneReportWithTwoRecords) {
  Drift("/proc/sys/a", "0");
  AcknowledgeReports();
  ASSERT_EQ(Reports(), 1U);
  EXPECT_EQ(Sent<v1::Report>()[0].changes_size(), 2);
  EXPECT_FALSE(Sent<v1::Report>()[0].full());
  EXPECT_EQ(Sent<v1::Report>()[0].findings_size(), 0) << "as it was before";
}

TEST_F(ReportCountTest, AGenerationThatAsksTheSameIsOneReportWithoutFindings) {
  Give(State(8));
  AcknowledgeReports();
  ASSERT_EQ(Reports(), 1U);
  EXPECT_FALSE(Sent<v1::Report>()[0].full());
  EXPECT_EQ(Sent<v1::Report>()[0].generation(), 8U);
}

TEST_F(ReportCountTest, AReconnectToAControllerThatHoldsTheReportIsSilent) {
  for (int i = 0; i < 5; ++i) Welcome(stored, false, Held());
  Pass(1min);
  EXPECT_EQ(Reports(), 0U);
  EXPECT_EQ(Sent<v1::Heartbeat>().back().report_hash8(), HashPrefix8(last_.hash()));
}

TEST_F(ReportCountTest, ARestartThatFindsTheSameIsSilent) {
  ASSERT_TRUE(Boot());
  Welcome(stored, false, Held());
  Pass(1min);
  EXPECT_EQ(Reports(), 0U);
  EXPECT_EQ(Sent<v1::Heartbeat>().back().report_hash8(), HashPrefix8(last_.hash()));
  EXPECT_EQ(agent->Hello().report_hash(), last_.hash());
}

TEST_F(ReportCountTest, ARestartInAnotherBootOrVersionIsToldOnce) {
  for (const bool boot : {true, false}) {
    ASSERT_TRUE(Boot());
    Forget();
    v1::HeldReport held = Held();
    boot ? held.set_boot_id("earlier") : held.set_agent_version("0.0.9");
    Welcome(stored, false, held);
    AcknowledgeReports();
    Pass(1min);
    ASSERT_EQ(Reports(), 1U);
    EXPECT_EQ(Sent<v1::Report>()[0].findings_size(), 0);
  }
}

TEST_F(ReportCountTest, AControllerThatDoesNotSayWhatItHoldsIsToldOnceAConnection) {
  Welcome(stored);
  AcknowledgeReports();
  Pass(1min);
  EXPECT_EQ(Reports(), 1U);
}

}  // namespace
}  // namespace railwright
