// railctl audit-log verify against a controller that says what the test wants.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/audit/chain.h"
#include "tests/cli/fake_admin.h"
#include "tests/cli/run_railctl.h"

namespace railwright::cli {
namespace {

class AuditLogTest : public testing::Test {
 protected:
  void SetUp() override {
    audit::Digest hash = *audit::Genesis();
    for (std::uint64_t id = 1; id <= 20; ++id) {
      v1::AuditChainEvent& event = events().emplace_back();
      v1::AuditEntry& entry = *event.mutable_entry();
      entry.set_id(id);
      entry.set_at_unix_us(1'796'040'000'000'000);
      entry.set_who("operator alice");
      entry.set_from("unix:");
      entry.set_serial("0a1b");
      entry.set_action("apply");
      entry.set_subject("generation " + std::to_string(id));
      entry.set_detail("added Profile/a");
      entry.set_outcome("done");
      hash = *audit::Next(hash, {id, entry.at_unix_us(), entry.who(), entry.from(), entry.serial(),
                                 entry.action(), entry.subject(), entry.detail(), entry.outcome()});
      event.set_hash(std::string(identity::Bytes(hash)));
      heads_.push_back({id, hash});
    }
    v1::AuditHead& head = *events().emplace_back().mutable_head();
    head.set_id(20);
    head.set_hash(std::string(identity::Bytes(hash)));
  }
  std::vector<v1::AuditChainEvent>& events() { return admin_.script().audit_chain; }
  Ran Verify(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"audit-log", "verify"});
    return RunRailctl(std::move(more), {.controller = admin_.address(), .input = ""});
  }
  FakeAdmin admin_;
  std::vector<audit::Head> heads_;
};

TEST_F(AuditLogTest, AWholeAuditIsZeroAndShowsItsHead) {
  const Ran ran = Verify();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "the audit is whole: 20 rows\nhead " + heads_[19].Text() + "\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(Verify({"--expect-head", heads_[6].Text()}).code, 0);
}

TEST_F(AuditLogTest, TheFirstBadRowIsNamedWithTwo) {
  events()[7].mutable_entry()->set_outcome("refused: no");
  events()[9].mutable_entry()->set_who("operator eve");
  const Ran ran = Verify();
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.out.find("NOT whole\nrow 8: its content does not fit"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("the last row that fits: " + heads_[6].Text()), std::string::npos) << ran.out;
  const Ran json = Verify({"-o", "json"});
  EXPECT_EQ(json.code, 2);
  const auto told = nlohmann::json::parse(json.out);
  EXPECT_EQ(told["whole"], false);
  EXPECT_EQ(told["fault"]["id"], 8);
  EXPECT_EQ(told["rows"], 7);
}

TEST_F(AuditLogTest, WhatTheControllerLeavesOutIsMissed) {
  events().erase(events().begin() + 4);
  EXPECT_NE(Verify().out.find("row 5: row 5 is missing"), std::string::npos);
  events().erase(events().begin() + 4, events().end() - 1);
  EXPECT_NE(Verify().out.find("row 5: rows 5 to 20 are missing"), std::string::npos);
  events().back().mutable_head()->set_id(4);
  events().back().mutable_head()->set_hash(std::string(identity::Bytes(heads_[3].hash)));
  EXPECT_EQ(Verify().code, 0);
  const Ran ran = Verify({"--expect-head", heads_[19].Text()});
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.out.find("row 20 was expected"), std::string::npos) << ran.out;
  events().pop_back();
  EXPECT_EQ(Verify().code, 2) << "the head is not said at all";
}

TEST_F(AuditLogTest, AHeadThatIsNoneIsAWrongCommandLine) {
  const Ran ran = Verify({"--expect-head", "20"});
  EXPECT_EQ(ran.code, 64);
  EXPECT_NE(ran.err.find("ID:HASH"), std::string::npos) << ran.err;
}

TEST_F(AuditLogTest, AFailureOfTheCallIsNoVerdict) {
  admin_.script().failure = Status(Code::kDataLoss, "the store cannot be read");
  const Ran ran = Verify();
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "");
}

}  // namespace
}  // namespace railwright::cli
