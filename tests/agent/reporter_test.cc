#include "agent/loop/reporter.h"

#include <gtest/gtest.h>

#include "core/wire/wire.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

Finding Of(const std::string& key, const std::string& observed) {
  Finding finding;
  finding.code = "RW-1101";
  finding.key = key;
  finding.observed = observed;
  finding.verdict = Verdict::kCompliant;
  return finding;
}

// The controller's half: what it knows of the node after each report.
class Listener {
 public:
  v1::ReportAck Take(const v1::Report& report) {
    v1::ReportAck ack;
    ack.set_sequence(report.sequence());
    if (!report.full() && report.base_hash() != hash_) {
      ack.set_need_full(true);
      return ack;
    }
    if (report.full()) report_.findings.clear();
    for (const auto& removed : report.removed())
      std::erase_if(report_.findings, [&](const Finding& finding) {
        return finding.key == removed.key() && finding.target == removed.target();
      });
    for (const auto& changed : report.findings()) {
      const Finding finding = FromWire(changed);
      std::erase_if(report_.findings, [&](const Finding& old) {
        return old.key == finding.key && old.target == finding.target;
      });
      report_.findings.push_back(finding);
    }
    hash_ = ReportHash(report_);
    EXPECT_EQ(hash_, report.hash());
    for (const auto& change : report.changes()) stored_ = std::max(stored_, change.sequence());
    ack.set_hash(hash_);
    ack.set_stored_change(stored_);
    return ack;
  }
  void Forget() { *this = Listener(); }
  /// What its Welcome says of the report `last`, which it has taken.
  static v1::HeldReport Held(const v1::Report& last) {
    v1::HeldReport held;
    held.set_hash(last.hash());
    held.set_generation(last.generation());
    held.set_state_hash(last.state_hash());
    held.set_verdict(last.verdict());
    held.set_settled(last.settled());
    return held;
  }
  std::uint64_t stored_ = 0;

 private:
  NodeReport report_;
  std::string hash_;
};

class ReporterTest : public testing::Test {
 protected:
  ReporterTest() {
    report_.node = "gpu-001";
    report_.generation.value = 4;
    report_.findings = {Of("a", "1"), Of("b", "1")};
    reporter_.Connected();
  }
  std::optional<v1::Report> Next() { return reporter_.Next(report_, pending_, now_); }
  // Sends what is to be sent and hands in the answers, until nothing is left to say.
  int Exchange() {
    int rounds = 0;
    while (const auto report = Next()) {
      const v1::ReportAck ack = listener_.Take(*report);
      reporter_.Acknowledge(ack);
      while (!pending_.empty() && pending_.front().sequence <= ack.stored_change()) pending_.pop_front();
      if (++rounds == 100) break;
    }
    return rounds;
  }
  void Happen(std::uint64_t count) {
    for (; count > 0; --count) {
      ChangeRecord change;
      change.sequence = ++numbers_;
      pending_.push_back(change);
    }
  }

  Reporter reporter_;
  NodeReport report_;
  std::deque<ChangeRecord> pending_;
  Listener listener_;
  Clock::Steady now_{1h};
  std::uint64_t numbers_ = 0;
};

TEST_F(ReporterTest, TheFirstReportIsInFull) {
  const auto report = Next();
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->full());
  EXPECT_EQ(report->sequence(), 1U);
  EXPECT_EQ(report->findings_size(), 2);
  EXPECT_EQ(report->hash(), ReportHash(report_));
  EXPECT_FALSE(Next().has_value()) << "one is under way";
}

TEST_F(ReporterTest, ThenOnlyWhatChangedIsSent) {
  EXPECT_EQ(Exchange(), 1);
  report_.findings[1].observed = "2";
  const auto report = Next();
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->full());
  ASSERT_EQ(report->findings_size(), 1);
  EXPECT_EQ(report->findings(0).key(), "b");
  EXPECT_EQ(report->base_hash(), reporter_.acknowledged());
}

TEST_F(ReporterTest, AFindingThatIsGoneIsNamed) {
  Exchange();
  report_.findings.erase(report_.findings.begin());
  const auto report = Next();
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->removed_size(), 1);
  EXPECT_EQ(report->removed(0).key(), "a");
  EXPECT_EQ(report->findings_size(), 0);
}

TEST_F(ReporterTest, NothingChangedIsNotSent) {
  Exchange();
  EXPECT_FALSE(Next().has_value());
}

