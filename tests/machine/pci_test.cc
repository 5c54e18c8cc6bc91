// /pci over a directory that stands for sysfs.
#include <gtest/gtest.h>

#include <cerrno>

#include "agent/machine/linux_machine.h"
#include "tests/machine/temporary_directory.h"

namespace railwright::machine {
namespace {

constexpr const char* kBridge = "0000:15:01.0";
constexpr const char* kCard = "0000:16:00.0";

class PciTest : public testing::Test {
 protected:
  // A function at the end of `way` ("pci0000:15/0000:15:01.0") with the bytes of its configuration space.
  void Function(const std::string& way, const std::string& uevent, const std::string& config) {
    const std::string bdf = way.substr(way.rfind('/') + 1);
    const std::string device = "/sys/devices/" + way;
    root_.Write(device + "/uevent", uevent);
    root_.Write(device + "/config", config);
    std::filesystem::create_directories(root_.path() + "/sys/bus/pci/devices");
    std::filesystem::create_directory_symlink("../../../devices/" + way,
                                              root_.path() + "/sys/bus/pci/devices/" + bdf);
  }
  static void U16(std::string& bytes, std::size_t at, unsigned value) {
    bytes[at] = static_cast<char>(value & 0xff);
    bytes[at + 1] = static_cast<char>(value >> 8);
  }
  // PCI Express at 0x40, Device Control at 0x48.
  static std::string Express(std::size_t size, unsigned type, unsigned control) {
    std::string bytes(size, '\0');
    U16(bytes, 0, 0x8086);
    U16(bytes, 6, 0x10);
    bytes[0x34] = 0x40;
    bytes[0x40] = 0x10;
    U16(bytes, 0x42, type << 4 | 2);
    U16(bytes, 0x48, control);
    return bytes;
  }
  // ACS at 0x100: capability at 0x104, control at 0x106.
  static std::string WithAcs(std::string bytes, unsigned capability, unsigned control) {
    U16(bytes, 0x100, 0x000d);
    U16(bytes, 0x102, 0x0001);
    U16(bytes, 0x104, capability);
    U16(bytes, 0x106, control);
    return bytes;
  }
  std::string Config(const char* bdf) const {
    return root_.Read("/sys/bus/pci/devices/" + std::string(bdf) + "/config");
  }
  static unsigned At(const std::string& bytes, std::size_t at) {
    return static_cast<unsigned char>(bytes[at]) | static_cast<unsigned char>(bytes[at + 1]) << 8;
  }
  void BridgeAndCard() {
    Function(std::string("pci0000:15/") + kBridge, "DRIVER=pcieport\nPCI_CLASS=60400\nPCI_ID=8086:352A\n",
             WithAcs(Express(4096, 4, 0x2810), 0x1f, 0x1d));
    Function(std::string("pci0000:15/") + kBridge + "/" + kCard, "PCI_CLASS=20000\nPCI_ID=15B3:1021\n",
             Express(4096, 0, 0x2930));
  }

