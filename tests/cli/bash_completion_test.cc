// The completion scripts in the shells themselves.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "tests/cli/canned.h"
#include "tests/cli/fake_admin.h"
#include "tests/cli/run_railctl.h"

namespace railwright::cli {
namespace {

const std::string kProgram = std::string(RAILWRIGHT_BINARY_DIR) + "/bin/railctl";

class BashCompletionTest : public testing::Test {
 protected:
  BashCompletionTest() {
    if (access("/bin/bash", X_OK) != 0) return;
    admin_.script().status = GoodFleet(3);
  }
  void SetUp() override {
    if (access("/bin/bash", X_OK) != 0) GTEST_SKIP() << "no /bin/bash here";
  }
  // What bash would offer after `line`, whose words bash has broken into `words` (at blanks, = and :).
  std::vector<std::string> Offered(const std::string& line, const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& word : words) list += " '" + word + "'";
    const std::string script =
        "source <('" + kProgram + "' completion bash); COMP_LINE='" + line +
        "'; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(" + list +
        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _railctl; printf '%s\\n' \"${COMPREPLY[@]}\"";
    const Ran ran = RunProgram({"/bin/bash", "-c", script},
                               {"RAILCTL_CONTROLLER=" + admin_.address(),
                                "PATH=" + std::string(RAILWRIGHT_BINARY_DIR) + "/bin:/usr/bin:/bin"});
    EXPECT_EQ(ran.code, 0) << ran.out;
    std::vector<std::string> offered;
    std::istringstream lines(ran.out);
    for (std::string one; std::getline(lines, one);)
      if (!one.empty()) offered.push_back(one);
    return offered;
  }
  using Words = std::vector<std::string>;

  FakeAdmin admin_;
};

TEST_F(BashCompletionTest, TheScriptIsValid) {
  const Ran ran = RunProgram({"/bin/bash", "-c", "set -e; '" + kProgram + "' completion bash | bash -n"}, {});
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_EQ(ran.out, "");
}

TEST_F(BashCompletionTest, CommandsAndOptions) {
  EXPECT_EQ(Offered("railctl st", {"railctl", "st"}), Words{"status"});
  EXPECT_EQ(Offered("railctl plan --pr", {"railctl", "plan", "--pr"}), Words{"--prune"});
  EXPECT_EQ(Offered("railctl get ge", {"railctl", "get", "ge"}), Words{"generations"});
}

TEST_F(BashCompletionTest, NodeNamesAreLive) {
  EXPECT_EQ(Offered("railctl status g", {"railctl", "status", "g"}),
            (Words{"gpu-001", "gpu-002", "gpu-003"}));
  EXPECT_EQ(Offered("railctl why gpu-001 link.m", {"railctl", "why", "gpu-001", "link.m"}),
            Words{"link.mtu"});
}

TEST_F(BashCompletionTest, PiecesThatBashBrokeOffAreCompletedAlone) {
  EXPECT_EQ(Offered("railctl status --output=js", {"railctl", "status", "--output", "=", "js"}),
            Words{"json"});
  EXPECT_EQ(Offered("railctl status --output=", {"railctl", "status", "--output", "="}),
            (Words{"json", "table", "yaml"}));
}

TEST_F(BashCompletionTest, AnAddressWithColonsOnTheLineIsUsed) {
  const std::string address = admin_.address();
  EXPECT_EQ(Offered("railctl --controller " + address + " status gpu-003",
                    {"railctl", "--controller", "unix", ":", address.substr(5), "status", "gpu-003"}),
            Words{"gpu-003"});
}

TEST_F(BashCompletionTest, WithoutAControllerNothingIsOfferedAndNothingHangs) {
  admin_.Stop();
  EXPECT_EQ(Offered("railctl status g", {"railctl", "status", "g"}), Words{});
}

}  // namespace
}  // namespace railwright::cli
