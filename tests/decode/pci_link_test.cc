#include "core/decode/pci_link.h"

#include <gtest/gtest.h>

namespace railwright {
namespace {

PciLink Link(std::string_view speed, std::string_view width) {
  const auto link = PciLink::Parse(speed, width);
  EXPECT_TRUE(link.ok()) << link.status().ToString();
  return link.ok() ? *link : PciLink();
}

TEST(PciLink, SpeedsAreTenthsAndWidthsLanes) {
  EXPECT_EQ(Link("32.0 GT/s PCIe", "16").Text(), "32.0 GT/s x16");
  EXPECT_EQ(Link("2.5 GT/s PCIe", "1").speed, 25U);
  EXPECT_EQ(Link("8 GT/s", "8").Text(), "8.0 GT/s x8") << "kernels before 5.7";
  EXPECT_FALSE(Link("Unknown", "0").speed);
  EXPECT_EQ(Link("Unknown speed", "255").width, 0U);
  for (const auto& [speed, width] : std::vector<std::pair<const char*, const char*>>{{"", "16"},
                                                                                     {"fast", "16"},
                                                                                     {"32.0", "16"},
                                                                                     {"-1 GT/s", "16"},
                                                                                     {"2.55 GT/s", "16"},
                                                                                     {"8.0 GT/s", ""},
                                                                                     {"8.0 GT/s", "x16"},
                                                                                     {"8.0 GT/s", "256"},
                                                                                     {"99999 GT/s", "1"}})
    EXPECT_FALSE(PciLink::Parse(speed, width).ok()) << speed << " " << width;
}

TEST(PciLink, TwoEndsCanWhatTheLesserCan) {
  EXPECT_EQ(BestOfBoth(Link("32.0 GT/s PCIe", "8"), Link("16.0 GT/s PCIe", "16")).Text(), "16.0 GT/s x8");
  EXPECT_EQ(BestOfBoth(Link("Unknown", "0"), Link("16.0 GT/s PCIe", "16")).Text(), "16.0 GT/s x16")
      << "an end that does not tell sets no bound";
}

}  // namespace
}  // namespace railwright
