// gpu.persistence, gpu.ecc, gpu.count and gpu.clocks.
#include <cerrno>

#include "core/decode/mixed_value.h"
#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

const std::vector<std::string> kGpus{"0000:19:00.0", "0000:3c:00.0", "0000:4d:00.0"};

FakeMachine& ThreeGpus(FakeMachine& machine) {
  machine.PutList("/nvml", kGpus);
  for (const std::string& bdf : kGpus) {
    machine.Put("/nvml/" + bdf + "/persistence", "on")
        .Put("/nvml/" + bdf + "/ecc", "current=on pending=on")
        .Put("/nvml/" + bdf + "/clocks", "sm=1980 mem=2619 default_sm=1980 default_mem=2619")
        .Put("/sys/bus/pci/devices/" + bdf + "/class", "0x030200")
        .Put("/sys/bus/pci/devices/" + bdf + "/vendor", "0x10de");
  }
  return machine;
}

TEST(MixedValueTest, TheOddOnesAreNamedAndComeBack) {
  EXPECT_EQ(MixedText({}), "");
  EXPECT_EQ(MixedText({{"a", "on"}, {"b", "on"}}), "on");
  const NamedValues three{{"a", "on"}, {"b", "sm=1 mem=2"}, {"c", "on"}, {"d", "off"}};
  EXPECT_EQ(MixedText(three), "mixed: on 2, sm=1 mem=2 1, off 1; sm=1 mem=2: b; off: d");
  EXPECT_EQ(*ParseMixed(MixedText(three), {"a", "b", "c", "d"}), three);
  EXPECT_EQ(*ParseMixed("off", {"a"}), (NamedValues{{"a", "off"}}));
  for (const char* bad : {"mixed: ", "mixed: on 2", "mixed: on 1; off b", "mixed: on 1; off: z"})
    EXPECT_FALSE(ParseMixed(bad, {"a", "b"}).ok()) << bad;
}

TEST(GpuPersistenceTest, OneValueForAllAndTheOddOneByName) {
  Subject persistence("gpu.persistence");
  FakeMachine machine;
  ThreeGpus(machine);
  persistence.Wish("on");
  EXPECT_TRUE(persistence.Satisfied(machine));
  machine.Put("/nvml/0000:3c:00.0/persistence", "off");
  EXPECT_EQ(persistence.See(machine).value, "mixed: on 2, off 1; off: 0000:3c:00.0");
  EXPECT_FALSE(persistence.Satisfied(machine));
  const std::string original = persistence.See(machine).value;
  ASSERT_TRUE(persistence.Apply(machine, "on").ok());
  EXPECT_EQ(machine.Writes().size(), 1U) << "the others have it";
  EXPECT_TRUE(persistence.Satisfied(machine));
  ASSERT_TRUE(persistence.Apply(machine, original).ok());
  EXPECT_EQ(persistence.See(machine).value, original);
  EXPECT_FALSE(persistence.Apply(machine, "maybe").ok());
  machine.Put("/nvml/0000:3c:00.0/persistence", "?");
  EXPECT_FALSE(persistence.setting->Observe(machine, persistence.target).ok());
}

TEST(GpuPersistenceTest, NoGpuIsNotApplicableAndAGpuWithoutDriverIsAnError) {
  for (const char* key : {"gpu.persistence", "gpu.ecc", "gpu.clocks"}) {
    const Subject gpu(key);
    FakeMachine machine;
    machine.FailReads("/nvml", Status(Code::kNotFound, "no NVIDIA driver library here", ENOENT));
    EXPECT_EQ(gpu.See(machine).reason, "NoGpu") << key;
    machine.Put("/sys/bus/pci/devices/0000:19:00.0/class", "0x030200")
        .Put("/sys/bus/pci/devices/0000:19:00.0/vendor", "0x1002");
    EXPECT_EQ(gpu.See(machine).reason, "NoGpu") << "of another vendor";
    machine.Put("/sys/bus/pci/devices/0000:19:00.0/vendor", "0x10de");
    const auto observed = gpu.setting->Observe(machine, gpu.target);
    EXPECT_EQ(observed.status().code(), Code::kFailedPrecondition) << key;
    EXPECT_NE(observed.status().message().find("0000:19:00.0"), std::string::npos);
    machine.FailReads("/nvml", Status(Code::kFailedPrecondition, "GPU 1 of 8 is lost", ENODEV));
    EXPECT_FALSE(gpu.setting->Observe(machine, gpu.target).ok()) << key;
  }
}

