#include "tests/cli/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace railwright::cli {

void ExpectGolden(const std::string& name, std::string_view text) {
  const std::string path = std::string(RAILWRIGHT_SOURCE_DIR) + "/tests/cli/golden/" + name;
  if (std::getenv("RAILWRIGHT_WRITE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    ADD_FAILURE() << path << " was written; read it, then run again without RAILWRIGHT_WRITE_GOLDEN";
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing";
  std::ostringstream wanted;
  wanted << file.rdbuf();
  EXPECT_EQ(wanted.str(), text) << "golden/" << name;
}

}  // namespace railwright::cli