  TemporaryDirectory root_;
  std::unique_ptr<Machine> machine_ = MakeLinuxMachine({.root = root_.path()});
};

TEST_F(PciTest, TheTreeIsOneLineAFunction) {
  BridgeAndCard();
  EXPECT_EQ(machine_->Get("/pci").value(),
            "pci0000:15/0000:15:01.0 class=060400 id=8086:352a driver=pcieport\n"
            "pci0000:15/0000:15:01.0/0000:16:00.0 class=020000 id=15b3:1021");
  EXPECT_EQ(machine_->List("/pci").value(), (std::vector<std::string>{kBridge, kCard}));
  EXPECT_EQ(machine_->List(std::string("/pci/") + kCard).value(),
            (std::vector<std::string>{"acs", "devctl", "type"}));
}

TEST_F(PciTest, AHostBridgeBelowAFunctionBeginsAWayOfItsOwn) {
  Function("pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0", "PCI_CLASS=60400\nPCI_ID=8086:9A09\n",
           Express(256, 4, 0));
  EXPECT_EQ(machine_->Get("/pci").value(), "pci10000:e0/10000:e0:06.0 class=060400 id=8086:9a09");
}

TEST_F(PciTest, AcsShowsTheBitsThatTheFunctionHas) {
  BridgeAndCard();
  EXPECT_EQ(machine_->Get("/pci/0000:15:01.0/acs").value(), "sv=1 tb=0 rr=1 cr=1 uf=1");
  const auto none = machine_->Get("/pci/0000:16:00.0/acs");
  EXPECT_EQ(none.status().code(), Code::kNotFound);
  EXPECT_EQ(none.status().error_number(), ENOENT) << "the function is there, the capability is not";
  EXPECT_EQ(machine_->Get("/pci/0000:99:00.0/acs").status().error_number(), ENODEV);
}

TEST_F(PciTest, WhatWasFoundOnceIsReadAtItsPlaceAndNeverElse) {
  BridgeAndCard();
  ASSERT_EQ(machine_->Get("/pci/0000:15:01.0/acs").value(), "sv=1 tb=0 rr=1 cr=1 uf=1");
  ASSERT_EQ(machine_->Get("/pci/0000:16:00.0/acs").status().code(), Code::kNotFound);
  const std::string bridge = "/sys/devices/pci0000:15/0000:15:01.0/config";
  const std::string card = "/sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/config";
  // The capability moves, and a card that had none has it: another device behind the same address.
  std::string moved = Express(4096, 4, 0);
  U16(moved, 0x100, 0x0001);
  U16(moved, 0x102, 0x2001);
  root_.Write(bridge, moved.replace(0x200, 8, WithAcs(Express(4096, 4, 0), 0x0c, 0x08), 0x100, 8));
  EXPECT_EQ(machine_->Get("/pci/0000:15:01.0/acs").value(), "rr=0 cr=1");
  std::string other = WithAcs(Express(4096, 0, 0), 0x04, 0);
  U16(other, 0, 0x10de);
  root_.Write(card, other);
  EXPECT_EQ(machine_->Get("/pci/0000:16:00.0/acs").value(), "rr=0");
  root_.Write(bridge, std::string(4096, '\xff'));
  EXPECT_EQ(machine_->Get("/pci/0000:15:01.0/acs").status().code(), Code::kUnavailable) << "gone since";
  root_.Write(card, std::string(4096, '\xff'));
  EXPECT_EQ(machine_->Get("/pci/0000:16:00.0/acs").status().code(), Code::kUnavailable);
}

TEST_F(PciTest, OnlyTheNamedBitsOfAcsAreWritten) {
  BridgeAndCard();
  const std::string before = Config(kBridge);
  ASSERT_TRUE(machine_->Set("/pci/0000:15:01.0/acs", "rr=0 cr=0").ok());
  EXPECT_EQ(machine_->Get("/pci/0000:15:01.0/acs").value(), "sv=1 tb=0 rr=0 cr=0 uf=1");
  std::string expected = before;
  U16(expected, 0x106, 0x11);
  EXPECT_EQ(Config(kBridge), expected) << "two bytes, and no others";
  EXPECT_EQ(machine_->Set("/pci/0000:15:01.0/acs", "ec=0").code(), Code::kInvalidArgument)
      << "it has no such bit";
  EXPECT_EQ(machine_->Set("/pci/0000:15:01.0/acs", "rr=2").code(), Code::kInvalidArgument);
  EXPECT_EQ(machine_->Set("/pci/0000:15:01.0/acs", "").code(), Code::kOk) << "nothing is named";
  EXPECT_EQ(Config(kBridge), expected);
}

TEST_F(PciTest, DeviceControlIsWrittenFieldByFieldAndNeverResets) {
  BridgeAndCard();
  EXPECT_EQ(machine_->Get("/pci/0000:16:00.0/devctl").value(),
            "mrrs=512 mps=256 relaxed_ordering=1 no_snoop=1");
  ASSERT_TRUE(machine_->Set("/pci/0000:16:00.0/devctl", "mrrs=4096").ok());
  EXPECT_EQ(At(Config(kCard), 0x48), 0x5930U);
  ASSERT_TRUE(
      machine_->Set("/pci/0000:16:00.0/devctl", "mrrs=128 mps=256 relaxed_ordering=0 no_snoop=0").ok());
  EXPECT_EQ(At(Config(kCard), 0x48), 0x0120U);
  for (const char* bad : {"mrrs=0", "mrrs=8192", "mrrs=300", "mps=512", "flr=1", "relaxed_ordering=on", "x"})
    EXPECT_EQ(machine_->Set("/pci/0000:16:00.0/devctl", bad).code(), Code::kInvalidArgument) << bad;
  EXPECT_EQ(At(Config(kCard), 0x48), 0x0120U);
}

TEST_F(PciTest, TheResetBitIsNeverWrittenBackAsOne) {
  Function(std::string("pci0000:15/") + kCard, "PCI_CLASS=20000\nPCI_ID=15B3:1021\n",
           Express(256, 0, 0xa000));
  ASSERT_TRUE(machine_->Set("/pci/0000:16:00.0/devctl", "relaxed_ordering=1").ok());
  EXPECT_EQ(At(Config(kCard), 0x48), 0x2010U);
}

TEST_F(PciTest, TheTypeIsThatOfItsPort) {
  BridgeAndCard();
  EXPECT_EQ(machine_->Get("/pci/0000:15:01.0/type").value(), "root_port");
  EXPECT_EQ(machine_->Get("/pci/0000:16:00.0/type").value(), "endpoint");
  EXPECT_EQ(machine_->Set("/pci/0000:15:01.0/type", "endpoint").code(), Code::kUnimplemented);
}

TEST_F(PciTest, WhatCannotBeReadIsAnErrorNotAnAnswer) {
  Function(std::string("pci0000:15/") + kBridge, "PCI_CLASS=60400\nPCI_ID=8086:352A\n",
           Express(256, 4, 0).substr(0, 64));
  const auto acs = machine_->Get("/pci/0000:15:01.0/acs");
  EXPECT_EQ(acs.status().code(), Code::kPermissionDenied) << "an unprivileged reader gets 64 bytes";
  EXPECT_NE(acs.status().message().find("/pci/0000:15:01.0/acs: short read: only 64 bytes"),
            std::string::npos)
      << acs.status().message();
  Function(std::string("pci0000:15/") + kCard, "PCI_CLASS=20000\nPCI_ID=15B3:1021\n",
           std::string(4096, '\xff'));
  EXPECT_EQ(machine_->Get("/pci/0000:16:00.0/devctl").status().code(), Code::kUnavailable)
      << "the card is gone";
  EXPECT_EQ(machine_->Set("/pci/0000:16:00.0/devctl", "mrrs=512").code(), Code::kUnavailable);
}

TEST_F(PciTest, PathsThatAreNoneAreUnimplemented) {
  BridgeAndCard();
  for (const char* path :
       {"/pci/0000:15:01.0", "/pci/0000:15:01.0/bar", "/pci/15:01.0/acs", "/pci/0000:15:01.0/acs/x"})
    EXPECT_EQ(machine_->Get(path).status().code(), Code::kUnimplemented) << path;
}

}  // namespace
}  // namespace railwright::machine
