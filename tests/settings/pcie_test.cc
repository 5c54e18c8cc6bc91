// pcie.acs, pcie.max_read_request, pcie.relaxed_ordering over a host in memory.
#include <cerrno>

#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kCard = "0000:18:00.0";
constexpr const char* kCardPort = "/pci/0000:17:00.0/acs";
constexpr const char* kGpuPort = "/pci/0000:17:01.0/acs";
constexpr const char* kRootPort = "/pci/0000:15:01.0/acs";
constexpr const char* kRoot = "pci0000:15/0000:15:01.0";
constexpr const char* kSwitch = "pci0000:15/0000:15:01.0/0000:16:00.0";
constexpr const char* kDevctl = "/pci/0000:18:00.0/devctl";

/// A setting on port rail0, whose card is known by its PCI address.
class OnCard : public Subject {
 public:
  explicit OnCard(const std::string& key) : Subject(key) { facts.ports.front().bdf = "0000:18:00.0"; }
};

class PcieAcsTest : public testing::Test {
 protected:
  void SetUp() override {
    Function(kRoot, "060400 id=8086:352a driver=pcieport");
    Function(kSwitch, "060400 id=1000:c030 driver=pcieport");
    Function(std::string(kSwitch) + "/0000:17:00.0", "060400 id=1000:c030 driver=pcieport");
    Function(std::string(kSwitch) + "/0000:17:00.0/0000:18:00.0", "020000 id=15b3:1021 driver=mlx5_core");
    Function(std::string(kSwitch) + "/0000:17:01.0", "060400 id=1000:c030 driver=pcieport");
    Function(std::string(kSwitch) + "/0000:17:01.0/0000:19:00.0", "030200 id=10de:2330 driver=nvidia");
    for (const char* port : {kCardPort, kGpuPort, kRootPort})
      machine_.Put(port, "sv=1 tb=0 rr=1 cr=1 uf=1 ec=0");
  }
  void Function(const std::string& way, const std::string& facts) {
    tree_ += way + " class=" + facts + "\n";
    machine_.Put("/pci", tree_);
  }

  FakeMachine machine_;
  std::string tree_;
  OnCard acs_{"pcie.acs"};
};

TEST_F(PcieAcsTest, TheWordsAreTwo) {
  EXPECT_EQ(acs_.Said("p2p-direct"), "p2p-direct");
  EXPECT_EQ(acs_.Said("off"), "p2p-direct");
  EXPECT_EQ(acs_.Said("path-direct"), "path-direct");
  for (const char* bad : {"", "on", "0", "0000:17:00.0=direct", "OFF"})
    EXPECT_FALSE(acs_.Canonical(bad).ok()) << bad;
}

TEST_F(PcieAcsTest, EveryBridgeBetweenCardAndGpuIsNamedWithItsBits) {
  acs_.Wish("p2p-direct");
  const Observation seen = acs_.See(machine_);
  EXPECT_EQ(seen.value, "0000:17:00.0=rr+cr 0000:17:01.0=rr+cr")
      << "the root port is above their common switch";
  EXPECT_NE(
      seen.message.find("0000:17:01.0 redirects rr+cr: traffic with GPU 0000:19:00.0 turns round there"),
      std::string::npos)
      << seen.message;
  EXPECT_FALSE(acs_.Satisfied(machine_));
}

TEST_F(PcieAcsTest, OnlyRedirectsAreClearedAndThatTheyAreIsRead) {
  acs_.Wish("p2p-direct");
  ASSERT_TRUE(acs_.Apply(machine_, acs_.target.wish).ok());
  EXPECT_EQ(machine_.Writes(), (std::vector<std::pair<std::string, std::string>>{{kCardPort, "rr=0 cr=0"},
                                                                                 {kGpuPort, "rr=0 cr=0"}}));
  machine_.Put(kCardPort, "sv=1 tb=0 rr=0 cr=0 uf=1 ec=0").Put(kGpuPort, "sv=1 tb=0 rr=0 cr=1 uf=1 ec=0");
  EXPECT_FALSE(acs_.Satisfied(machine_)) << "one port has ignored a bit";
  machine_.Put(kGpuPort, "sv=1 tb=0 rr=0 cr=0 uf=1 ec=0");
  EXPECT_TRUE(acs_.Satisfied(machine_));
  EXPECT_EQ(acs_.See(machine_).value, "0000:17:00.0=direct 0000:17:01.0=direct");
}

