#include "core/audit/chain.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace railwright::audit {
namespace {

struct Stored {
  Row row;
  std::string hash;
};

Row MakeRow(std::uint64_t id) {
  return {id,
          1'796'040'000'000'000 + static_cast<std::int64_t>(id),
          "operator alice",
          "ipv4:10.0.0.7:40312",
          "0a1b",
          "apply",
          "generation " + std::to_string(id),
          "added Profile/a",
          "done"};
}

std::vector<Stored> MakeLog(std::size_t rows, std::uint64_t first = 1, Digest before = *Genesis()) {
  std::vector<Stored> log;
  for (std::uint64_t id = first; log.size() < rows; ++id) {
    before = *Next(before, MakeRow(id));
    log.push_back({MakeRow(id), std::string(identity::Bytes(before))});
  }
  return log;
}

Head HeadOf(const std::vector<Stored>& log) {
  Head head{0, *Genesis()};
  for (const Stored& one : log) head = {one.row.id, *Next(head.hash, one.row)};
  return head;
}

/// The first fault, as text; "" when there is none.
std::string FaultOf(const std::vector<Stored>& log, const std::optional<Head>& kept,
                    const std::optional<Head>& expected = std::nullopt) {
  auto check = ChainCheck::Begin(expected);
  EXPECT_TRUE(check.ok());
  for (const Stored& one : log)
    if (!*check->Take(one.row, one.hash)) break;
  const bool whole = check->Finish(kept);
  EXPECT_EQ(whole, !check->fault());
  return check->fault() ? check->fault()->Text() : "";
}

TEST(AuditChain, TheEncodingIsWrittenDownAndNeverChanges) {
  Row row;
  row.id = 258;
  row.at_us = -1;
  row.who = "ann";
  row.outcome = std::string("a\0b", 3);
  std::string expected("\0\0\0\0\0\0\1\2\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\3ann", 27);
  expected += std::string(5 * 8, '\0') + std::string("\0\0\0\0\0\0\0\3a\0b", 11);
  EXPECT_EQ(Canonical(row), expected);
  // SHA-256 by another program of the genesis text, and of that hash with the bytes above behind it.
  EXPECT_EQ(identity::Hex(*Genesis()), "88542762a55739b15010041dd715c86213da22fc1a95b1c25a3f4d775e1b4bf7");
  EXPECT_EQ(identity::Hex(*Next(*Genesis(), row)),
            "92a79992148946139b74be6c4c9e1c825ded488cda4e9cdc8afa989d5e8f837e");
}

TEST(AuditChain, RowsThatDifferHaveDifferentBytes) {
  // Each text is one of a few that could run into its neighbour: empty ones, separators, lengths.
  const std::vector<std::string> texts = {
      "",   "a",         "aa", std::string("\0", 1), std::string(8, '\0'), std::string("\0\0\0\0\0\0\0\1", 8),
      "\n", "refused: a"};
  std::set<std::string> seen;
  std::size_t rows = 0;
  for (const std::string& who : texts)
    for (const std::string& from : texts)
      for (const std::string& action : texts)
        for (const std::string& outcome : texts) {
          Row row;
          row.who = who;
          row.from = from;
          row.action = action;
          row.outcome = outcome;
          seen.insert(Canonical(row));
          ++rows;
        }
  EXPECT_EQ(seen.size(), rows);
}

TEST(AuditChain, AWholeLogAndAnEmptyOneAreFine) {
  EXPECT_EQ(FaultOf({}, Head{0, *Genesis()}), "");
  const auto log = MakeLog(30);
  EXPECT_EQ(FaultOf(log, HeadOf(log)), "");
  EXPECT_EQ(FaultOf(log, HeadOf(log), HeadOf(log)), "");
  EXPECT_EQ(FaultOf(log, HeadOf(log), HeadOf(MakeLog(7))), "") << "it has grown since";
  EXPECT_EQ(FaultOf(log, HeadOf(log), Head{0, *Genesis()}), "");
}

TEST(AuditChain, EveryFieldOfEveryRowIsProtected) {
  const std::vector<std::function<void(Row&)>> edits = {
      [](Row& row) { row.at_us += 1; },       [](Row& row) { row.who = "bob"; },
      [](Row& row) { row.from += "1"; },      [](Row& row) { row.serial.clear(); },
      [](Row& row) { row.action = "pause"; }, [](Row& row) { row.subject += " "; },
      [](Row& row) { row.detail = ""; },      [](Row& row) { row.outcome = "refused: no"; }};
  const auto log = MakeLog(12);
  for (std::size_t at = 0; at < log.size(); ++at)
    for (const auto& edit : edits) {
      auto bad = log;
      edit(bad[at].row);
      EXPECT_EQ(FaultOf(bad, HeadOf(log)).find("row " + std::to_string(at + 1) + ": its content"), 0u);
    }
}

TEST(AuditChain, WhatIsMissingIsNamed) {
  const auto log = MakeLog(12);
  for (std::size_t at = 0; at + 1 < log.size(); ++at) {
    auto bad = log;
    bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(at));
    const std::string id = std::to_string(at + 1);
    EXPECT_EQ(FaultOf(bad, HeadOf(log)),
              "row " + id + ": row " + id + " is missing: row " + std::to_string(at + 2) + " comes next");
  }
  auto bad = log;
  bad.erase(bad.begin() + 3, bad.begin() + 8);
  EXPECT_EQ(FaultOf(bad, HeadOf(log)), "row 4: rows 4 to 8 are missing: row 9 comes next");
}

