#include "core/decode/pci_config.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace railwright {
namespace {

// Configuration space of a function, written byte by byte.
class Space {
 public:
  explicit Space(std::size_t size) : bytes_(size, '\0') { U16(0, 0x15b3).U16(2, 0x1021); }
  Space& U8(std::size_t at, unsigned value) {
    bytes_[at] = static_cast<char>(value);
    return *this;
  }
  Space& U16(std::size_t at, unsigned value) { return U8(at, value & 0xff).U8(at + 1, value >> 8); }
  Space& U32(std::size_t at, unsigned value) { return U16(at, value & 0xffff).U16(at + 2, value >> 16); }
  // A list of one power management capability (0x01) and PCI Express behind it.
  Space& WithExpress(unsigned type, unsigned control) {
    U16(6, 0x10).U8(0x34, 0x40).U8(0x40, 0x01).U8(0x41, 0x60);
    return U8(0x60, kPciCapExpress).U8(0x61, 0).U16(0x62, type << 4 | 2).U16(0x68, control);
  }
  // AER (0x0001) at 0x100, ACS behind it.
  Space& WithAcs(unsigned capability, unsigned control) {
    return U32(0x100, 0x0001 | 1 << 16 | 0x150 << 20)
        .U32(0x150, kPciExtCapAcs | 1 << 16)
        .U16(0x154, capability)
        .U16(0x156, control);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

Result<PciExpress> Express(const std::string& bytes) {
  const auto config = PciConfig::Decode(bytes);
  return config.ok() ? config->Express() : Result<PciExpress>(config.status());
}

Result<PciAcs> Acs(const std::string& bytes) {
  const auto config = PciConfig::Decode(bytes);
  return config.ok() ? config->Acs() : Result<PciAcs>(config.status());
}

TEST(PciConfig, DeviceControlIsFoundBehindAnotherCapability) {
  const Space space = Space(256).WithExpress(6, 0x5930);
  const auto express = Express(space.bytes());
  ASSERT_TRUE(express.ok()) << express.status().ToString();
  EXPECT_EQ(express->type, "downstream");
  EXPECT_EQ(express->control_at, 0x68U);
  EXPECT_EQ(express->read_request, 4096U);
  EXPECT_EQ(express->payload, 256U);
  EXPECT_TRUE(express->relaxed_ordering);
  EXPECT_TRUE(express->no_snoop);
}

TEST(PciConfig, ReservedSizesAreNoSizes) {
  const auto express = Express(Space(256).WithExpress(0, 0x70c0).bytes());
  ASSERT_TRUE(express.ok());
  EXPECT_FALSE(express->read_request);
  EXPECT_FALSE(express->payload);
  EXPECT_EQ(PciCodeOfBytes(4096), 5U);
  EXPECT_FALSE(PciCodeOfBytes(8192));
  EXPECT_FALSE(PciCodeOfBytes(0));
  EXPECT_FALSE(PciCodeOfBytes(300));
}

TEST(PciConfig, AcsTellsWhatTheFunctionHasAndWhatIsOn) {
  const auto acs = Acs(Space(4096).WithExpress(4, 0).WithAcs(0x5f, 0x1d).bytes());
  ASSERT_TRUE(acs.ok()) << acs.status().ToString();
  EXPECT_EQ(acs->control_at, 0x156U);
  EXPECT_EQ(acs->capability, 0x5f);
  EXPECT_EQ(acs->control, 0x1d);
}

TEST(PciConfig, OnlyAWholeListProvesThatACapabilityIsMissing) {
  EXPECT_EQ(Express(Space(256).bytes()).status().code(), Code::kNotFound) << "no list at all";
  EXPECT_EQ(Acs(Space(256).bytes()).status().code(), Code::kNotFound) << "conventional PCI";
  Space without(4096);
  without.WithExpress(0, 0).U32(0x100, 0x0001 | 1 << 16);
  EXPECT_EQ(Acs(without.bytes()).status().code(), Code::kNotFound);
  EXPECT_EQ(Acs(Space(4096).WithExpress(0, 0).bytes()).status().code(), Code::kNotFound) << "an empty list";
}

TEST(PciConfig, AShortReadIsNeverAMissingCapability) {
  const Space whole = Space(4096).WithExpress(4, 0x2000).WithAcs(0x1f, 0x1d);
  const auto header = Express(whole.bytes().substr(0, 64));
  EXPECT_EQ(header.status().code(), Code::kPermissionDenied);
  EXPECT_NE(header.status().message().find("only 64 bytes"), std::string::npos) << header.status().message();
  EXPECT_NE(header.status().message().find("CAP_SYS_ADMIN"), std::string::npos);
  const auto no_extended = Acs(whole.bytes().substr(0, 256));
  EXPECT_EQ(no_extended.status().code(), Code::kUnavailable);
  EXPECT_NE(no_extended.status().message().find("MMCONFIG"), std::string::npos);
  for (std::size_t size = 64; size < 0x158; ++size) {
    const auto acs = Acs(whole.bytes().substr(0, size));
    EXPECT_FALSE(acs.ok()) << size;
    EXPECT_NE(acs.status().code(), Code::kNotFound) << size;
  }
  EXPECT_FALSE(PciConfig::Decode(whole.bytes().substr(0, 63)).ok());
}

TEST(PciConfig, ADeviceThatDoesNotAnswerIsUnavailable) {
  const auto gone = PciConfig::Decode(std::string(4096, '\xff'));
  EXPECT_EQ(gone.status().code(), Code::kUnavailable);
  EXPECT_EQ(gone.status().error_number(), ENODEV);
  Space half = Space(4096).WithExpress(4, 0);
  half.U32(0x100, 0xffffffff);
  EXPECT_EQ(Acs(half.bytes()).status().code(), Code::kUnavailable) << "its extended space is gone";
}

TEST(PciConfig, DamagedListsEndWithAnError) {
  Space loop =
      Space(256).U16(6, 0x10).U8(0x34, 0x40).U8(0x40, 0x01).U8(0x41, 0x50).U8(0x50, 0x05).U8(0x51, 0x40);
  EXPECT_EQ(Express(loop.bytes()).status().code(), Code::kDataLoss);
  Space into_header = Space(256).U16(6, 0x10).U8(0x34, 0x40).U8(0x40, 0x01).U8(0x41, 0x10);
  EXPECT_EQ(Express(into_header.bytes()).status().code(), Code::kDataLoss);
  Space extended = Space(4096).WithExpress(4, 0).U32(0x100, 1 | 1 << 16 | 0x140 << 20);
  extended.U32(0x140, 2 | 1 << 16 | 0x100 << 20);
  EXPECT_EQ(Acs(extended.bytes()).status().code(), Code::kDataLoss);
  Space backwards = Space(4096).WithExpress(4, 0).U32(0x100, 1 | 1 << 16 | 0x040 << 20);
  EXPECT_EQ(Acs(backwards.bytes()).status().code(), Code::kDataLoss);
  Space at_the_end = Space(4096).WithExpress(4, 0).U32(0x100, 1 | 1 << 16 | 0xffcU << 20);
  at_the_end.U32(0xffc, kPciExtCapAcs | 1 << 16);
  EXPECT_FALSE(Acs(at_the_end.bytes()).ok()) << "its registers would lie behind the end";
}

}  // namespace
}  // namespace railwright