TEST_F(PcieAcsTest, AnEarlierStateIsPutBackBridgeByBridge) {
  machine_.Put(kCardPort, "sv=1 rr=0 cr=0 ec=0").Put(kGpuPort, "sv=1 rr=0 cr=0 ec=0");
  ASSERT_TRUE(acs_.Apply(machine_, "0000:17:00.0=direct 0000:17:01.0=rr+ec").ok());
  EXPECT_EQ(machine_.Writes(), (std::vector<std::pair<std::string, std::string>>{{kGpuPort, "rr=1 ec=1"}}));
}

TEST_F(PcieAcsTest, PathDirectIsEveryBridgeAboveTheCard) {
  acs_.Wish("path-direct");
  EXPECT_EQ(acs_.See(machine_).value, "0000:15:01.0=rr+cr 0000:17:00.0=rr+cr 0000:17:01.0=rr+cr");
  machine_.Remove("/pci");
  tree_.clear();
  Function(kRoot, "060400 id=104c:8232");
  Function(std::string(kRoot) + "/" + kCard, "020000 id=1af4:1041 driver=virtio-pci");
  machine_.Put(kRootPort, "sv=0 rr=1");
  EXPECT_EQ(acs_.See(machine_).value, "0000:15:01.0=rr") << "without a GPU, too";
  acs_.Wish("p2p-direct");
  EXPECT_EQ(acs_.See(machine_).reason, "NoGpuNearby");
  EXPECT_EQ(acs_.Apply(machine_, "p2p-direct").code(), Code::kFailedPrecondition);
}

TEST_F(PcieAcsTest, ABridgeThatIsolatesAVirtualMachineIsNotOpened) {
  Function(std::string(kSwitch) + "/0000:17:01.0/0000:19:00.1", "030200 id=10de:2330 driver=vfio-pci");
  acs_.Wish("p2p-direct");
  const Status refused = acs_.Apply(machine_, acs_.target.wish);
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.message().find("0000:19:00.1 below bridge 0000:17:01.0 is bound to vfio-pci"),
            std::string::npos)
      << refused.message();
  EXPECT_TRUE(machine_.Writes().empty()) << "not the other bridge either";
  EXPECT_TRUE(acs_.Apply(machine_, "0000:17:01.0=rr+cr+ec").ok()) << "closing it is no harm";
}

TEST_F(PcieAcsTest, AFlatBusHasNoBridges) {
  machine_.Remove("/pci");
  tree_.clear();
  Function(std::string("pci0000:00/") + kCard, "020000 id=15b3:101e driver=mlx5_core");
  acs_.Wish("path-direct");
  EXPECT_EQ(acs_.See(machine_).reason, "NoBridges");
  EXPECT_NE(acs_.See(machine_).message.find("hypervisor"), std::string::npos);
}

TEST_F(PcieAcsTest, BridgesWithoutTheCapabilityCannotRedirect) {
  for (const char* port : {kCardPort, kGpuPort}) machine_.FailReads(port, FromErrno(ENOENT, port));
  acs_.Wish("p2p-direct");
  EXPECT_EQ(acs_.See(machine_).value, "none");
  EXPECT_TRUE(acs_.Satisfied(machine_));
  machine_.FailReads(kGpuPort, Status(Code::kUnavailable, "only 256 bytes of configuration space"));
  EXPECT_FALSE(acs_.setting->Observe(machine_, acs_.target).ok()) << "what cannot be read is not off";
  machine_.FailReads(kGpuPort, FromErrno(ENODEV, kGpuPort));
  EXPECT_FALSE(acs_.setting->Observe(machine_, acs_.target).ok());
}

