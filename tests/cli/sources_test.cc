#include "controller/cli/sources.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace railwright::cli {
namespace {

class SourcesTest : public testing::Test {
 protected:
  SourcesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "railctl-sources-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~SourcesTest() override { std::filesystem::remove_all(root_); }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(root_ + "/" + name) << text;
    return root_ + "/" + name;
  }
  std::string root_;
  std::istringstream in_{"kind: Profile\nname: from-stdin\n"};
};

TEST_F(SourcesTest, AFileADirectoryAndStandardInput) {
  Write("b.yaml", "b");
  Write("a.yml", "a");
  Write(".hidden.yaml", "no");
  Write("notes.txt", "no");
  std::filesystem::create_directory(root_ + "/below");
  Write("below/c.yaml", "no");
  auto sources = ReadSources({root_, "-", root_ + "/b.yaml"}, in_);
  ASSERT_TRUE(sources.ok());
  ASSERT_EQ(sources->size(), 3u);
  EXPECT_EQ((*sources)[0].name(), root_ + "/a.yml");
  EXPECT_EQ((*sources)[1].name(), root_ + "/b.yaml");
  EXPECT_EQ((*sources)[2].name(), "stdin");
  EXPECT_EQ((*sources)[2].text(), "kind: Profile\nname: from-stdin\n");
}

TEST_F(SourcesTest, WhatCannotBeReadIsNamed) {
  for (const std::string& path : {root_ + "/none.yaml", root_}) {
    auto sources = ReadSources({path}, in_);
    ASSERT_FALSE(sources.ok());
    EXPECT_EQ(sources.status().code(), Code::kNotFound);
    EXPECT_NE(sources.status().message().find(path), std::string::npos);
  }
  EXPECT_FALSE(ReadSources({"/dev/zero"}, in_).ok());
}

TEST_F(SourcesTest, ProblemsOfAllFilesAreFoundWithTheirPlace) {
  const std::string first = Write("first.yaml", "kind: Profile\nname: a\nprioritys: 1\n");
  const std::string second = Write("second.yaml", "kind: Profile\nname: b\nname: c\n");
  auto sources = ReadSources({first, second}, in_);
  ASSERT_TRUE(sources.ok());
  const std::string text = ProblemsText(CheckSources(*sources));
  EXPECT_NE(text.find(first + ":3:1: "), std::string::npos) << text;
  EXPECT_NE(text.find(second + ":3:1: "), std::string::npos) << text;
  EXPECT_NE(text.find("^"), std::string::npos) << text;
}

TEST_F(SourcesTest, NoDocumentAtAllIsAProblem) {
  EXPECT_EQ(CheckSources({}).size(), 1u);
  auto sources = ReadSources({Write("empty.yaml", "# nothing\n")}, in_);
  ASSERT_TRUE(sources.ok());
  EXPECT_FALSE(CheckSources(*sources).empty());
}

TEST(WithExcerptsTest, PlacesInKnownFilesGetTheirLine) {
  v1::SourceFile file;
  file.set_name("dir:1/site.yaml");
  file.set_text("kind: Profile\nname: a\nsettings:\n  link.mtuu: 1\n");
  const std::string text =
      WithExcerpts("dir:1/site.yaml:4:3: unknown setting\nelsewhere.yaml:1:1: other\nplain words", {file});
  EXPECT_EQ(text,
            "dir:1/site.yaml:4:3: unknown setting\n"
            "  4 |   link.mtuu: 1\n"
            "    |   ^\n"
            "elsewhere.yaml:1:1: other\n"
            "plain words");
}

TEST(WithExcerptsTest, AnExcerptThatCameAlongIsNotRepeated) {
  v1::SourceFile file;
  file.set_name("a.yaml");
  file.set_text("kind: Profile\nnamee: a\n");
  const std::string sent = "a.yaml:2:1: unknown field\n  2 | namee: a\n    | ^~~~~";
  EXPECT_EQ(WithExcerpts(sent, {file}), sent);
}

TEST(WithExcerptsTest, PlacesThatAreNotThereAreNoCrash) {
  v1::SourceFile file;
  file.set_name("a");
  file.set_text("x");
  for (const char* message : {"a:9:1: m", "a:0:0: m", "a:1:999: m", "a:-1:2: m",
                              "a:", ":::", "a:1:", "a:99999999999999999999:1: m", ""})
    EXPECT_EQ(WithExcerpts(message, {file}).substr(0, std::string(message).size()), message);
}

}  // namespace
}  // namespace railwright::cli
