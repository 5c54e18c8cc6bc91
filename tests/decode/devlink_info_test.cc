#include "core/decode/devlink_info.h"

#include <gtest/gtest.h>

#include "tests/decode/netlink_bytes.h"

namespace railwright {
namespace {

Bytes Version(std::uint16_t kind, std::string_view name, std::string_view value) {
  return Nest(kind, Text(103, name) + Text(104, value));
}

TEST(DevlinkInfo, VersionsStandUnderTheirKind) {
  const Bytes answer = Text(1, "pci") + Text(2, "0000:3b:00.0") + Text(98, "mlx5_core") + Text(99, "MT2143") +
                       Version(100, "fw.psid", "MT_0000000834") + Version(101, "fw.version", "28.39.1002") +
                       Version(101, "fw", "28.39.1002") + Version(102, "fw.version", "28.43.2026");
  EXPECT_EQ(DecodeDevlinkInfo(answer)->Text(),
            "driver=mlx5_core serial=MT2143 fixed.fw.psid=MT_0000000834 running.fw=28.39.1002 "
            "running.fw.version=28.39.1002 stored.fw.version=28.43.2026");
  EXPECT_EQ(DecodeDevlinkHandle(answer), "pci/0000:3b:00.0");
}

TEST(DevlinkInfo, WhatIsNotToldIsLeftOut) {
  EXPECT_EQ(DecodeDevlinkInfo({})->Text(), "");
  EXPECT_EQ(DecodeDevlinkInfo(Text(98, "netdevsim"))->Text(), "driver=netdevsim");
  EXPECT_EQ(DecodeDevlinkInfo(Nest(101, Text(104, "1.2")))->Text(), "") << "a version without a name";
  EXPECT_EQ(DecodeDevlinkHandle(Text(1, "pci")), "");
}

TEST(DevlinkInfo, OneNameOfSeveralComponentsIsJoined) {
  EXPECT_EQ(DecodeDevlinkInfo(Version(101, "fw", "1") + Version(101, "fw", "2"))->Text(), "running.fw=1,2");
  EXPECT_EQ(DecodeDevlinkInfo(Version(101, "fw", "1") + Version(101, "fw", "1"))->Text(), "running.fw=1");
}

TEST(DevlinkInfo, AVendorsWordsStayOneField) {
  const Fields fields = *DecodeDevlinkInfo(Version(100, "board id=", "K 91\n"));
  ASSERT_EQ(fields.all().size(), 1U);
  EXPECT_EQ(fields.Text(), "fixed.board_id_=K_91_");
  EXPECT_TRUE(Fields::Parse(fields.Text()).ok());
}

TEST(DevlinkInfo, WhatIsCutShortIsDataLoss) {
  const Bytes whole = Text(98, "mlx5_core") + Version(101, "fw", "1.2.3");
  for (const std::size_t size : {whole.size() - 4, std::size_t{5}, std::size_t{3}})
    EXPECT_EQ(DecodeDevlinkInfo(NetlinkBytes(whole).first(size)).status().code(), Code::kDataLoss) << size;
  Bytes inner = Version(101, "fw", "1.2.3");
  inner[4] = 200;  // the length of the name, beyond its nest
  EXPECT_EQ(DecodeDevlinkInfo(inner).status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace railwright
