#include "core/decode/dcb.h"

#include <gtest/gtest.h>

#include "core/decode/dcb_app.h"
#include "core/decode/ets_wish.h"

namespace railwright {
namespace {

using Bytes = std::vector<std::uint8_t>;

// struct ieee_pfc, as x86-64 lays it out: offsets 0, 1, 2, 4, 8, 72.
Bytes PfcImage() {
  Bytes bytes(136);
  bytes[0] = 8;     // pfc_cap
  bytes[1] = 0x09;  // pfc_en
  bytes[2] = 1;     // mbc
  bytes[3] = 0;     // padding
  bytes[4] = 0x2c;  // delay 300
  bytes[5] = 0x01;
  bytes[8 + 3 * 8] = 7;          // requests[3]
  bytes[72 + 3 * 8 + 1] = 1;     // indications[3] = 256
  bytes[72 + 7 * 8 + 7] = 0x80;  // indications[7] = 2^63
  return bytes;
}

TEST(DcbPfcTest, BytesAreThoseOfTheKernel) {
  const auto pfc = DcbPfc::FromBytes(PfcImage());
  ASSERT_TRUE(pfc.ok());
  EXPECT_EQ(pfc->Text(), "cap=8 enabled=0,3 mbc=1 delay=300");
  EXPECT_EQ(pfc->CountersText(), "requests=0,0,0,7,0,0,0,0 indications=0,0,0,256,0,0,0,9223372036854775808");
  EXPECT_EQ(pfc->Bytes(), PfcImage());
  EXPECT_EQ(DcbPfc::FromBytes(Bytes(135)).status().code(), Code::kInternal);
  EXPECT_TRUE(DcbPfc::FromBytes(Bytes(200)).ok()) << "a later kernel may append";
}

TEST(DcbPfcTest, ChangeTakesWhatIsNamedAndNothingWhenAnythingIsWrong) {
  DcbPfc pfc;
  ASSERT_TRUE(pfc.Change("cap=4 enabled=none delay=5").ok());
  EXPECT_EQ(pfc.capacity, 0) << "a reading";
  EXPECT_EQ(pfc.delay, 5);
  EXPECT_FALSE(pfc.Change("enabled=3 delay=65536").ok());
  EXPECT_EQ(pfc.enabled, 0);
  EXPECT_NE(pfc.Change("cap=4").message().find("no field to set"), std::string::npos);
  EXPECT_NE(pfc.Change("lossless=3").message().find("known: cap, enabled, mbc, delay"), std::string::npos);
}

TEST(DcbPfcTest, ParseNeedsEveryField) {
  EXPECT_EQ(DcbPfc::Parse("cap=8 enabled=3 mbc=0 delay=7").value().Text(), "cap=8 enabled=3 mbc=0 delay=7");
  EXPECT_FALSE(DcbPfc::Parse("cap=8 enabled=3 mbc=0").ok());
  EXPECT_FALSE(DcbPfc::Parse("").ok());
}

TEST(DcbEtsTest, BytesAreThoseOfTheKernel) {
  Bytes bytes(59);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  bytes[19 + 0] = 0;
  bytes[19 + 1] = 1;
  bytes[19 + 2] = 2;
  bytes[19 + 3] = 255;
  const auto ets = DcbEts::FromBytes(bytes);
  ASSERT_TRUE(ets.ok());
  EXPECT_EQ(ets->Text(),
            "cap=1 willing=0 cbs=2 prio_tc=27,28,29,30,31,32,33,34 "
            "tsa=strict,cb_shaper,ets,vendor,23,24,25,26 bw=3,4,5,6,7,8,9,10 "
            "rx_bw=11,12,13,14,15,16,17,18 reco_prio_tc=51,52,53,54,55,56,57,58 "
            "reco_tsa=43,44,45,46,47,48,49,50 reco_bw=35,36,37,38,39,40,41,42");
  EXPECT_EQ(ets->Bytes(), bytes);
  EXPECT_EQ(DcbEts::Parse(ets->Text()).value().Text(), ets->Text());
  EXPECT_FALSE(DcbEts::FromBytes(Bytes(58)).ok());
}

TEST(DcbBufferTest, BytesAreThoseOfTheKernel) {
  Bytes bytes(44);
  bytes[3] = 1;  // prio2buffer[3]
  bytes[8 + 4] = 0x50;
  bytes[8 + 5] = 0xc3;  // buffer_size[1] = 50000
  bytes[42] = 0x10;     // total_size = 1 MiB
  const auto buffer = DcbBuffer::FromBytes(bytes);
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ(buffer->Text(), "prio_buffer=0,0,0,1,0,0,0,0 size=0,50000,0,0,0,0,0,0 total=1048576");
  EXPECT_EQ(buffer->Bytes(), bytes);
  EXPECT_FALSE(DcbBuffer::FromBytes(Bytes(43)).ok());
}

TEST(DcbMaxRateTest, BytesAreThoseOfTheKernel) {
  Bytes bytes(64);
  bytes[3 * 8 + 3] = 1;
  const auto rate = DcbMaxRate::FromBytes(bytes);
  ASSERT_TRUE(rate.ok());
  EXPECT_EQ(rate->Text(), "kbit=0,0,0,16777216,0,0,0,0");
  EXPECT_EQ(rate->Bytes(), bytes);
  EXPECT_FALSE(DcbMaxRate::FromBytes(Bytes(63)).ok());
}

TEST(DcbxModeTest, BitsAreThoseOfTheKernel) {
  EXPECT_EQ(DcbxMode{9}.Text(), "host=1 lld_managed=0 cee=0 ieee=1 static=0");
  DcbxMode mode{DcbxMode::kStatic | DcbxMode::kCee};
  ASSERT_TRUE(mode.Change("host=1 cee=0").ok());
  EXPECT_EQ(mode.bits, 0x11);
  EXPECT_FALSE(mode.Change("host=yes").ok());
}

TEST(DcbAppTest, ALineIsAnEntry) {
  const auto app = DcbApp::FromBytes(Bytes{5, 3, 26, 0});
  ASSERT_TRUE(app.ok());
  EXPECT_EQ(app->Text(), "dscp 26 prio 3");
  EXPECT_EQ(app->Bytes(), (std::array<std::uint8_t, 4>{5, 3, 26, 0}));
  EXPECT_EQ(DcbApp::FromBytes(Bytes{1, 3, 0x15, 0x89})->Text(), "ethertype 0x8915 prio 3");
  EXPECT_EQ(DcbApp::FromBytes(Bytes{255, 3, 6, 0})->Text(), "pcp 6 prio 3");
  EXPECT_FALSE(DcbApp::FromBytes(Bytes{5, 3, 26}).ok());
  EXPECT_EQ(DcbApp::Parse(" ethertype  0x8915 prio 3 ")->Text(), "ethertype 0x8915 prio 3");
  EXPECT_EQ(DcbApp::Parse("ethertype 35093 prio 3")->Text(), "ethertype 0x8915 prio 3");
  EXPECT_EQ(DcbApp::Parse("7 12 prio 3")->Text(), "7 12 prio 3");
  for (const char* bad :
       {"", "dscp 26", "dscp 64 prio 3", "dscp 26 prio 8", "dscp 26 class 3", "5 26 prio 3", "tcp 80 prio 1",
        "dgram 65536 prio 1", "ethertype 0x10000 prio 1", "dscp 0x prio 1"})
    EXPECT_FALSE(DcbApp::Parse(bad).ok()) << bad;
}

TEST(DcbAppTest, ATableIsSortedAsTextAndHoldsEachOnce) {
  const auto table = ParseAppTable("dscp 8 prio 1\n\ndscp 26 prio 3\ndgram 4791 prio 3\ndscp 8 prio 1\n");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(AppTableText(*table), "dgram 4791 prio 3\ndscp 26 prio 3\ndscp 8 prio 1");
  EXPECT_EQ(AppTableText({}), "");
  EXPECT_FALSE(ParseAppTable("dscp 8 prio 1\nnonsense").ok());
}

}  // namespace
}  // namespace railwright
