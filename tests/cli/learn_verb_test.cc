// `railctl learn` against a controller in this process: the file, the formats, the exit codes.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/fake_admin.h"
#include "tests/cli/run_railctl.h"

namespace railwright::cli {
namespace {

namespace fs = std::filesystem;

class LearnVerbTest : public testing::Test {
 protected:
  LearnVerbTest() {
    std::string name = (fs::temp_directory_path() / "learn-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    file_ = folder_ + "/learned.yaml";
    Node("gpu-001", "4200");
    Node("gpu-002", "4200");
    v1::ObserveResult& result = *result_.mutable_result();
    result.set_generation(3);
    result.add_documents()->set_text(
        "kind: Cluster\nname: pod-a\nnodes:\n  - {name: \"gpu-[001-003]\", role: gpu}\n"
        "ports:\n  - {name: rail0, select: {netdev: rail0}, role: fabric}\n");
  }
  ~LearnVerbTest() override { fs::remove_all(folder_); }

  void Node(const std::string& name, const std::string& mtu) {
    v1::ObserveEvent event;
    v1::ObservedNode& node = *event.mutable_node();
    node.set_node(name);
    node.add_ports()->mutable_port()->set_name("rail0");
    node.mutable_ports(0)->mutable_port()->set_role(v1::PORT_ROLE_FABRIC);
    node.mutable_ports(0)->set_netdev("rail0");
    v1::ObservedValue& value = *node.add_values();
    value.set_key("link.mtu");
    value.set_target("rail0");
    value.set_kind(mtu.empty() ? v1::ObservedValue::KIND_ERROR : v1::ObservedValue::KIND_VALUE);
    value.set_value(mtu);
    value.set_wish(mtu);
    admin_.script().observe.push_back(event);
  }
  Ran Learn(std::vector<std::string> more = {}) {
    std::vector<std::string> words{"learn", "gpu-[001-002]", "--output-dir", folder_};
    words.insert(words.end(), more.begin(), more.end());
    admin_.script().observe.push_back(result_);
    Given given;
    given.controller = admin_.address();
    const Ran ran = RunRailctl(std::move(words), given);
    admin_.script().observe.pop_back();
    return ran;
  }
  std::string Written() const {
    std::ifstream in(file_);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  FakeAdmin admin_;
  std::string folder_, file_;
  v1::ObserveEvent result_;
};

TEST_F(LearnVerbTest, OneFileIsWrittenWholeAndNamed) {
  const Ran ran = Learn();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            file_ + ": learned 1 setting from gpu-[001-002]\nnext: look through it, then railctl plan -f " +
                file_ + "\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_NE(Written().find("fabric: 4200\n"), std::string::npos) << Written();
  EXPECT_NE(Written().find("mode: observe\n"), std::string::npos);
  EXPECT_NE(Written().find("---\nkind: Cluster\nname: pod-a\n"), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1)
      << "no temporary file stays";
  ASSERT_EQ(admin_.script().observes.size(), 1U);
  EXPECT_EQ(admin_.script().observes[0].nodes(0), "gpu-[001-002]");
  EXPECT_EQ(admin_.script().observes[0].timeout_ms(), 30'000);
}

TEST_F(LearnVerbTest, AFileThatIsThereStaysUnlessForced) {
  std::ofstream(file_) << "mine\n";
  const Ran refused = Learn();
  EXPECT_EQ(refused.code, 64);
  EXPECT_NE(refused.err.find("is there already"), std::string::npos) << refused.err;
  EXPECT_EQ(Written(), "mine\n");
  EXPECT_TRUE(admin_.script().observes.empty()) << "nobody is asked for nothing";
  EXPECT_EQ(Learn({"--force"}).code, 0);
  EXPECT_NE(Written().find("kind: Profile"), std::string::npos);
}

TEST_F(LearnVerbTest, YamlGoesToStandardOutputAndNowhereElse) {
  const Ran ran = Learn({"-o", "yaml", "--name", "pod"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("kind: Profile\nname: pod\n"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(LearnVerbTest, JsonTellsKeysAndTheText) {
  const auto json = nlohmann::json::parse(Learn({"-o", "json"}).out);
  EXPECT_EQ(json["learned"], 1);
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(json["generation"], 3);
  EXPECT_NE(json["text"].get<std::string>().find("kind: Profile"), std::string::npos);
}

TEST_F(LearnVerbTest, DifferencesAreTwoAndMissingEvidenceIsThree) {
  Node("gpu-003", "1500");
  EXPECT_EQ(Learn().code, 2);
  admin_.script().observe.pop_back();
  Node("gpu-003", "");
  EXPECT_EQ(Learn({"--force"}).code, 3);
  admin_.script().observe.pop_back();
  v1::NotAnswered& silent = *result_.mutable_result()->add_not_answered();
  silent.set_node("gpu-003");
  silent.set_reason("not connected");
  const Ran ran = Learn({"--force"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.out.find("gpu-003 did not answer: not connected"), std::string::npos) << ran.out;
  EXPECT_NE(Written().find("# NOT LEARNED FROM gpu-003: not connected.\n"), std::string::npos) << Written();
}

TEST_F(LearnVerbTest, WithoutAnAnswerNothingIsWritten) {
  admin_.script().observe.clear();
  v1::NotAnswered& silent = *result_.mutable_result()->add_not_answered();
  silent.set_node("gpu-001");
  silent.set_reason("railwright-agent 0.0.9 lacks the feature \"observe\"");
  const Ran ran = Learn();
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.err.find("lacks the feature \"observe\""), std::string::npos) << ran.err;
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(LearnVerbTest, NodesAndAGoodNameAreNeeded) {
  Given given;
  given.controller = admin_.address();
  EXPECT_EQ(RunRailctl({"learn"}, given).code, 64);
  EXPECT_EQ(Learn({"--name", "../x"}).code, 64);
  EXPECT_EQ(Learn({"--name", ""}).code, 64);
}

TEST_F(LearnVerbTest, AFolderThatIsNotThereIsMadeAndOneThatCannotBeIsAFailure) {
  fs::remove_all(folder_);
  EXPECT_NE(Learn().code, 1);
  EXPECT_TRUE(fs::is_directory(folder_));
  fs::remove_all(folder_);
  std::ofstream(folder_) << "a file";
  const Ran ran = Learn();
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("Not a directory"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace railwright::cli
