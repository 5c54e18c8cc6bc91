// The tree against itself: READMEs, lengths, names of machines.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "core/spec/loader.h"
#include "tests/repo/tree.h"

namespace railwright::repo {
namespace {

const std::vector<std::string> kTop = {"include", "proto",  "core",      "agent", "controller",
                                       "tests",   "deploy", "templates", "cmake"};

TEST(TreeTest, EveryFolderOfCodeHasAReadme) {
  for (const std::string top :
       {"include", "proto", "core", "agent", "controller", "tests", "deploy", "templates"}) {
    EXPECT_TRUE(std::filesystem::exists(Root() / top / "README.md")) << top << "/README.md is missing";
  }
  for (const std::string top : {"core", "agent", "controller"}) {
    for (const auto& entry : std::filesystem::directory_iterator(Root() / top)) {
      if (entry.is_directory()) {
        EXPECT_TRUE(std::filesystem::exists(entry.path() / "README.md"))
            << entry.path() << "/README.md is missing";
      }
    }
  }
}

// Longer files are listed here with their reason.
const std::map<std::string, std::string>& LongFiles() {
  static const std::map<std::string, std::string> reasons = {};
  return reasons;
}

TEST(TreeTest, AFileOver400LinesHasAReason) {
  for (const std::string folder : {"include", "core", "agent", "controller"}) {
    for (const std::string& file : FilesBelow(folder, {".cc", ".h"})) {
      const auto lines = LinesOf(ReadText(Root() / file)).size();
      if (lines > 420) {
        EXPECT_TRUE(LongFiles().contains(file)) << file << " has " << lines << " lines";
      }
    }
  }
}

TEST(TreeTest, NoManagerNoUtil) {
  const std::regex name(R"((^|[/_])(manager|helpers?|utils?|common)([_./]|$))");
  for (const std::string& top : kTop) {
    for (const std::string& file : FilesBelow(top, {".cc", ".h", ".proto", ".sh", ".cmake"}))
      EXPECT_FALSE(std::regex_search(file, name)) << file;
  }
}

TEST(TreeTest, TheYamlOfTheReadmesParses) {
  int blocks = 0;
  std::vector<std::string> files = {"README.md"};
  for (const std::string top : {"templates", "deploy", "core", "controller", "agent"}) {
    for (const std::string& file : FilesBelow(top, {".md"})) files.push_back(file);
  }
  for (const std::string& file : files) {
    const std::string text = ReadText(Root() / file);
    for (std::size_t at = text.find("```yaml\n"); at != std::string::npos; at = text.find("```yaml\n", at)) {
      at += 8;
      const auto end = text.find("```", at);
      ASSERT_NE(end, std::string::npos) << file;
      const auto loaded = LoadDocuments(file, text.substr(at, end - at));
      for (const Problem& problem : loaded.problems) ADD_FAILURE() << problem.ToString();
      EXPECT_FALSE(loaded.documents.empty()) << file;
      ++blocks;
      at = end;
    }
  }
  EXPECT_GE(blocks, 1) << "README.md shows no document";
}

TEST(TreeTest, TheLicenceIsApache) {
  const std::string text = ReadText(Root() / "LICENSE");
  EXPECT_NE(text.find("Apache License"), std::string::npos);
  EXPECT_NE(text.find("Version 2.0, January 2004"), std::string::npos);
}

}  // namespace
}  // namespace railwright::repo