TEST_F(ReporterTest, SettlingIsSentThoughNoFindingChanged) {
  Exchange();
  report_.settled = true;
  const auto report = Next();
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->settled());
  EXPECT_EQ(report->findings_size(), 0);
}

TEST_F(ReporterTest, WhatHappensWhileOneIsUnderWayGoesIntoTheNext) {
  const auto first = Next();
  for (int i = 2; i < 50; ++i) {
    report_.findings[0].observed = std::to_string(i);
    EXPECT_FALSE(Next().has_value());
  }
  reporter_.Acknowledge(listener_.Take(*first));
  const auto second = Next();
  ASSERT_TRUE(second.has_value());
  ASSERT_EQ(second->findings_size(), 1);
  EXPECT_EQ(second->findings(0).observed(), "49");
}

TEST_F(ReporterTest, AfterAReconnectNothingIsSaidThatTheControllerHolds) {
  const auto report = Next();
  reporter_.Acknowledge(listener_.Take(*report));
  const v1::HeldReport held = Listener::Held(*report);
  reporter_.Connected(&held);
  EXPECT_FALSE(Next().has_value());
  report_.findings[0].observed = "2";
  const auto delta = Next();
  ASSERT_TRUE(delta.has_value());
  EXPECT_FALSE(delta->full());
  EXPECT_EQ(delta->base_hash(), held.hash());
}

TEST_F(ReporterTest, ALifeThatFindsWhatTheLastOneReportedIsSilent) {
  const v1::HeldReport held = Listener::Held(*Next());
  Reporter next_life;
  next_life.Connected(&held);
  EXPECT_FALSE(next_life.Next(report_, pending_, now_).has_value());
  EXPECT_EQ(next_life.acknowledged(), held.hash());
  report_.settled = true;
  const auto delta = next_life.Next(report_, pending_, now_);
  ASSERT_TRUE(delta.has_value());
  EXPECT_FALSE(delta->full());
}

TEST_F(ReporterTest, ALifeThatFindsSomethingElseReportsInFull) {
  const v1::HeldReport held = Listener::Held(*Next());
  report_.findings[0].observed = "2";
  Reporter next_life;
  next_life.Connected(&held);
  const auto report = next_life.Next(report_, pending_, now_);
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->full());
}

TEST_F(ReporterTest, AnotherGenerationVerdictOrAgentIsToldThoughTheFindingsAreHeld) {
  const v1::HeldReport same = Listener::Held(*Next());
  v1::HeldReport generation = same, state = same, verdict = same, settled = same;
  generation.set_generation(3);
  state.set_state_hash("other");
  verdict.set_verdict(v1::VERDICT_DRIFTED);
  settled.set_settled(true);
  for (const v1::HeldReport& held : {generation, state, verdict, settled}) {
    Reporter next_life;
    next_life.Connected(&held);
    const auto report = next_life.Next(report_, pending_, now_);
    ASSERT_TRUE(report.has_value()) << held.ShortDebugString();
    EXPECT_EQ(report->findings_size(), 0);
  }
  Reporter updated;
  updated.Connected(&same, /*same_agent=*/false);
  EXPECT_TRUE(updated.Next(report_, pending_, now_).has_value());
}

TEST_F(ReporterTest, AnAcknowledgementThatWasLostIsMadeUpForByTheWelcome) {
  Exchange();
  report_.findings[0].observed = "2";
  const auto lost = Next();
  (void)listener_.Take(*lost);
  const v1::HeldReport held = Listener::Held(*lost);
  reporter_.Connected(&held);
  EXPECT_FALSE(Next().has_value());
  EXPECT_EQ(reporter_.acknowledged(), lost->hash());
}

TEST_F(ReporterTest, AControllerThatHoldsAnOlderReportIsToldInFull) {
  const v1::HeldReport held = Listener::Held(*Next());
  report_.findings[0].observed = "2";
  reporter_.Connected();
  Exchange();
  reporter_.Connected(&held);  // restored from a backup
  const auto report = Next();
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->full());
}

TEST_F(ReporterTest, HistoryIsToldThoughTheReportIsHeld) {
  const v1::HeldReport held = Listener::Held(*Next());
  reporter_.Connected(&held);
  Happen(1);
  const auto report = Next();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->changes_size(), 1);
  EXPECT_EQ(report->findings_size(), 0);
}

TEST_F(ReporterTest, AfterAReconnectADeltaIsEnoughWhenTheControllerKnowsTheBase) {
  Exchange();
  const std::string known = reporter_.acknowledged();
  reporter_.Connected();
  const auto report = Next();
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->full());
  EXPECT_EQ(report->sequence(), 1U);
  EXPECT_EQ(report->base_hash(), known);
  EXPECT_LE(report->ByteSizeLong(), 160U);
}

