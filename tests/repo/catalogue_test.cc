// The catalogue against the READMEs and the explain pages.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "railwright/catalog.h"
#include "railwright/explain.h"
#include "tests/repo/tree.h"

namespace railwright::repo {
namespace {

TEST(CatalogueTest, EverySettingHasItsRowInTheTable) {
  const std::string table = ReadText(Root() / "agent/settings/README.md");
  const std::string readme = ReadText(Root() / "README.md");
  const CatalogDeclarations catalog;
  ASSERT_GT(catalog.settings().size(), 10u);
  for (const SettingInfo* info : catalog.settings()) {
    EXPECT_NE(table.find("| `" + info->key + "`"), std::string::npos)
        << "agent/settings/README.md has no row for " << info->key;
    EXPECT_NE(readme.find("`" + info->key + "`"), std::string::npos)
        << "README.md does not name " << info->key;
  }
}

TEST(CatalogueTest, EveryCheckHasItsRowInTheTable) {
  const std::string table = ReadText(Root() / "agent/checks/README.md");
  const CatalogDeclarations catalog;
  for (const CheckInfo* info : catalog.checks())
    EXPECT_NE(table.find("| `" + info->key + "`"), std::string::npos) << info->key;
}

TEST(CatalogueTest, CodesAreUniqueAndWellFormed) {
  std::set<std::string> codes;
  const std::regex form("RW-[0-9]{4}");
  const CatalogDeclarations catalog;
  const auto take = [&](const std::string& code, const std::string& of) {
    EXPECT_TRUE(std::regex_match(code, form)) << code << " of " << of;
    EXPECT_TRUE(codes.insert(code).second) << code << " of " << of << " is taken";
  };
  for (const SettingInfo* info : catalog.settings()) take(info->code, info->key);
  for (const CheckInfo* info : catalog.checks()) take(info->code, info->key);
  for (const ReasonPage& page : ReasonPages()) take(std::string(page.code), std::string(page.word));
}

TEST(CatalogueTest, EverySettingSaysAllThatExplainShows) {
  const CatalogDeclarations catalog;
  for (const SettingInfo* info : catalog.settings()) {
    EXPECT_FALSE(info->help.empty()) << info->key;
    EXPECT_FALSE(info->why.empty()) << info->key;
    EXPECT_FALSE(info->syntax.empty()) << info->key;
    EXPECT_FALSE(info->interface.empty()) << info->key;
    EXPECT_FALSE(info->source.empty()) << info->key;
    EXPECT_FALSE(info->noticed.source.empty()) << info->key;
    EXPECT_GE(info->noticed.worst.count(), 0) << info->key;
  }
}

TEST(CatalogueTest, EveryReasonWordInTheCodeHasItsPage) {
  std::set<std::string> words;
  for (const ReasonPage& page : ReasonPages()) words.insert(std::string(page.word));
  // `reason = "Word"`, `.refused = "Word"`, `NotApplicable("Word"` in the code of the agent.
  const std::regex use(
      R"re((?:reason|refused)\s*=\s*"([A-Z][A-Za-z]+)"|NotApplicable\(\s*"([A-Z][A-Za-z]+)")re");
  int seen = 0;
  for (const std::string& file : FilesBelow("agent", {".cc", ".h"})) {
    const std::string text = ReadText(Root() / file);
    for (std::sregex_iterator it(text.begin(), text.end(), use), end; it != end; ++it) {
      const std::string word = (*it)[1].matched ? (*it)[1] : (*it)[2];
      EXPECT_TRUE(words.contains(word)) << file << " uses the reason " << word << ", which has no page";
      ++seen;
    }
  }
  EXPECT_GT(seen, 5);
}

TEST(CatalogueTest, ReasonPagesAreSortedByWord) {
  std::string before;
  for (const ReasonPage& page : ReasonPages()) {
    EXPECT_LT(before, page.word);
    before = page.word;
  }
}

}  // namespace
}  // namespace railwright::repo
