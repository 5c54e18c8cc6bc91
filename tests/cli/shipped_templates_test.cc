#include "controller/cli/shipped_templates.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace railwright::cli {
namespace {

TEST(ReadTemplateTest, AReasonHoldsForTheKeysUpToTheNextCommentOrGap) {
  const Template one =
      ReadTemplate("x.yaml",
                   "# About it,\n# in two lines.\n#   railctl plan -f x.yaml\nkind: Profile\n"
                   "name: x\n# Of the mode.\nmode: enforce\nsettings:\n  # Why PFC.\n"
                   "  # Source: 802.1Q.\n  qos.pfc: {fabric: [3]}\n  qos.trust: {fabric: dscp}\n"
                   "\n  roce.tos: {fabric: 106}\n  # Why.\n  limits.memlock: unlimited");
  EXPECT_EQ(one.name, "x");
  EXPECT_EQ(one.about, "About it, in two lines.");
  ASSERT_EQ(one.settings.size(), 4u);
  EXPECT_EQ(one.settings[0].key, "qos.pfc");
  EXPECT_EQ(one.settings[0].value, "{fabric: [3]}");
  EXPECT_EQ(one.settings[0].reason, "Why PFC. Source: 802.1Q.");
  EXPECT_EQ(one.settings[1].reason, one.settings[0].reason);
  EXPECT_EQ(one.settings[2].reason, "");
  EXPECT_EQ(one.settings[3].reason, "Why.");
}

TEST(ShippedTemplatesTest, TheProfilesOfTheFolderAreInTheProgram) {
  std::vector<std::string> names;
  for (const Template& one : ShippedTemplates()) names.push_back(one.name);
  for (const char* wanted : {"guide-ofed-5.8", "roce-lossless-100g", "roce-lossless-200g",
                             "roce-lossless-400g", "roce-pfc-only-400g", "spectrum-x-host"})
    EXPECT_NE(std::find(names.begin(), names.end(), wanted), names.end()) << wanted;
}

// The lossless profiles are what operators copy: no value without a reason.
TEST(ShippedTemplatesTest, EveryValueOfARoceProfileHasAReason) {
  for (const Template& one : ShippedTemplates()) {
    if (!one.name.starts_with("roce-lossless-") && !one.name.starts_with("guide-")) continue;
    for (const TemplateSetting& setting : one.settings)
      EXPECT_FALSE(setting.reason.empty()) << one.file << ": " << setting.key;
  }
}

}  // namespace
}  // namespace railwright::cli