TEST_F(ReporterTest, AControllerThatForgotGetsItInFull) {
  Exchange();
  listener_.Forget();
  reporter_.Connected();
  EXPECT_EQ(Exchange(), 2);
  EXPECT_EQ(reporter_.acknowledged(), ReportHash(report_));
}

TEST_F(ReporterTest, AReportWithoutAnAnswerIsSentAgainAndNotCountedOn) {
  Happen(3);
  const auto first = Next();
  EXPECT_EQ(reporter_.acknowledged(), "");
  now_ += Reporter::kAckWithin;
  ASSERT_EQ(reporter_.NextDue(), now_);
  const auto again = Next();
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->full());
  EXPECT_EQ(again->sequence(), 2U);
  EXPECT_EQ(again->changes_size(), 3);
}

TEST_F(ReporterTest, AReportLostWithItsConnectionIsSentOverTheNext) {
  Happen(1);
  Next();
  reporter_.Connected();
  const auto again = Next();
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->full());
  EXPECT_EQ(again->changes_size(), 1);
}

TEST_F(ReporterTest, AnAnswerToAnEarlierConnectionsReportIsNotTakenForThisOne) {
  const auto first = Next();
  reporter_.Connected();
  const auto second = Next();
  ASSERT_TRUE(second.has_value());
  v1::ReportAck stray;
  stray.set_sequence(99);
  EXPECT_FALSE(reporter_.Acknowledge(stray));
  EXPECT_EQ(reporter_.acknowledged(), "");
}

TEST_F(ReporterTest, ManyChangesGoInSeveralReports) {
  Happen(Reporter::kMostChanges * 2 + 10);
  EXPECT_EQ(Exchange(), 3);
  EXPECT_TRUE(pending_.empty());
  EXPECT_EQ(listener_.stored_, Reporter::kMostChanges * 2 + 10);
}

TEST_F(ReporterTest, AControllerThatStoresNothingIsNotSentTheSameChangesForEver) {
  Exchange();
  Happen(2);
  const auto report = Next();
  ASSERT_TRUE(report.has_value());
  v1::ReportAck ack;
  ack.set_sequence(report->sequence());
  reporter_.Acknowledge(ack);  // stored_change 0
  EXPECT_FALSE(Next().has_value());
}

TEST_F(ReporterTest, AskingInFullForWhatWasInFullDoesNotGoRoundForEver) {
  const auto report = Next();
  v1::ReportAck ack;
  ack.set_sequence(report->sequence());
  ack.set_need_full(true);
  reporter_.Acknowledge(ack);
  EXPECT_FALSE(Next().has_value());
  now_ += Reporter::kAckWithin;
  EXPECT_TRUE(Next().has_value());
}

TEST_F(ReporterTest, AskingInFullBeforeTheFullOneCameIsAnsweredByThatOne) {
  const auto report = Next();
  v1::ReportAck ask;  // of a controller that had another hash in mind, sent with its Welcome
  ask.set_need_full(true);
  reporter_.Acknowledge(ask);
  EXPECT_FALSE(Next().has_value());
  EXPECT_TRUE(reporter_.Acknowledge(listener_.Take(*report)));
  EXPECT_EQ(reporter_.acknowledged(), ReportHash(report_));
}

TEST_F(ReporterTest, LongValuesAreCutAndStillTellTwoApart) {
  report_.findings[0].observed = std::string(100'000, 'a');
  const auto report = Next();
  ASSERT_TRUE(report.has_value());
  EXPECT_LT(report->ByteSizeLong(), 4000U);
  EXPECT_NE(report->findings(0).observed().find("[100000 bytes, "), std::string::npos);
  EXPECT_NE(Shortened(std::string(100'000, 'a')), Shortened(std::string(99'999, 'a') + "b"));
}

TEST(Shortened, NeverCutsACharacterInHalf) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string text(shift, 'x');
    while (text.size() < 5000) text += "é";
    EXPECT_EQ(Shortened(text).find("\xef\xbf\xbd"), std::string::npos);
    const std::string cut = Shortened(text);
    v1::Finding finding;
    finding.set_observed(cut);
    v1::Finding parsed;
    EXPECT_TRUE(parsed.ParseFromString(finding.SerializeAsString()));
  }
}

}  // namespace
}  // namespace railwright
