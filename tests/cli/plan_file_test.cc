#include "controller/cli/plan_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace railwright::cli {
namespace {

class PlanFileTest : public testing::Test {
 protected:
  PlanFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "railctl-plan-XXXXXX").string();
    root_ = mkdtemp(name.data());
    path_ = root_ + "/site.plan";
  }
  ~PlanFileTest() override { std::filesystem::remove_all(root_); }

  static PlanFile Sample() {
    PlanFile plan;
    plan.plan_id = "7f3c2a8e91b0";
    plan.plan_hash = "7f3c2a8e91b0aaaa";
    plan.base_generation = std::uint64_t{1} << 60;
    plan.prune = true;
    plan.try_for = std::chrono::seconds(120);
    plan.summary = "1 change";
    v1::SourceFile source;
    source.set_name("site.yaml");
    source.set_text("kind: Profile\nname: \"ü\"\n");
    plan.sources.push_back(source);
    return plan;
  }
  std::string Refusal(const std::string& text) {
    std::ofstream(path_) << text;
    auto plan = ReadPlanFile(path_);
    EXPECT_FALSE(plan.ok()) << text;
    return plan.ok() ? "" : plan.status().message();
  }
  std::string root_, path_;
};

TEST_F(PlanFileTest, WhatIsWrittenIsRead) {
  ASSERT_TRUE(WritePlanFile(path_, Sample()).ok());
  auto plan = ReadPlanFile(path_);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->plan_hash, Sample().plan_hash);
  EXPECT_EQ(plan->base_generation, std::uint64_t{1} << 60);
  EXPECT_TRUE(plan->prune);
  EXPECT_EQ(plan->try_for, std::chrono::seconds(120));
  EXPECT_FALSE(plan->restore);
  ASSERT_EQ(plan->sources.size(), 1u);
  EXPECT_EQ(plan->sources[0].text(), Sample().sources[0].text());
}

TEST_F(PlanFileTest, OnlyItsOwnerMayReadItAndNothingIsLeftBeside) {
  ASSERT_TRUE(WritePlanFile(path_, Sample()).ok());
  ASSERT_TRUE(WritePlanFile(path_, Sample()).ok());  // again: replaced
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root_), {}), 1);
}

TEST_F(PlanFileTest, AFailedWriteLeavesTheOldPlan) {
  ASSERT_TRUE(WritePlanFile(path_, Sample()).ok());
  EXPECT_FALSE(WritePlanFile(root_ + "/none/site.plan", Sample()).ok());
  EXPECT_FALSE(WritePlanFile(root_, Sample()).ok());  // a directory stands there
  EXPECT_TRUE(ReadPlanFile(path_).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root_), {}), 1);
}

TEST_F(PlanFileTest, WhatIsNoPlanIsRefusedWithTheReason) {
  EXPECT_NE(Refusal("kind: Profile\n").find("not a JSON object"), std::string::npos);
  EXPECT_NE(Refusal("[]").find("not a JSON object"), std::string::npos);
  EXPECT_NE(Refusal("{}").find("no kind"), std::string::npos);
  EXPECT_NE(Refusal(R"({"kind":"railwright/plan/v2"})").find("another version"), std::string::npos);
  EXPECT_NE(Refusal(R"({"kind":"terraform"})").find("terraform"), std::string::npos);
  EXPECT_NE(Refusal(R"({"kind":"railwright/plan/v1"})").find("damaged"), std::string::npos);
  EXPECT_NE(
      Refusal(R"({"kind":"railwright/plan/v1","plan_id":1,"plan_hash":"x","base_generation":0,"sources":[]})")
          .find("damaged"),
      std::string::npos);
  EXPECT_NE(
      Refusal(
          R"({"kind":"railwright/plan/v1","plan_id":"x","plan_hash":"","base_generation":0,"sources":[]})")
          .find("no plan"),
      std::string::npos);
  EXPECT_EQ(ReadPlanFile(root_ + "/none").status().code(), Code::kNotFound);
  EXPECT_FALSE(ReadPlanFile(root_).ok());
}

TEST_F(PlanFileTest, EveryTruncationIsRefused) {
  ASSERT_TRUE(WritePlanFile(path_, Sample()).ok());
  std::ifstream file(path_);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  for (std::size_t length = 0; length + 2 < whole.size(); ++length) Refusal(whole.substr(0, length));
}

}  // namespace
}  // namespace railwright::cli
