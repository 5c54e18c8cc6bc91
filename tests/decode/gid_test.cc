#include "core/decode/gid.h"

#include <gtest/gtest.h>

namespace railwright {
namespace {

TEST(Gid, AnAddressHasOneGid) {
  EXPECT_EQ(GidOfAddress("10.10.0.1/24").value(), "0000:0000:0000:0000:0000:ffff:0a0a:0001");
  EXPECT_EQ(GidOfAddress("10.10.0.1").value(), "0000:0000:0000:0000:0000:ffff:0a0a:0001");
  EXPECT_EQ(GidOfAddress("fd00:10::1/64").value(), "fd00:0010:0000:0000:0000:0000:0000:0001");
  EXPECT_EQ(GidOfAddress("FE80::Ab").value(), "fe80:0000:0000:0000:0000:0000:0000:00ab");
  using namespace std::string_literals;
  for (const std::string& bad : {""s, "/24"s, "10.10.0"s, "010.1.1.1"s, "rail0"s, "::1\0x"s, "10.1.1.1\0"s})
    EXPECT_FALSE(GidOfAddress(bad).ok()) << bad;
}

TEST(Gid, PeopleReadAddresses) {
  EXPECT_EQ(GidForPeople("0000:0000:0000:0000:0000:ffff:0a0a:0001"), "::ffff:10.10.0.1");
  EXPECT_EQ(GidForPeople("fd00:0010:0000:0000:0000:0000:0000:0001"), "fd00:10::1");
  EXPECT_EQ(GidForPeople("damaged"), "damaged");
  EXPECT_TRUE(IsEmptyGid("0000:0000:0000:0000:0000:0000:0000:0000"));
  EXPECT_FALSE(IsEmptyGid("0000:0000:0000:0000:0000:0000:0000:0001"));
}

}  // namespace
}  // namespace railwright
