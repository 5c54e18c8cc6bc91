// The table in agent/settings/README.md against the catalogue.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "railwright/explain.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

std::string Trim(std::string text) {
  const auto first = text.find_first_not_of(" `");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" `") - first + 1);
}

// Rows by key, each a list of cells. "\|" is no border.
std::map<std::string, std::vector<std::string>> Rows() {
  std::ifstream file(std::string(RAILWRIGHT_SOURCE_DIR) + "/agent/settings/README.md");
  std::map<std::string, std::vector<std::string>> rows;
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    std::string cell;
    for (std::size_t i = 1; i < line.size(); ++i) {
      if (line[i] == '|' && line[i - 1] != '\\') {
        cells.push_back(Trim(cell));
        cell.clear();
      } else {
        cell += line[i];
      }
    }
    rows[cells.at(0)] = cells;
  }
  return rows;
}

std::string Delay(const Noticed& noticed) {
  return noticed.worst.count() == 0 ? "one scan" : std::to_string(noticed.worst.count() / 1000) + " s";
}

TEST(SettingsReadmeTest, EverySettingHasARowThatTellsWhatItsDataTell) {
  const auto rows = Rows();
  const Catalog catalog = MakeCatalog();
  for (const auto& setting : catalog.settings()) {
    const SettingInfo& info = setting->info();
    SCOPED_TRACE(info.key);
    const auto row = rows.find(info.key);
    ASSERT_NE(row, rows.end()) << "no row for " << info.key << " in agent/settings/README.md";
    const auto& cells = row->second;
    ASSERT_EQ(cells.size(), 8U);
    EXPECT_EQ(cells[1], info.code);
    EXPECT_TRUE(cells[2].starts_with(info.targets == TargetKind::kPort ? "port" : "node")) << cells[2];
    EXPECT_NE(cells[3], "");
    EXPECT_TRUE(cells[4].starts_with(std::string(Name(info.disruption)))) << cells[4];
    EXPECT_EQ(cells[5], info.noticed.source + ", " + Delay(info.noticed));
    EXPECT_NE(cells[6], "");
    EXPECT_NE(cells[7], "");
  }
  EXPECT_EQ(rows.size(), catalog.settings().size()) << "a row of a setting that is gone";
}

TEST(SettingsDataTest, EverySettingTellsAllThatExplainShows) {
  const Catalog catalog = MakeCatalog();
  for (const auto& setting : catalog.settings()) {
    const SettingInfo& info = setting->info();
    SCOPED_TRACE(info.key);
    for (const std::string* text : {&info.help, &info.why, &info.syntax, &info.default_value, &info.interface,
                                    &info.source, &info.noticed.source})
      EXPECT_FALSE(text->empty());
    EXPECT_TRUE(info.help.ends_with(".")) << "a sentence";
    EXPECT_EQ(info.help.find('\n'), std::string::npos);
    EXPECT_FALSE(info.likely_owners.empty());
    EXPECT_EQ(info.noticed.by_event, info.noticed.source != "scan");
    if (!info.noticed.by_event && info.noticed.worst.count() != 0) {
      EXPECT_GE(info.noticed.worst, std::chrono::minutes(1)) << "an answer that is kept; else one scan";
    }
  }
}

TEST(SettingsDataTest, NoTwoSettingsShareAKeyOrACode) {
  std::set<std::string> keys, codes, prefixes;
  for (const auto& page : ReasonPages()) codes.insert(std::string(page.code));
  const Catalog catalog = MakeCatalog();
  for (const auto& setting : catalog.settings()) {
    const std::string& key = setting->info().key;
    EXPECT_TRUE(keys.insert(key).second) << key;
    EXPECT_TRUE(prefixes.insert(key.substr(0, key.find('<'))).second) << key;
    EXPECT_TRUE(codes.insert(setting->info().code).second) << setting->info().code;
    EXPECT_TRUE(setting->info().code.starts_with("RW-11")) << setting->info().code;
  }
}

}  // namespace
}  // namespace railwright
