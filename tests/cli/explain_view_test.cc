#include "controller/cli/explain_view.h"

#include <gtest/gtest.h>

#include "core/text/yaml.h"
#include "tests/cli/golden.h"

namespace railwright::cli {
namespace {

const Terminal kPlain;

// The catalogue's own texts are the settings' matter; a page's form is ours.
SettingInfo SampleSetting(const std::string& key) {
  SettingInfo info;
  info.key = key;
  info.code = "RW-1999";
  info.help = "A knob of the test.";
  info.why =
      "Without it the sample has nothing to say, and a line that is long enough to be broken shows how.";
  info.targets = TargetKind::kPort;
  info.syntax = "1…9";
  info.default_value = "5";
  info.interface = "rtnetlink IFLA_SAMPLE";
  info.source = "kernel net/core/sample.c";
  info.disruption = Disruption::kLinkFlap;
  info.noticed = {true, "rtnetlink", std::chrono::milliseconds(1500)};
  info.effect = Effect::kNeedsReboot;
  info.likely_owners = {"lldpad", "NetworkManager"};
  return info;
}

TEST(ExplainViewTest, ASettingAFamilyACheckAndAReason) {
  const SettingInfo plain = SampleSetting("sample.knob"), family = SampleSetting("sample.<name>");
  const CheckInfo check{"sample.check", "RW-2999", "Looks at the sample.", "Because it may be wrong.",
                        "procfs",       {}};
  const ReasonPage reason{"SampleFailed", "RW-9999", "It failed.", "What it means, and what to do next."};
  std::string text = PageText({&plain, "sample.knob", ""}, kPlain);
  text += "----\n" + PageText({&family, "sample.a.b", "a.b"}, kPlain);
  text += "----\n" + PageText({&family, "sample.<name>", ""}, kPlain);
  text += "----\n" + PageText({&check, "sample.check", ""}, kPlain);
  text += "----\n" + PageText({&reason, "SampleFailed", ""}, kPlain);
  ExpectGolden("explain.txt", text);
  std::string json = ToJsonText(PageJson({&family, "sample.a.b", "a.b"}));
  json += ToJsonText(PageJson({&check, "sample.check", ""})) +
          ToJsonText(PageJson({&reason, "SampleFailed", ""}));
  ExpectGolden("explain.json", json);
}

TEST(ExplainViewTest, AnAliasSaysWhatItStandsForAndDoes) {
  const CatalogDeclarations catalog;
  const auto alpha = FindPage(catalog, "dcqcn.alpha"), profile = FindPage(catalog, "dcqcn.alias_profile");
  ASSERT_TRUE(alpha.ok());
  ASSERT_TRUE(profile.ok());
  ExpectGolden("explain_alias.txt", PageText(*alpha, kPlain));
  ExpectGolden("explain_alias.json", ToJsonText(PageJson(*alpha)));
  EXPECT_NE(PageText(*profile, kPlain).find("initial_alpha+ai_rate"), std::string::npos);
}

TEST(ExplainViewTest, ARegisterSaysItsOwnRange) {
  const CatalogDeclarations catalog;
  const auto page = FindPage(catalog, "dcqcn.rpg_time_reset");
  ASSERT_TRUE(page.ok());
  const std::string text = PageText(*page, kPlain);
  EXPECT_NE(text.find("values      1…131071 µs\n"), std::string::npos) << text;
  EXPECT_NE(text.find("register    time between two increases\n"), std::string::npos) << text;
  EXPECT_EQ(PageJson(*page)["syntax"], "1…131071 µs");
}

TEST(FindPageTest, EveryTopicHasAPage) {
  const CatalogDeclarations catalog;
  const std::vector<std::string> topics = Topics(catalog);
  EXPECT_GT(topics.size(), 30u);
  for (const std::string& topic : topics) {
    auto page = FindPage(catalog, topic);
    ASSERT_TRUE(page.ok()) << topic;
    EXPECT_NE(PageText(*page, kPlain).find(page->asked), std::string::npos) << topic;
    EXPECT_TRUE(PageJson(*page).contains("kind")) << topic;
  }
}

TEST(FindPageTest, CodesAndReasonsInAnyCaseFamiliesByTheirMembers) {
  const CatalogDeclarations catalog;
  EXPECT_TRUE(FindPage(catalog, "rw-9001").ok());
  EXPECT_TRUE(FindPage(catalog, "readfailed").ok());
  auto member = FindPage(catalog, "sysctl.net.ipv4.conf.all.rp_filter");
  ASSERT_TRUE(member.ok());
  EXPECT_EQ(member->param, "net.ipv4.conf.all.rp_filter");
  for (const char* family : {"sysctl", "sysctl.", "sysctl.<name>"}) {
    auto page = FindPage(catalog, family);
    ASSERT_TRUE(page.ok()) << family;
    EXPECT_EQ(page->asked, "sysctl.<name>") << family;
  }
}

TEST(FindPageTest, ASlipIsAnsweredWithTheNearest) {
  const CatalogDeclarations catalog;
  const std::pair<const char*, const char*> table[]{{"link.mtuu", "link.mtu"}, {"ReadFailde", "ReadFailed"}};
  for (const auto& [typed, meant] : table) {
    auto page = FindPage(catalog, typed);
    ASSERT_FALSE(page.ok()) << typed;
    EXPECT_NE(page.status().message().find(std::string("did you mean \"") + meant + "\"?"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace railwright::cli
