// Every check has its row in the folder's README, with its key and its code.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "railwright/check.h"

namespace railwright {
namespace {

TEST(ChecksReadmeTest, EveryCheckHasItsRow) {
  std::ifstream file(RAILWRIGHT_SOURCE_DIR "/agent/checks/README.md");
  std::ostringstream text;
  text << file.rdbuf();
  std::set<std::string> codes;
  for (const auto& check : MakeChecks()) {
    const CheckInfo& info = check->info();
    EXPECT_NE(text.str().find("| `" + info.key + "` | " + info.code + " |"), std::string::npos) << info.key;
    EXPECT_TRUE(codes.insert(info.code).second) << info.code << " is used twice";
    EXPECT_FALSE(info.help.empty() || info.why.empty() || info.interface.empty()) << info.key;
  }
  EXPECT_FALSE(codes.empty());
}

}  // namespace
}  // namespace railwright
