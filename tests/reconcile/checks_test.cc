// When a check is run again, and when what it read suffices.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/reconcile/node.h"

namespace railwright {
namespace {

// ProbeCheck that counts its runs. (Real checks hold no state.)
class CountedCheck final : public Check {
 public:
  explicit CountedCheck(int& runs) : runs_(runs) {}
  const CheckInfo& info() const override { return probe_.info(); }
  std::vector<Finding> Run(const Machine& machine, const NodeFacts& facts) const override {
    ++runs_;
    return probe_.Run(machine, facts);
  }

 private:
  int& runs_;
  ProbeCheck probe_;
};

class CheckRunTest : public testing::Test {
 protected:
  CheckRunTest() {
    node_.checks.push_back(std::make_unique<CountedCheck>(runs_));
    node_.machine.Put("/proc/check", "good");
    node_.Apply(Node::State(1).Enforce("sysctl.a", "", "1"));
    runs_ = 0;
    node_.machine.ClearLog();
  }
  void Scan() {
    node_.agent->Refresh();
    node_.Settle();
  }
  long Reads() const {
    const auto reads = node_.machine.Reads();
    return std::count(reads.begin(), reads.end(), "/proc/check");
  }
  Verdict Seen() const { return node_.Of("probe.check").verdict; }

  int runs_ = 0;
  Node node_;
};

TEST_F(CheckRunTest, AScanThatReadsTheSameAgainRunsNoCheck) {
  for (int i = 0; i < 10; ++i) Scan();
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(Reads(), 10) << "what passed is read again each time: no evidence is no pass";
  EXPECT_EQ(Seen(), Verdict::kCompliant);
}

TEST_F(CheckRunTest, AScanThatReadsSomethingElseRunsIt) {
  node_.machine.Put("/proc/check", "bad");
  Scan();
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(Seen(), Verdict::kDrifted);
  Scan();
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(Seen(), Verdict::kDrifted);
}

TEST_F(CheckRunTest, AReadThatFailsIsUnknownAtOnceAndStaysSoUntilItSucceeds) {
  node_.machine.FailReads("/proc/check", FromErrno(EIO, "/proc/check"));
  Scan();
  EXPECT_EQ(Seen(), Verdict::kUnknown);
  Scan();
  EXPECT_EQ(runs_, 1) << "the same failure gives the same finding";
  EXPECT_EQ(Seen(), Verdict::kUnknown);
  node_.machine.FailReads("/proc/check", FromErrno(EACCES, "/proc/check"));
  Scan();
  EXPECT_NE(node_.Of("probe.check").message.find("PermissionDenied"), std::string::npos);
  node_.machine.FailReads("/proc/check", Ok());
  Scan();
  EXPECT_EQ(Seen(), Verdict::kCompliant);
}

TEST_F(CheckRunTest, AHintWithoutAChangeRunsNothing) {
  node_.Drift("/proc/check", "good");
  EXPECT_EQ(runs_, 0);
  EXPECT_GE(Reads(), 1);
}

TEST_F(CheckRunTest, PortsThatAreBoundOtherwiseRunItThoughItReadsTheSame) {
  node_.machine.Remove("/rtnl/link/rail1");
  node_.Hint("/rtnl/link/rail1");
  node_.clock.Advance(std::chrono::seconds(1));
  node_.Settle();
  EXPECT_EQ(runs_, 1) << "what it knows of the ports is not what it knew";
}

}  // namespace
}  // namespace railwright
