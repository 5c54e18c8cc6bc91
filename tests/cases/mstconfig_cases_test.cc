// Category C: what mlxconfig and mstconfig really print.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/decode/mstconfig.h"
#include "tests/cases/cases.h"

namespace railwright {
namespace {

TEST(MstconfigCases, RealListingsAreReadColumnByColumn) {
  const auto list = cases::Load("C");
  RW_SKIP_WITHOUT_CASES(list);
  int judged = 0;
  for (const cases::Case& one : list) {
    if (one.id.find("config-columns") == std::string::npos &&
        one.id.find("config-query") == std::string::npos && one.id.find("config-full") == std::string::npos &&
        one.id.find("config-bf3") == std::string::npos)
      continue;
    for (const auto& file : one.files) {
      SCOPED_TRACE(file.filename().string());
      const auto listing = DecodeMstconfig(cases::Read(file));
      ASSERT_TRUE(listing.ok()) << listing.status().ToString();
      EXPECT_TRUE(listing->unclear.empty());
      ++judged;
      if (one.answer.contains("device") && !file.string().ends_with(".array.txt")) {
        EXPECT_EQ(listing->device_type, one.answer["device"].get<std::string>());
      }
      if (one.answer.contains("parameters")) {
        EXPECT_EQ(listing->parameters.size(), one.answer["parameters"].get<std::size_t>());
      }
      for (const auto& [name, value] : one.answer.items()) {
        const auto found = listing->parameters.find(name);
        if (found == listing->parameters.end()) continue;
        const auto text = [](const nlohmann::json& json) {
          return json.is_string() ? json.get<std::string>() : json.dump();
        };
        const NvParameter& parameter = found->second;
        if (value.is_array()) {
          EXPECT_EQ(parameter.default_value, text(value[0])) << name;
          EXPECT_EQ(parameter.current, text(value[1])) << name;
          EXPECT_EQ(parameter.next, text(value[2])) << name;
        } else if (value.is_object()) {
          const std::pair<const char*, std::string NvParameter::*> columns[] = {
              {"default", &NvParameter::default_value},
              {"current", &NvParameter::current},
              {"next", &NvParameter::next}};
          for (const auto& [column, member] : columns) {
            if (!value.contains(column)) continue;
            EXPECT_EQ(parameter.*member, text(value[column])) << name;
          }
        }
      }
      for (const char* what : {"pending", "reboot_needed"}) {
        if (!one.answer.contains(what) || listing->parameters.size() < 4 ||
            file.string().ends_with(".array.txt"))
          continue;
        std::vector<std::string> pending;
        for (const auto& [name, parameter] : listing->parameters)
          if (!SameNvValue(parameter.current, parameter.next) && parameter.current != parameter.next)
            pending.push_back(name);
        auto expected = one.answer[what].get<std::vector<std::string>>();
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(pending, expected) << "a mark alone does not mean pending";
      }
    }
  }
  EXPECT_GE(judged, 5);
}

}  // namespace
}  // namespace railwright