TEST_F(PcieAcsTest, ATranslatingIommuIsTold) {
  acs_.Wish("p2p-direct");
  const std::string type = std::string("/sys/bus/pci/devices/") + kCard + "/iommu_group/type";
  machine_.Put(type, "identity");
  EXPECT_EQ(acs_.See(machine_).message.find("IOMMU"), std::string::npos);
  for (const char* translating : {"DMA", "DMA-FQ"}) {
    machine_.Put(type, translating);
    EXPECT_NE(acs_.See(machine_).message.find("iommu=pt"), std::string::npos) << translating;
  }
}

TEST(PcieMaxReadRequestTest, SizesArePowersOfTwo) {
  OnCard mrrs("pcie.max_read_request");
  EXPECT_EQ(mrrs.Said("4096"), "4096");
  for (const char* bad : {"", "64", "300", "8192", "4096 bytes", "04096", "4k"})
    EXPECT_FALSE(mrrs.Canonical(bad).ok()) << bad;
}

TEST(PcieMaxReadRequestTest, TheFieldIsReadAndWrittenAlone) {
  OnCard mrrs("pcie.max_read_request");
  FakeMachine machine;
  machine.Put(kDevctl, "mrrs=512 mps=256 relaxed_ordering=1 no_snoop=1");
  mrrs.Wish("4096");
  EXPECT_EQ(mrrs.See(machine).value, "512");
  EXPECT_FALSE(mrrs.Satisfied(machine));
  ASSERT_TRUE(mrrs.Apply(machine, "4096").ok());
  EXPECT_EQ(machine.Value(kDevctl), "mrrs=4096");
}

TEST(PcieMaxReadRequestTest, AVirtualFunctionHasItsPhysicalOnesValue) {
  OnCard mrrs("pcie.max_read_request");
  FakeMachine machine;
  const std::string physical = "/sys/bus/pci/devices/0000:18:00.0/physfn/uevent";
  machine.Put(kDevctl, "mrrs=128 mps=128 relaxed_ordering=0 no_snoop=0");
  machine.Put(physical, "PCI_SLOT_NAME=0000:18:00.1");
  EXPECT_EQ(mrrs.See(machine).reason, "VirtualFunction");
  machine.FailReads(physical, FromErrno(EIO, physical));
  EXPECT_FALSE(mrrs.setting->Observe(machine, mrrs.target).ok());
}

TEST(PcieMaxReadRequestTest, ANamelessInterfaceIsNotApplicableAndAMissingOneAnError) {
  Subject mrrs("pcie.max_read_request");
  FakeMachine machine;
  EXPECT_FALSE(mrrs.setting->Observe(machine, mrrs.target).ok()) << "no such interface";
  machine.Put("/rtnl/link/rail0", "ifindex=3");
  EXPECT_EQ(mrrs.See(machine).reason, "NoPciDevice");
  machine.Put("/sys/class/net/rail0/device/uevent", "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:18:00.0\nX=1");
  EXPECT_EQ(mrrs.See(machine).reason, "NoPciExpress") << "nothing stands at devctl";
  machine.FailReads(kDevctl, FromErrno(ENODEV, kDevctl));
  EXPECT_FALSE(mrrs.setting->Observe(machine, mrrs.target).ok()) << "the card is gone";
  machine.FailReads(kDevctl, Ok());
  machine.Put(kDevctl, "mps=256 relaxed_ordering=1");
  EXPECT_FALSE(mrrs.setting->Observe(machine, mrrs.target).ok()) << "a reserved encoding";
}

TEST(PcieRelaxedOrderingTest, OnAndOffAreTheBit) {
  OnCard order("pcie.relaxed_ordering");
  FakeMachine machine;
  machine.Put(kDevctl, "mrrs=512 mps=256 relaxed_ordering=0 no_snoop=1");
  order.Wish("on");
  EXPECT_EQ(order.See(machine).value, "off");
  ASSERT_TRUE(order.Apply(machine, "on").ok());
  EXPECT_EQ(machine.Value(kDevctl), "relaxed_ordering=1");
  EXPECT_TRUE(order.Satisfied(machine));
  ASSERT_TRUE(order.Apply(machine, "off").ok());
  EXPECT_EQ(machine.Value(kDevctl), "relaxed_ordering=0");
  for (const char* bad : {"", "1", "true", "yes"}) EXPECT_FALSE(order.Canonical(bad).ok()) << bad;
}

}  // namespace
}  // namespace railwright
