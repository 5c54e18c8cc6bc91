// What every Store must do, whatever is behind it. A new implementation adds one way to open itself.
#include <gtest/gtest.h>

#include "tests/store/temp_dir.h"

namespace railwright {
namespace {

using Opener = Result<std::unique_ptr<Store>> (*)(const std::string& directory);

class StoreContract : public testing::TestWithParam<Opener> {
 protected:
  void SetUp() override { Reopen(); }
  /// As a restart does.
  void Reopen() {
    store_.reset();
    auto opened = GetParam()(directory_.path());
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = std::move(*opened);
  }
  TempDir directory_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreContract, ANewStoreIsEmpty) {
  EXPECT_FALSE(store_->LatestGeneration()->has_value());
  EXPECT_TRUE(store_->Reports()->empty());
  EXPECT_TRUE(store_->Changes({})->empty());
  EXPECT_TRUE(store_->Pauses()->empty());
  EXPECT_TRUE(store_->Audit(10)->empty());
  EXPECT_TRUE(store_->Generations(10)->empty());
  const auto missing = store_->GetGeneration({1});
  EXPECT_EQ(missing.status().code(), Code::kNotFound);
  EXPECT_NE(missing.status().message().find("none yet"), std::string::npos);
}

TEST_P(StoreContract, AGenerationComesBackWholeAfterARestart) {
  const StoredGeneration written = MakeGeneration(1);
  ASSERT_TRUE(store_->AddGeneration(written, {}, {}).ok());
  Reopen();
  const auto latest = store_->LatestGeneration();
  ASSERT_TRUE(latest.ok() && latest->has_value());
  const StoredGeneration& read = **latest;
  EXPECT_EQ(read.generation, written.generation);
  EXPECT_EQ(read.created, written.created);
  EXPECT_EQ(read.author, written.author);
  EXPECT_EQ(read.comment, written.comment);
  EXPECT_EQ(read.documents, written.documents);
  EXPECT_EQ(read.restores, written.restores);
  EXPECT_EQ(read.nodes, 4u);
  EXPECT_EQ(read.settings, 17u);
}

TEST_P(StoreContract, GenerationsNeverGoBack) {
  ASSERT_TRUE(store_->AddGeneration(MakeGeneration(2), {}, {}).ok());
  EXPECT_EQ(store_->AddGeneration(MakeGeneration(2), {}, {}).code(), Code::kAborted);
  EXPECT_EQ(store_->AddGeneration(MakeGeneration(1), {}, {}).code(), Code::kAborted);
  EXPECT_TRUE(store_->AddGeneration(MakeGeneration(9), {}, {}).ok());
  const auto missing = store_->GetGeneration({10});
  EXPECT_NE(missing.status().message().find("2 to 9"), std::string::npos);
}

TEST_P(StoreContract, TheListOfGenerationsIsNewestFirstAndCarriesNoText) {
  for (std::uint64_t n = 1; n <= 3; ++n)
    ASSERT_TRUE(store_->AddGeneration(MakeGeneration(n, "text " + std::to_string(n)), {}, {}).ok());
  const auto list = store_->Generations(2);
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[0].generation.value, 3u);
  ASSERT_EQ((*list)[0].documents.size(), 2u);
  EXPECT_EQ((*list)[0].documents[1].name, "a");
  EXPECT_EQ((*list)[0].documents[1].text, "");
  EXPECT_EQ(store_->GetGeneration({1})->documents[1].text, "text 1");
}

TEST_P(StoreContract, AReportReplacesTheOneBeforeAndSurvives) {
  ASSERT_TRUE(store_->PutReports({MakeWrite("b", 1), MakeWrite("a", 1)}).ok());
  ASSERT_TRUE(store_->PutReports({MakeWrite("b", 2, Verdict::kDrifted)}).ok());
  Reopen();
  const auto reports = store_->Reports();
  ASSERT_TRUE(reports.ok());
  ASSERT_EQ(reports->size(), 2u);
  EXPECT_EQ((*reports)[0].report.node, "a");
  const StoredReport& b = (*reports)[1];
  const StoredReport expected = MakeWrite("b", 2, Verdict::kDrifted).report;
  EXPECT_EQ(b.report.findings, expected.report.findings);
  EXPECT_EQ(b.report.verdict, Verdict::kDrifted);
  EXPECT_EQ(b.report_hash, "h2");
  EXPECT_EQ(b.stored_change, 2u);
  EXPECT_EQ(b.corrected, 2u);
  EXPECT_TRUE(b.report.settled);
}

TEST_P(StoreContract, AChangeThatIsStoredAlreadyIsDropped) {
  ASSERT_TRUE(store_->PutReports({MakeWrite("a", 5)}).ok());
  ASSERT_TRUE(store_->PutReports({MakeWrite("a", 5)}).ok());
  ASSERT_TRUE(store_->PutReports({MakeWrite("a", 4)}).ok());
  EXPECT_EQ(store_->Changes({})->size(), 1u);
  EXPECT_EQ((*store_->Reports())[0].stored_change, 5u);
}

TEST_P(StoreContract, ChangesAreNewestFirstAndSifted) {
  for (std::uint64_t n = 1; n <= 5; ++n)
    ASSERT_TRUE(store_->PutReports({MakeWrite("a", n), MakeWrite("b", n), MakeWrite("c", n)}).ok());
  Store::ChangeQuery query;
  query.nodes = {"b"};
  auto changes = store_->Changes(query);
  ASSERT_TRUE(changes.ok());
  ASSERT_EQ(changes->size(), 5u);
  EXPECT_EQ((*changes)[0].second.sequence, 5u);
  EXPECT_EQ((*changes)[0].second.by, "ip[4711]");
  query.nodes = {"a", "c"};
  query.limit = 3;
  EXPECT_EQ(store_->Changes(query)->size(), 3u);
  query = {};
  query.since = MakeWrite("a", 4).changes[0].at;
  EXPECT_EQ(store_->Changes(query)->size(), 6u);
  query.key = "qos.pfc";
  EXPECT_TRUE(store_->Changes(query)->empty());
}

TEST_P(StoreContract, AForgottenNodeLeavesNothing) {
  ASSERT_TRUE(store_->PutReports({MakeWrite("a", 1), MakeWrite("b", 1)}).ok());
  const std::vector<Pause> others = {{"b", "", "ann", ""}, {"", "link.mtu", "ann", ""}};
  ASSERT_TRUE(
      store_->SetPauses({{"a", "", "ann", ""}, others[0], {"a", "link.mtu", "", ""}, others[1]}, {}).ok());
  EXPECT_TRUE(store_->ForgetNode("a", {}).ok());
  EXPECT_EQ(*store_->Pauses(), others);
  EXPECT_EQ(store_->Reports()->size(), 1u);
  EXPECT_EQ(store_->Changes({})->size(), 1u);
  EXPECT_EQ(store_->ForgetNode("a", {}).code(), Code::kNotFound);
}

TEST_P(StoreContract, PausesAreReplacedAsAWhole) {
  const std::vector<Pause> pauses = {{"a", "link.mtu", "ann", "works on it"}, {"", "", "bob", ""}};
  ASSERT_TRUE(store_->SetPauses(pauses, {}).ok());
  Reopen();
  EXPECT_EQ(*store_->Pauses(), pauses);
  ASSERT_TRUE(store_->SetPauses({}, {}).ok());
  EXPECT_TRUE(store_->Pauses()->empty());
}

TEST_P(StoreContract, TheAuditIsNewestFirst) {
  for (const char* action : {"apply", "rollback"}) {
    AuditRow row;
    row.at = std::chrono::system_clock::time_point(std::chrono::microseconds(5));
    row.who = "ann";
    row.action = action;
    row.subject = "generation 1";
    ASSERT_TRUE(store_->AddAudit(row).ok());
  }
  const auto rows = store_->Audit(10);
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].action, "rollback");
  EXPECT_EQ((*rows)[0].id, 2u);
  EXPECT_EQ((*rows)[1].who, "ann");
}

TEST_P(StoreContract, AHealthyStorePassesItsProbe) {
  EXPECT_TRUE(store_->Probe().ok());
  EXPECT_TRUE(store_->Probe().ok());
}

INSTANTIATE_TEST_SUITE_P(EveryStore, StoreContract, testing::Values(&OpenSqliteStore),
                         [](const auto&) { return std::string("Sqlite"); });

}  // namespace
}  // namespace railwright
