// What every Machine promises (include/railwright/machine.h), asked of each implementation.
#include <gtest/gtest.h>

#include <cerrno>

#include "agent/machine/linux_machine.h"
#include "tests/machine/temporary_directory.h"
#include "tests/support/fake_machine.h"
#include "tests/support/faulty_machine.h"

namespace railwright::machine {
namespace {

/// One implementation, opened over the same small world.
struct Opened {
  TemporaryDirectory folder;
  std::unique_ptr<FakeMachine> fake;
  std::unique_ptr<Machine> machine;
};

struct Kind {
  const char* name;
  void (*open)(Opened&);
};

constexpr std::pair<const char*, const char*> kWorld[] = {
    {"/sys/class/net/rail0/mtu", "1500"},
    {"/sys/class/net/rail0/address", "02:00:00:00:00:01"},
    {"/proc/sys/net/x", "0"},
    {"/sys/empty", ""},
    {"/sys/lines", "a\nb"},
    {"/file/etc/exact", "\n x \n\n"}};

void OpenLinux(Opened& opened) {
  for (const auto& [path, text] : kWorld) {
    const std::string name(path);
    if (name.starts_with("/file"))
      opened.folder.Write(name.substr(5), text);
    else
      opened.folder.Write(name, std::string(text) + "\n");
  }
  opened.machine = MakeLinuxMachine({.root = opened.folder.path()});
}

std::unique_ptr<FakeMachine> Fake() {
  auto fake = std::make_unique<FakeMachine>();
  for (const auto& [path, text] : kWorld) fake->Put(path, text);
  return fake;
}

void OpenFake(Opened& opened) { opened.machine = Fake(); }

void OpenFaulty(Opened& opened) {
  opened.fake = Fake();
  opened.machine = std::make_unique<FaultyMachine>(*opened.fake, Faults{});
}

void OpenSnapshot(Opened& opened) {
  auto fake = Fake();
  const std::string directory = opened.folder.path() + "/snapshot";
  {
    auto recorder = MakeRecordingMachine(*fake, directory, false).value();
    for (const auto& [path, text] : kWorld) (void)recorder->Get(path);
    for (const char* path : {"/sys/class/net", "/sys/class/net/rail0", "/sys", "/proc/sys/net", "/file/etc"})
      (void)recorder->List(path);
  }
  opened.machine = OpenSnapshotMachine(directory).value();
}

class MachineContract : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override { GetParam().open(opened_); }
  Machine& machine() { return *opened_.machine; }
  Opened opened_;
};

TEST_P(MachineContract, GetGivesTheTextWithoutTrailingNewlinesAndFilesExactly) {
  for (const auto& [path, text] : kWorld) EXPECT_EQ(machine().Get(path).value(), text) << path;
}

TEST_P(MachineContract, ReadingTwiceGivesTheSame) {
  for (int round = 0; round < 3; ++round)
    for (const auto& [path, text] : kWorld) EXPECT_EQ(machine().Get(path).value(), text) << path;
}

TEST_P(MachineContract, WhatIsNotThereIsNotFoundWithErrno) {
  for (const char* path : {"/sys/class/net/rail9", "/proc/sys/net/y", "/file/etc/none", "/sys/none/below"}) {
    Status status = machine().Get(path).status();
    EXPECT_EQ(status.code(), Code::kNotFound) << path << ": " << status.ToString();
    EXPECT_EQ(status.error_number(), ENOENT) << path;
    EXPECT_NE(status.message().find(path), std::string::npos) << "the message names the path";
  }
  EXPECT_EQ(machine().List("/sys/class/net/rail9").status().code(), Code::kNotFound);
}

TEST_P(MachineContract, ListGivesSortedNamesDirectlyBelow) {
  EXPECT_EQ(machine().List("/sys/class/net").value(), std::vector<std::string>{"rail0"});
  EXPECT_EQ(machine().List("/sys/class/net/rail0").value(), (std::vector<std::string>{"address", "mtu"}));
}

TEST_P(MachineContract, WhatWasSetIsReadBack) {
  ASSERT_TRUE(machine().Set("/proc/sys/net/x", "1").ok());
  EXPECT_EQ(machine().Get("/proc/sys/net/x").value(), "1");
  EXPECT_EQ(machine().Get("/sys/class/net/rail0/mtu").value(), "1500") << "nothing else changes";
}

TEST_P(MachineContract, SettingWhatIsNotThereIsNotFoundAndMakesNothing) {
  EXPECT_EQ(machine().Set("/proc/sys/net/y", "1").code(), Code::kNotFound);
  EXPECT_EQ(machine().Get("/proc/sys/net/y").status().code(), Code::kNotFound);
}

TEST_P(MachineContract, AFileIsMadeReplacedExactlyAndRemoved) {
  const std::string bytes("a\0b\n\n", 5);
  ASSERT_TRUE(machine().Set("/file/etc/new", "first").ok());
  ASSERT_TRUE(machine().Set("/file/etc/new", bytes).ok());
  EXPECT_EQ(machine().Get("/file/etc/new").value(), bytes);
  EXPECT_EQ(machine().List("/file/etc").value(), (std::vector<std::string>{"exact", "new"}));
  ASSERT_TRUE(machine().Set("/file/etc/new", "").ok());
  EXPECT_EQ(machine().Get("/file/etc/new").status().code(), Code::kNotFound);
  EXPECT_EQ(machine().List("/file/etc").value(), std::vector<std::string>{"exact"});
  EXPECT_TRUE(machine().Set("/file/etc/new", "").ok()) << "removing what is gone is done";
}

/// Not asked of tests' FakeMachine, which serves whatever a test puts into it.
class ServedPathsContract : public MachineContract {};

TEST_P(ServedPathsContract, APathThatNothingServesIsUnimplementedOrUnknownNeverNotFound) {
  for (const char* path : {"/reg/0000:18:00.0/PAOS", "/nosuch/rail0"}) {
    EXPECT_NE(machine().Get(path).status().code(), Code::kNotFound) << path;
    EXPECT_FALSE(machine().Get(path).ok()) << path;
    EXPECT_FALSE(machine().Set(path, "x").ok()) << path;
  }
}

std::string NameOf(const testing::TestParamInfo<Kind>& kind) { return kind.param.name; }

INSTANTIATE_TEST_SUITE_P(EveryMachine, MachineContract,
                         testing::Values(Kind{"Linux", OpenLinux}, Kind{"Snapshot", OpenSnapshot},
                                         Kind{"Fake", OpenFake}, Kind{"Faulty", OpenFaulty}),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(ShippedMachines, ServedPathsContract,
                         testing::Values(Kind{"Linux", OpenLinux}, Kind{"Snapshot", OpenSnapshot}), NameOf);

}  // namespace
}  // namespace railwright::machine
