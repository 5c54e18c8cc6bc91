// The real artefacts beside the project, with their right answers (../shared/cases/README.md).
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace railwright::cases {

struct Case {
  std::string id;
  std::vector<std::filesystem::path> files;
  nlohmann::json answer;
};

/// RAILWRIGHT_CASES, or ../shared/cases beside the source tree.
inline std::filesystem::path Folder() {
  if (const char* named = std::getenv("RAILWRIGHT_CASES")) return named;
  return std::filesystem::path(RAILWRIGHT_SOURCE_DIR "/../shared/cases").lexically_normal();
}

/// The cases of a category, by its letter; none when the folder is absent.
inline std::vector<Case> Load(const std::string& category) {
  std::vector<Case> cases;
  std::ifstream index(Folder() / "cases.jsonl");
  for (std::string line; std::getline(index, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || json.value("cat", "") != category) continue;
    Case one{json["id"], {}, json["answer"]};
    for (const auto& path : json["paths"]) one.files.push_back(Folder() / path.get<std::string>());
    cases.push_back(std::move(one));
  }
  return cases;
}

inline std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace railwright::cases

/// Skips the test, once and with the reason, when there are no cases.
#define RW_SKIP_WITHOUT_CASES(list) \
  if ((list).empty())               \
  GTEST_SKIP() << "no cases at " << ::railwright::cases::Folder() << "; set RAILWRIGHT_CASES"
