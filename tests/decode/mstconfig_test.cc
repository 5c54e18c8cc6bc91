// The texts are written after the layout that mstconfig documents and prints; no card answered them. Real
// ones are read by tests/cases.
#include "core/decode/mstconfig.h"

#include <gtest/gtest.h>

#include "core/decode/nvconfig_names.h"

namespace railwright {
namespace {

constexpr const char* kThree =
    "\nDevice #1:\n----------\n\nDevice type:        ConnectX7           \nName:               CARD_Ax\n"
    "Device:             18:00.0             \n\n"
    "Configurations:                                          Default             Current             Next "
    "Boot\n"
    "        MEMIC_BAR_SIZE                              0                    0                    0         "
    "    \n"
    "*       LLDP_NB_DCBX_P1                             False(0)             True(1)              False(0)\n"
    "        HOST_CHAINING_DESCRIPTORS                   Array[0..7]          Array[0..7]          "
    "Array[0..7]\n"
    "RO      CNP_DSCP_P1                                 48                   48                   48\n"
    "*       ATS_ENABLED                                 False(0)             True(1)              True(1)\n"
    "The '*' shows parameters with next value different from default/current value.\n";

TEST(Mstconfig, ThreeColumnsAreThreeValues) {
  const auto listing = DecodeMstconfig(kThree);
  ASSERT_TRUE(listing.ok()) << listing.status().ToString();
  EXPECT_EQ(listing->device_type, "ConnectX7");
  EXPECT_EQ(listing->parameters.size(), 5U);
  EXPECT_TRUE(listing->unclear.empty());
  const NvParameter& dcbx = listing->parameters.at("LLDP_NB_DCBX_P1");
  EXPECT_EQ(dcbx.default_value, "False(0)");
  EXPECT_EQ(dcbx.current, "True(1)");
  EXPECT_EQ(dcbx.next, "False(0)");
  EXPECT_EQ(listing->parameters.at("CNP_DSCP_P1").next, "48") << "a mark is no name";
  EXPECT_EQ(listing->parameters.at("HOST_CHAINING_DESCRIPTORS").current, "Array[0..7]");
}

TEST(Mstconfig, OneColumnIsTheOneItNames) {
  const auto next =
      DecodeMstconfig("Configurations:                              Next Boot\n  LINK_TYPE_P1   ETH(2)\n");
  ASSERT_TRUE(next.ok()) << next.status().ToString();
  EXPECT_EQ(next->parameters.at("LINK_TYPE_P1").next, "ETH(2)");
  EXPECT_EQ(next->parameters.at("LINK_TYPE_P1").current, "");
  const auto current = DecodeMstconfig("Configurations:   Current\n  LINK_TYPE_P1   ETH(2)\n");
  ASSERT_TRUE(current.ok());
  EXPECT_EQ(current->parameters.at("LINK_TYPE_P1").current, "ETH(2)");
}

TEST(Mstconfig, ElementsOfAnArrayHaveLinesOfTheirOwn) {
  const auto listing =
      DecodeMstconfig("Configurations:  Default Current Next Boot\n  CHAIN[0]  1 2 3\n  CHAIN[1] 1 1 1\n");
  ASSERT_TRUE(listing.ok());
  EXPECT_EQ(listing->parameters.at("CHAIN[0]").current, "2");
}

TEST(Mstconfig, WhatDoesNotFitIsTold) {
  const auto torn =
      DecodeMstconfig("Configurations:  Default Current Next Boot\n  A_KEY  1 2\n  B_KEY 1 2 3\n");
  ASSERT_TRUE(torn.ok());
  EXPECT_EQ(torn->unclear.at("A_KEY"), "A_KEY  1 2");
  EXPECT_EQ(torn->parameters.size(), 1U);
  EXPECT_EQ(DecodeMstconfig("Configurations: Default Was\n").status().code(), Code::kDataLoss);
  EXPECT_EQ(DecodeMstconfig("Configurations: Current\n A 1\n A 2\n").status().code(), Code::kDataLoss);
  EXPECT_EQ(DecodeMstconfig("Device type: a\nDevice type: b\n").status().code(), Code::kDataLoss);
  EXPECT_TRUE(DecodeMstconfig("Device type: ConnectX7\n")->parameters.empty());
}

TEST(Mstconfig, ValuesAreComparedByMeaning) {
  for (const auto& [a, b] : std::vector<std::pair<const char*, const char*>>{{"True(1)", "1"},
                                                                             {"True(1)", "true"},
                                                                             {"0x30", "48"},
                                                                             {"ETH(2)", "eth"},
                                                                             {"ETH(2)", "2"},
                                                                             {"per_mkey(0)", "PER_MKEY"},
                                                                             {"False(0)", "0"},
                                                                             {"ETH", "ETH(2)"},
                                                                             {"ENABLED(0)", "enabled"}})
    EXPECT_TRUE(SameNvValue(a, b) && SameNvValue(b, a)) << a << " " << b;
  for (const auto& [a, b] : std::vector<std::pair<const char*, const char*>>{
           {"True(1)", "0"}, {"ETH(2)", "IB"}, {"", ""}, {"ENABLED(0)", "1"}, {"1", "2"}, {"ETH", "2"}})
    EXPECT_FALSE(SameNvValue(a, b) || SameNvValue(b, a)) << a << " " << b;
  EXPECT_EQ(NvValueToSet("True(1)"), "1");
  EXPECT_EQ(NvValueToSet("0x30"), "48");
  EXPECT_EQ(NvValueToSet("per_mkey"), "per_mkey");
}

TEST(NvconfigNames, OnlyKnownParametersAreSet) {
  for (const char* good :
       {"PCI_WR_ORDERING", "LLDP_NB_DCBX_P1", "ROCE_CC_PRIO_MASK_P2", "LINK_TYPE_P1", "RPG_AI_RATE_P1"})
    EXPECT_TRUE(CheckNvParameter(good).ok()) << good;
  for (const char* bad : {"SRIOV_EN", "NUM_OF_VFS", "INTERNAL_CPU_MODEL", "KEEP_ETH_LINK_UP_P1",
                          "pci_wr_ordering", "PCI_WR_ORDERING=1", "CNP_DSCP_P1[0]", "", "CNP_DSCP_P9", "-d"})
    EXPECT_FALSE(CheckNvParameter(bad).ok()) << bad;
  EXPECT_TRUE(CheckNvValue("LINK_TYPE_P1", "ETH").ok());
  EXPECT_TRUE(CheckNvValue("LINK_TYPE_P1", "2").ok());
  EXPECT_FALSE(CheckNvValue("LINK_TYPE_P1", "IB").ok());
  EXPECT_FALSE(CheckNvValue("LINK_TYPE_P2", "1").ok());
  for (const char* bad : {"", "a b", "-y", "1;2", "$(x)"})
    EXPECT_FALSE(CheckNvValue("CNP_DSCP_P1", bad).ok()) << bad;
}

}  // namespace
}  // namespace railwright
