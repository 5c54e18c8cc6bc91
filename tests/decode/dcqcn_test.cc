// Registers of congestion control, their aliases, and what drivers print of them.
#include "core/decode/dcqcn.h"

#include <gtest/gtest.h>

#include <set>

#include "core/decode/dcqcn_alias.h"
#include "core/decode/programmable_cc.h"
#include "core/decode/traffic_class.h"

namespace railwright {
namespace {

TEST(DcqcnRegisterTest, EveryRegisterHasOneNameInEachForm) {
  std::set<std::string_view> names, inbox;
  for (const DcqcnRegister& one : DcqcnRegisters()) {
    SCOPED_TRACE(one.name);
    EXPECT_TRUE(names.insert(one.name).second);
    EXPECT_TRUE(inbox.insert(one.inbox).second);
    EXPECT_TRUE(one.inbox.starts_with(one.notification ? "np_" : "rp_"));
    EXPECT_LT(one.min, one.max);
    EXPECT_FALSE(one.factory.empty());
    EXPECT_FALSE(one.what.empty());
    EXPECT_EQ(FindDcqcnRegister(one.name), &one);
  }
  EXPECT_EQ(names.size(), 19U);
}

// Whatever the firmware comes with must be declarable, or nobody could go back to it.
TEST(DcqcnRegisterTest, FactoryValuesAreInTheirRange) {
  for (const DcqcnRegister& one : DcqcnRegisters()) {
    const auto first = one.factory.substr(0, one.factory.find(' '));
    EXPECT_EQ(CanonicalDcqcn(one, first).value_or("refused"), first) << one.name;
  }
}

TEST(DcqcnRegisterTest, BothSpellingsOfDriversAreRead) {
  EXPECT_EQ(ReadDcqcn("48").value_or("-"), "48");
  EXPECT_EQ(ReadDcqcn("0x1a\n").value_or("-"), "26");
  EXPECT_EQ(ReadDcqcn("0").value_or("-"), "0");
  EXPECT_EQ(ReadDcqcn("4294967295").value_or("-"), "4294967295");
  for (const char* text : {"", " ", "0x", "1a", "-1", "+1", "4294967296", "0x100000000", "1 2"})
    EXPECT_FALSE(ReadDcqcn(text).ok()) << text;
}

TEST(DcqcnAliasTest, AnAliasSaysWhatItDoes) {
  const DcqcnAlias* alpha = FindDcqcnAlias("dcqcn.alpha");
  ASSERT_NE(alpha, nullptr);
  EXPECT_EQ(TargetKeyOf(*alpha), "dcqcn.initial_alpha_value");
  EXPECT_EQ(EffectOf(*alpha, "200"),
            "the first cut of a flow becomes 9.8 % of its rate (the card's default: 50.0 %)");
  const DcqcnAlias* beta = FindDcqcnAlias("dcqcn.beta");
  ASSERT_NE(beta, nullptr);
  EXPECT_EQ(TargetKeyOf(*beta), "dcqcn.rpg_ai_rate");
  EXPECT_EQ(EffectOf(*beta, "10"),
            "each step of additive increase becomes 10 Mbit/s (the card's default: 5)");
  EXPECT_EQ(FindDcqcnAlias("dcqcn.alias_profile"), nullptr);
  EXPECT_EQ(FindDcqcnAlias("dcqcn.rpg_ai_rate"), nullptr);
  for (const DcqcnAlias& alias : DcqcnAliases())
    EXPECT_TRUE(CanonicalDcqcn(TargetOf(alias), alias.example).ok()) << alias.key;
}

TEST(TrafficClassTest, TheDriversTextIsReadLineByLine) {
  const auto read =
      ReadTrafficClass("Global tclass=106\nsrc_ip=10.0.0.1,tclass=104\ndst_ip6=fd00::1,tclass=0\n");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->global, "106");
  EXPECT_EQ(read->rules,
            (std::vector<std::string>{"src_ip=10.0.0.1,tclass=104", "dst_ip6=fd00::1,tclass=0"}));
  EXPECT_EQ(ReadTrafficClass("")->global, "unset");
  EXPECT_FALSE(ReadTrafficClass("Global tclass=256").ok());
  EXPECT_FALSE(ReadTrafficClass("something").ok());
}

TEST(ProgrammableCcTest, BothSpellingsOfAFlag) {
  const auto read = ReadProgrammableCc("next=True(1) current=False(0)");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->next, true);
  EXPECT_EQ(read->current, false);
  EXPECT_EQ(ReadProgrammableCc("next=0")->current, std::nullopt);
  EXPECT_EQ(ReadProgrammableCc("current=1")->current, true);
  for (const char* text : {"current=2", "current=", "current=true", "yes", "current=0 current=1"})
    EXPECT_FALSE(ReadProgrammableCc(text).ok()) << text;
}

}  // namespace
}  // namespace railwright
