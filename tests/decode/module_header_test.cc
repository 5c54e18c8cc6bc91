#include "core/decode/module_header.h"

#include <gtest/gtest.h>

#include "tests/decode/netlink_bytes.h"

namespace railwright {
namespace {

// The fields, or the error.
std::string Told(const Bytes& bytes) {
  const auto header = ModuleHeader::Decode(bytes);
  return header.ok() ? header->ToFields().Text() : header.status().ToString();
}

std::string Described(const Bytes& bytes) {
  const auto said = DescribeModule(Told(bytes));
  return said.ok() ? *said : said.status().ToString();
}

TEST(ModuleHeader, EachStandardTellsWhatItHas) {
  EXPECT_EQ(Told({0x03, 0x04, 0x07, 0x10}), "id=0x03 form=SFP interface=SFF-8472");
  EXPECT_EQ(Told({0x0d, 0x02, 0x00, 0x00}),
            "id=0x0d form=QSFP+ interface=SFF-8436 revision=4.8 flat=0 data_not_ready=0");
  EXPECT_EQ(Told({0x11, 0x08, 0x00, 0x00}),
            "id=0x11 form=QSFP28 interface=SFF-8636 revision=2.8 flat=0 data_not_ready=0");
  EXPECT_EQ(Told({0x18, 0x40, 0x00, 0x07}),
            "id=0x18 form=QSFP-DD interface=CMIS revision=4.0 flat=0 state=ready");
  EXPECT_EQ(Told({0x19, 0x52, 0x00, 0x07}),
            "id=0x19 form=OSFP interface=CMIS revision=5.2 flat=0 state=ready");
  EXPECT_EQ(Told({0x1e, 0x50, 0x00, 0x07}),
            "id=0x1e form=QSFP interface=CMIS revision=5.0 flat=0 state=ready");
}

TEST(ModuleHeader, RevisionsAreSpelledByTheirStandard) {
  const char* known[] = {"", "4.8", "4.8", "1.3", "1.4", "1.5", "2.0", "2.5", "2.8", "0x09"};
  for (std::uint8_t code = 0; code < std::size(known); ++code) {
    const auto header = ModuleHeader::Decode(Bytes{0x11, code, 0x02, 0x00});
    EXPECT_EQ(header->Revision(), known[code]) << +code;
    EXPECT_EQ(header->revision_code, code);
    EXPECT_EQ(header->interface,
              code == 1 || code == 2 ? ModuleInterface::kSff8436 : ModuleInterface::kSff8636);
  }
  EXPECT_EQ(Told({0x11, 0x00, 0x02, 0x00}), "id=0x11 form=QSFP28 interface=SFF-8636 flat=0 data_not_ready=0");
  EXPECT_EQ(ModuleHeader::Decode(Bytes{0x18, 0x5a, 0x00, 0x07})->Revision(), "5.10");
}

TEST(ModuleHeader, FlatMemoryIsABitOfEachStandardsOwn) {
  EXPECT_EQ(ModuleHeader::Decode(Bytes{0x11, 0x08, 0x04, 0x00})->flat, true);
  EXPECT_EQ(ModuleHeader::Decode(Bytes{0x11, 0x08, 0xfb, 0x00})->flat, false);
  EXPECT_EQ(ModuleHeader::Decode(Bytes{0x19, 0x50, 0x80, 0x06})->flat, true);
  EXPECT_EQ(ModuleHeader::Decode(Bytes{0x19, 0x50, 0x7f, 0x06})->flat, false);
  EXPECT_EQ(ModuleHeader::Decode(Bytes{0x03, 0x04, 0xff, 0xff})->flat, std::nullopt);
}

TEST(ModuleHeader, DataNotReadyIsOneBitOfSff8636) {
  EXPECT_EQ(ModuleHeader::Decode(Bytes{0x11, 0x08, 0x01, 0x00})->data_not_ready, true);
  EXPECT_EQ(ModuleHeader::Decode(Bytes{0x11, 0x08, 0xfe, 0x00})->data_not_ready, false);
  EXPECT_EQ(ModuleHeader::Decode(Bytes{0x19, 0x50, 0x01, 0x06})->data_not_ready, std::nullopt);
}

TEST(ModuleHeader, TheStateOfACmisModuleIsThreeBitsAndReservedCodesStayVisible) {
  const char* fields[] = {"code0", "lowpwr", "pwrup", "ready", "pwrdn", "fault", "code6", "code7"};
  const char* said[] = {"code0", "LowPwr", "PwrUp", "Ready", "PwrDn", "Fault", "code6", "code7"};
  for (std::uint8_t code = 0; code < 8; ++code) {
    // The other bits are the interrupt and reserved ones.
    for (const int rest : {0x00, 0xf1}) {
      const Bytes bytes{0x19, 0x52, 0x00, static_cast<std::uint8_t>(code << 1 | rest)};
      EXPECT_EQ(Told(bytes),
                std::string("id=0x19 form=OSFP interface=CMIS revision=5.2 flat=0 state=") + fields[code]);
      EXPECT_EQ(Described(bytes), std::string("OSFP, CMIS 5.2, state ") + said[code]);
    }
  }
}

TEST(ModuleHeader, AnUnknownIdentifierIsToldByItsNumber) {
  for (const auto& [bytes, id] : {std::pair{Bytes{0x7f, 0x50, 0x00, 0x07}, "0x7f"},
                                  {{0xff, 0x00, 0x02, 0xab}, "0xff"},
                                  {{0x00, 0x00, 0x00, 0x01}, "0x00"}}) {
    EXPECT_EQ(Told(bytes), std::string("id=") + id);
    EXPECT_EQ(Described(bytes), std::string("identifier ") + id);
  }
}

TEST(ModuleHeader, WhatIsShortSilentOrBlankIsDataLoss) {
  EXPECT_EQ(Told({}), "DataLoss: the driver gave 0 of the 4 bytes of a module's header");
  EXPECT_EQ(Told({0x19, 0x52, 0x00}), "DataLoss: the driver gave 3 of the 4 bytes of a module's header");
  EXPECT_EQ(Told({0xff, 0xff, 0xff, 0xff}),
            "DataLoss: the module's header is all 0xff: its bus does not answer");
  EXPECT_EQ(Told({0x00, 0x00, 0x00, 0x00}),
            "DataLoss: the module's header is all 0x00: nothing was read, or it is blank");
  // Whatever a driver fills up the rest of its buffer with.
  EXPECT_TRUE(Told({0xff, 0xff, 0xff, 0xff, 0x00}).starts_with("DataLoss"));
  EXPECT_TRUE(Told({0x00, 0x00, 0x00, 0x00, 0xff}).starts_with("DataLoss"));
}

TEST(ModuleHeader, ADescriptionLeavesOutWhatIsNotTold) {
  EXPECT_EQ(Described({0x03, 0x04, 0x07, 0x10}), "SFP, SFF-8472");
  EXPECT_EQ(Described({0x11, 0x08, 0x00, 0x00}), "QSFP28, SFF-8636 2.8");
  EXPECT_EQ(Described({0x11, 0x08, 0x01, 0x00}), "QSFP28, SFF-8636 2.8, data not ready");
  EXPECT_EQ(Described({0x11, 0x00, 0x00, 0x00}), "QSFP28, SFF-8636");
  for (const char* bad : {"", "OSFP", "form=OSFP"})
    EXPECT_EQ(DescribeModule(bad).status().code(), Code::kInvalidArgument) << bad;
}

TEST(ModuleEepromReply, TheDataStandsBehindTheHeader) {
  const Bytes head = Nest(1, U32(1, 2) + Text(2, "rail0"));
  EXPECT_EQ(DecodeModuleEeprom(head + Attribute(7, {0x19, 0x52, 0x00, 0x0b}))->ToFields().Text(),
            "id=0x19 form=OSFP interface=CMIS revision=5.2 flat=0 state=fault");
}

TEST(ModuleEepromReply, SuccessWithoutBytesAndACutAttributeAreDataLoss) {
  const Bytes head = Nest(1, U32(1, 2));
  for (const Bytes& answer : {head, head + Attribute(7, {})}) {
    const Status status = DecodeModuleEeprom(answer).status();
    EXPECT_EQ(status.code(), Code::kDataLoss);
    EXPECT_NE(status.message().find("the driver read nothing"), std::string::npos) << status.message();
  }
  const Bytes whole = head + Attribute(7, {0x19, 0x52, 0x00, 0x07});
  EXPECT_EQ(DecodeModuleEeprom(NetlinkBytes(whole).first(whole.size() - 1)).status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace railwright
