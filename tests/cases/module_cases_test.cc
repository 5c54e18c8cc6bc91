// Category A: the heads of real modules' EEPROMs.
#include <gtest/gtest.h>

#include <regex>

#include "core/decode/module_header.h"
#include "tests/cases/cases.h"

namespace railwright {
namespace {

// The first 16 bytes of a dump as `ethtool -m … hex on` or SONiC prints it; none when it begins elsewhere.
std::vector<std::uint8_t> HeadOf(const std::string& dump) {
  static const std::regex first("(?:0x0000:|00000000)((?:\\s+[0-9a-f]{2}){16})\\b");
  std::vector<std::uint8_t> bytes;
  std::smatch match;
  if (!std::regex_search(dump, match, first)) return bytes;
  std::istringstream words(match[1]);
  for (std::string word; words >> word;)
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(word, nullptr, 16)));
  return bytes;
}

TEST(ModuleCases, TheHeadOfEachEepromIsReadAsItsAnswerSays) {
  const auto list = cases::Load("A");
  RW_SKIP_WITHOUT_CASES(list);
  int heads = 0, states = 0, flats = 0, revisions = 0;
  for (const cases::Case& one : list) {
    // What stands at the top was judged by whoever reported it; "decoded" comes from another decoder.
    auto answer = one.answer.value("decoded", nlohmann::json::object());
    for (const auto& [key, value] : one.answer.items())
      if (!answer.contains(key)) answer[key] = value;
    for (const auto& file : one.files) {
      const auto bytes = HeadOf(cases::Read(file));
      if (bytes.empty()) continue;
      SCOPED_TRACE(file.filename().string());
      const auto header = ModuleHeader::Decode(bytes);
      ASSERT_TRUE(header.ok()) << header.status().ToString();
      ++heads;
      const Fields fields = header->ToFields();
      // "0x0d QSFP+"
      if (answer.contains("identifier")) {
        const std::string said = answer["identifier"];
        EXPECT_EQ(*fields.Find("id"), said.substr(0, 4));
        if (said.size() > 4) {
          EXPECT_EQ(header->Form(), said.substr(5));
        }
      }
      if (answer.contains("cmis_rev")) {
        EXPECT_EQ(header->interface, ModuleInterface::kCmis);
        EXPECT_EQ(header->Revision(), answer["cmis_rev"].get<std::string>());
        ++revisions;
      }
      if (answer.contains("revision_compliance")) {
        EXPECT_EQ(header->revision_code, answer["revision_compliance"].get<std::uint8_t>());
      }
      for (const char* key : {"flat_memory", "flat_mem"})
        if (answer.contains(key)) {
          EXPECT_EQ(header->flat, answer[key].get<bool>());
          ++flats;
        }
      if (answer.contains("data_not_ready")) {
        EXPECT_EQ(header->data_not_ready, answer["data_not_ready"].get<bool>());
      }
      if (answer.contains("module_state")) {
        const auto said = DescribeModule(fields.Text());
        const std::string state = answer["module_state"];
        EXPECT_TRUE(said.ok() && said->ends_with("state " + state)) << fields.Text() << ", not " << state;
        ++states;
      }
    }
  }
  EXPECT_GE(heads, 20);
  EXPECT_GE(states, 8);
  EXPECT_GE(flats, 8);
  EXPECT_GE(revisions, 8);
}

TEST(ModuleCases, AnUndefinedIdentifierIsToldByItsNumber) {
  const auto list = cases::Load("A");
  RW_SKIP_WITHOUT_CASES(list);
  int judged = 0;
  for (const cases::Case& one : list) {
    if (one.answer.value("error", "") != "INVALID_IDENTIFIER") continue;
    const auto header = ModuleHeader::Decode(HeadOf(cases::Read(one.files.front())));
    ASSERT_TRUE(header.ok()) << header.status().ToString();
    EXPECT_EQ(header->ToFields().Text(), "id=0xff");
    ++judged;
  }
  EXPECT_EQ(judged, 1);
}

}  // namespace
}  // namespace railwright
