#include "core/decode/ethtool_fec.h"

#include <gtest/gtest.h>

#include "tests/decode/netlink_bytes.h"

namespace railwright {
namespace {

Bytes Bit(std::uint32_t index, bool value) {
  return Nest(1, U32(1, index) + (value ? Attribute(3, {}) : Bytes()));
}
const Bytes kNoMask = Attribute(1, {});

TEST(EthtoolFec, ModesAutoAndActiveAreThreeFields) {
  const Bytes answer =
      Nest(2, kNoMask + U32(2, 120) + Nest(3, Bit(50, false) + Bit(51, false))) + U8(3, 0) + U32(4, 50);
  EXPECT_EQ(DecodeFec(answer)->Text(), "modes=rs,baser auto=0 active=rs");
}

TEST(EthtoolFec, ALinkWithoutCarrierHasNoActiveMode) {
  EXPECT_EQ(DecodeFec(Nest(2, kNoMask + Nest(3, Bit(49, false))) + U8(3, 1))->Text(), "modes=off auto=1");
  EXPECT_EQ(DecodeFec(Nest(2, kNoMask) + U8(3, 1))->Text(), "modes=none auto=1");
}

TEST(EthtoolFec, ABitsetWithAMaskHoldsOnlyTheBitsThatCarryAValue) {
  EXPECT_EQ(DecodeFec(Nest(2, Nest(3, Bit(50, true) + Bit(51, false))) + U8(3, 0))->Text(),
            "modes=rs auto=0");
}

TEST(EthtoolFec, ACompactBitsetIsAMapOfBytes) {
  Bytes map(16);
  map[50 / 8] = 1 << (50 % 8);
  map[74 / 8] = 1 << (74 % 8);
  EXPECT_EQ(DecodeFec(Nest(2, kNoMask + U32(2, 120) + Attribute(4, map)) + U8(3, 0))->Text(),
            "modes=rs,llrs auto=0");
}

TEST(EthtoolFec, AModeOfALaterKernelIsShownByItsBit) {
  EXPECT_EQ(DecodeFec(Nest(2, kNoMask + Nest(3, Bit(200, false))) + U32(4, 201))->Text(),
            "modes=bit200 active=bit201");
}

TEST(EthtoolFec, WhatIsCutShortIsDataLoss) {
  const Bytes whole = Nest(2, kNoMask + Nest(3, Bit(50, false))) + U8(3, 0);
  EXPECT_EQ(DecodeFec(NetlinkBytes(whole).first(whole.size() - 6)).status().code(), Code::kDataLoss);
  Bytes inner = whole;
  inner[8] = 0xff;  // the length of the list of bits
  EXPECT_EQ(DecodeFec(inner).status().code(), Code::kDataLoss);
}

TEST(EthtoolFec, ModesToSetAreNamed) {
  EXPECT_EQ(*ParseFecModes("baser,rs,rs"), (std::vector<std::uint32_t>{50, 51}));
  EXPECT_EQ(*ParseFecModes("off"), std::vector<std::uint32_t>{49});
  for (const char* bad : {"", ",", "auto", "rs,fast", "none"})
    EXPECT_EQ(ParseFecModes(bad).status().code(), Code::kInvalidArgument) << bad;
}

}  // namespace
}  // namespace railwright