TEST(AuditChain, ACutTailIsMissedByTheKeptHeadAndByAnExpectedOne) {
  const auto log = MakeLog(12);
  for (std::size_t left = 0; left < log.size(); ++left) {
    const std::vector<Stored> cut(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(left));
    const std::string begin = "row " + std::to_string(left + 1) + ": row";
    EXPECT_EQ(FaultOf(cut, HeadOf(log)).find(begin), 0u);
    EXPECT_EQ(FaultOf(cut, HeadOf(cut)), "") << "the store's own head was set back too";
    EXPECT_EQ(FaultOf(cut, HeadOf(cut), HeadOf(log)).find(begin), 0u);
  }
}

TEST(AuditChain, AChainThatWasMadeAnewIsFoundByAnExpectedHead) {
  const auto log = MakeLog(12);
  auto forged = MakeLog(5);
  Row other = MakeRow(6);
  other.who = "operator bob";
  const Digest hash = *Next(HeadOf(forged).hash, other);
  forged.push_back({other, std::string(identity::Bytes(hash))});
  for (const Stored& one : MakeLog(6, 7, hash)) forged.push_back(one);
  EXPECT_EQ(FaultOf(forged, HeadOf(forged)), "");
  EXPECT_EQ(FaultOf(forged, HeadOf(log)).find("row 12: its hash is not that of the store's head"), 0u);
  EXPECT_EQ(FaultOf(forged, HeadOf(forged), HeadOf(log)).find("row 12: its hash is "), 0u);
  EXPECT_EQ(FaultOf(forged, HeadOf(forged), HeadOf(MakeLog(8))).find("row 8: its hash is "), 0u);
  EXPECT_EQ(FaultOf(forged, HeadOf(forged), HeadOf(MakeLog(5))), "") << "it was noted before the forgery";
}

TEST(AuditChain, WhatWasPutInOrMovedIsNamed) {
  const auto log = MakeLog(12);
  auto bad = log;
  bad.insert(bad.begin(), {MakeRow(0), log[0].hash});
  EXPECT_EQ(FaultOf(bad, HeadOf(log)), "row 0: it does not belong there: row 1 is due");
  bad[0].row.id = static_cast<std::uint64_t>(-3);
  EXPECT_EQ(FaultOf(bad, HeadOf(log)), "row -3: it does not belong there: row 1 is due");
  bad = log;
  bad.insert(bad.begin() + 5, log[4]);
  EXPECT_EQ(FaultOf(bad, HeadOf(log)), "row 5: it does not belong there: row 6 is due");
  bad = log;
  bad.push_back(MakeLog(13).back());
  EXPECT_EQ(FaultOf(bad, HeadOf(log)), "row 13: the store's head is row 12: this one was put in");
  bad = log;
  std::swap(bad[4], bad[8]);
  std::swap(bad[4].row.id, bad[8].row.id);
  EXPECT_EQ(FaultOf(bad, HeadOf(log)).find("row 5: its content"), 0u);
  bad = log;
  bad[6].hash.pop_back();
  EXPECT_EQ(FaultOf(bad, HeadOf(log)).find("row 7: its content"), 0u);
}

TEST(AuditChain, AStoreWithoutItsHeadIsNotFine) {
  const auto log = MakeLog(3);
  EXPECT_NE(FaultOf(log, std::nullopt).find("the head that the store keeps is missing"), std::string::npos);
}

TEST(AuditHead, IsReadAsItIsWritten) {
  const Head head = HeadOf(MakeLog(3));
  EXPECT_EQ(*Head::Parse(head.Text()), head);
  const std::string hash = identity::Hex(head.hash);
  const std::vector<std::string> others = {"",
                                           "3",
                                           ":" + hash,
                                           "3:",
                                           "03:" + hash,
                                           "+3:" + hash,
                                           " 3:" + hash,
                                           "3 :" + hash,
                                           "-3:" + hash,
                                           "3:" + hash + "0",
                                           "3:" + hash.substr(1),
                                           "18446744073709551616:" + hash,
                                           "3::" + hash};
  for (const std::string& bad : others)
    EXPECT_EQ(Head::Parse(bad).status().code(), Code::kInvalidArgument) << bad;
}

}  // namespace
}  // namespace railwright::audit