TEST(GpuEccTest, WhatIsWrittenWaitsForAReset) {
  Subject ecc("gpu.ecc");
  FakeMachine machine;
  ThreeGpus(machine);
  machine.on_set = [&](const std::string& path, const std::string& value) {
    machine.Put(path, "current=on pending=" + value);
  };
  ecc.Wish("off");
  EXPECT_EQ(ecc.See(machine).value, "on");
  EXPECT_FALSE(ecc.See(machine).pending_reboot);
  ASSERT_TRUE(ecc.Apply(machine, "off").ok());
  const Observation written = ecc.See(machine);
  EXPECT_EQ(written.value, "on>off");
  EXPECT_TRUE(written.pending_reboot);
  EXPECT_NE(written.message.find("when the GPUs are reset"), std::string::npos);
  ecc.Wish("on");
  EXPECT_FALSE(ecc.See(machine).pending_reboot);
  EXPECT_FALSE(ecc.Satisfied(machine)) << "on now, and off after the next boot";
  ASSERT_TRUE(ecc.Apply(machine, "on").ok());
  EXPECT_EQ(ecc.See(machine).value, "on");
  EXPECT_TRUE(ecc.Satisfied(machine));
}

TEST(GpuEccTest, AGpuWithoutEccIsLeftOut) {
  Subject ecc("gpu.ecc");
  FakeMachine machine;
  ThreeGpus(machine);
  machine.FailReads("/nvml/0000:3c:00.0/ecc", FromErrno(EOPNOTSUPP, "/nvml/0000:3c:00.0/ecc"));
  EXPECT_EQ(ecc.See(machine).value, "on");
  for (const std::string& bdf : kGpus) machine.FailReads("/nvml/" + bdf + "/ecc", FromErrno(EOPNOTSUPP, bdf));
  EXPECT_EQ(ecc.See(machine).reason, "NoEcc");
}

TEST(GpuCountTest, LostGpusAreToldByTheBus) {
  Subject count("gpu.count");
  FakeMachine machine;
  ThreeGpus(machine);
  count.Wish("3");
  EXPECT_TRUE(count.Satisfied(machine));
  machine.PutList("/nvml", {kGpus[0], kGpus[2]});
  machine.Remove("/nvml/0000:3c:00.0");
  EXPECT_EQ(count.See(machine).value, "2");
  EXPECT_NE(count.See(machine).message.find("not in the driver: 0000:3c:00.0"), std::string::npos);
  EXPECT_FALSE(count.Satisfied(machine));
  machine.FailReads("/nvml", Status(Code::kNotFound, "no NVIDIA driver library here", ENOENT));
  EXPECT_EQ(count.See(machine).value, "0") << "no driver shows none, and that is drift, not silence";
  machine.FailReads("/nvml", Status(Code::kFailedPrecondition, "of different releases", ELIBBAD));
  EXPECT_FALSE(count.setting->Observe(machine, count.target).ok());
  for (const char* bad : {"", "-1", "65", "eight", "08"}) EXPECT_FALSE(count.Canonical(bad).ok()) << bad;
  EXPECT_EQ(count.Apply(machine, "3").code(), Code::kUnimplemented);
}

TEST(GpuClocksTest, DefaultsAreAWordAndPairsAreWhole) {
  Subject clocks("gpu.clocks");
  EXPECT_EQ(clocks.Said("mem=2619, sm=1980"), "sm=1980 mem=2619");
  for (const char* bad :
       {"", "sm=1980", "sm=0 mem=1", "sm=1980 sm=1 mem=2", "max", "default sm=1", "sm=1,5 mem=2"})
    EXPECT_FALSE(clocks.Canonical(bad).ok()) << bad;
  FakeMachine machine;
  ThreeGpus(machine);
  clocks.Wish("default");
  EXPECT_TRUE(clocks.Satisfied(machine));
  clocks.Wish("sm=1980 mem=2619");
  EXPECT_TRUE(clocks.Satisfied(machine)) << "the same clocks, named";
  machine.Put("/nvml/0000:4d:00.0/clocks", "sm=1200 mem=2619 default_sm=1980 default_mem=2619");
  EXPECT_FALSE(clocks.Satisfied(machine));
  clocks.Wish("default");
  EXPECT_EQ(clocks.See(machine).value,
            "mixed: default 2, sm=1200 mem=2619 1; sm=1200 mem=2619: 0000:4d:00.0");
  ASSERT_TRUE(clocks.Apply(machine, "default").ok());
  EXPECT_EQ(machine.Writes(),
            (std::vector<std::pair<std::string, std::string>>{{"/nvml/0000:4d:00.0/clocks", "default"}}));
}

TEST(GpuClocksTest, GpusWithoutApplicationClocksAreNotApplicable) {
  const Subject clocks("gpu.clocks");
  FakeMachine machine;
  ThreeGpus(machine);
  for (const std::string& bdf : kGpus)
    machine.FailReads("/nvml/" + bdf + "/clocks", FromErrno(EOPNOTSUPP, "/nvml/" + bdf + "/clocks"));
  EXPECT_EQ(clocks.See(machine).reason, "NoApplicationClocks");
}

}  // namespace
}  // namespace railwright
