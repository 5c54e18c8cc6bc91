#include "core/enrol/preflight.h"

#include "tests/enrol/enrolment_fixture.h"

namespace railwright {
namespace {

using enrol::PreflightStep, identity::Must, identity::NewKey;

class PreflightTest : public EnrolmentFixture {
 protected:
  PreflightTest() {
    Open();
    keep_open_.push_back(Token());  // before the join: the port closes once nobody is expected
    issued_.push_back(Must(Join(Line(), "gpu-001", NewKey())));
  }
  std::vector<PreflightStep> Look(std::chrono::seconds skew = 0s) const {
    // The enrolment port stands for the controller's, too: it shows the same certificate.
    return enrol::Preflight({.known = Known(), .chain = issued_.front().chain, .controllers = {Here()}},
                            clock_.WallNow() + skew);
  }
  static PreflightStep Step(const std::vector<PreflightStep>& steps, std::string_view what) {
    for (const PreflightStep& step : steps)
      if (step.what.starts_with(what)) return step;
    ADD_FAILURE() << "no step " << what;
    return {};
  }
  std::vector<identity::IssuedAnswer> issued_;
  std::vector<identity::JoinToken> keep_open_;
};

TEST_F(PreflightTest, AllIsWell) {
  const auto steps = Look();
  ASSERT_EQ(steps.size(), 4u);
  for (const PreflightStep& step : steps) {
    EXPECT_EQ(step.verdict, Verdict::kCompliant) << step.what << ": " << step.message;
    EXPECT_EQ(step.next, "");
  }
}

TEST_F(PreflightTest, ARevokedOneIsToldByWhomAndWhy) {
  ASSERT_TRUE(
      registry_.SetStanding(MemberKind::kNode, "gpu-001", Standing::kEvicted, "laptop stolen", alice_).ok());
  const auto step = Step(Look(), "standing");
  EXPECT_EQ(step.verdict, Verdict::kDrifted);
  EXPECT_NE(step.message.find("evicted by operator alice"), std::string::npos) << step.message;
  EXPECT_NE(step.message.find("laptop stolen"), std::string::npos);
}

TEST_F(PreflightTest, AClockFarAheadIsNamedAndNotTheCertificatesItMakesLookExpired) {
  const auto steps = Look(40 * 24h + 1h);
  const auto clock = Step(steps, "clock");
  EXPECT_EQ(clock.verdict, Verdict::kDrifted);
  EXPECT_NE(clock.message.find("this clock is 40 d"), std::string::npos) << clock.message;
  EXPECT_NE(clock.message.find("ahead of the controller's"), std::string::npos);
  EXPECT_NE(Step(steps, "certificate").message.find("expired"), std::string::npos);
  EXPECT_NE(Step(steps, "controller").message.find("expired"), std::string::npos);
  EXPECT_EQ(Step(steps, "standing").verdict, Verdict::kCompliant) << "by the controller's clock";
}

TEST_F(PreflightTest, AClockFarBehindIsNamed) {
  const auto steps = Look(-(3 * 24h + 1h));
  EXPECT_NE(Step(steps, "clock").message.find("this clock is 3 d"), std::string::npos)
      << Step(steps, "clock").message;
  EXPECT_NE(Step(steps, "clock").message.find("behind the controller's"), std::string::npos);
  EXPECT_NE(Step(steps, "certificate").message.find("is not valid before"), std::string::npos);
}

TEST_F(PreflightTest, AnExpiredCertificateIsToldApartFromAWrongClock) {
  clock_.Move(3 * 24h);
  const auto steps = Look();
  EXPECT_NE(Step(steps, "certificate").message.find("expired 2 d"), std::string::npos);
  EXPECT_EQ(Step(steps, "clock").verdict, Verdict::kCompliant) << Step(steps, "clock").message;
}

TEST_F(PreflightTest, NobodyThereIsUnreachableWithTheKernelsSentence) {
  const auto known = Known();
  port_.reset();
  const auto steps = enrol::Preflight(
      {.known = known, .chain = issued_.front().chain, .controllers = known.enrolment}, clock_.WallNow());
  const auto step = Step(steps, "controller");
  EXPECT_TRUE(step.unreachable);
  EXPECT_NE(step.message.find("Connection refused"), std::string::npos) << step.message;
  EXPECT_EQ(Step(steps, "standing").verdict, Verdict::kUnknown);
  EXPECT_EQ(Step(steps, "clock").verdict, Verdict::kUnknown);
}

TEST_F(PreflightTest, AnotherCaIsNamedWithItsPin) {
  TemporaryDirectory elsewhere;
  const auto other = Must(
      ControllerIdentity::Make(elsewhere.path(), identity::Cluster(), identity_.names(), clock_.WallNow()));
  auto known = Known();
  known.roots = other.roots();
  const auto steps = enrol::Preflight(
      {.known = known, .chain = issued_.front().chain, .controllers = {Here()}}, clock_.WallNow());
  EXPECT_NE(Step(steps, "controller").message.find("wrong CA: signed by " + identity_.ca_pin().Text()),
            std::string::npos)
      << Step(steps, "controller").message;
}

TEST(ClockSentence, SaysWhichWayAndKeepsQuietWithinFiveMinutes) {
  const identity::Time now = identity::Noon();
  EXPECT_EQ(enrol::ClockSentence(now + 5min, now), "");
  EXPECT_EQ(enrol::ClockSentence(now - 5min, now), "");
  EXPECT_EQ(enrol::ClockSentence(now + 6min, now), "this clock is 6 min ahead of the controller's");
  EXPECT_EQ(enrol::ClockSentence(now - 25h, now), "this clock is 1 d 1 h behind the controller's");
}

}  // namespace
}  // namespace railwright
