// /nvml over a library of our own with NVIDIA's symbols.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "agent/machine/linux_machine.h"
#include "tests/machine/fake_nvml.h"
#include "tests/machine/temporary_directory.h"

namespace railwright::machine {
namespace {

constexpr const char* kFirst = "/nvml/0000:3b:00.0";

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    library_ = ::dlopen(RAILWRIGHT_FAKE_NVML, RTLD_NOW);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    const auto find = reinterpret_cast<FakeNvml* (*)()>(::dlsym(library_, "fake_nvml_state"));
    ASSERT_NE(find, nullptr);
    fake_ = find();
    *fake_ = FakeNvml();
    machine_ = MakeLinuxMachine({.nvml_library = RAILWRIGHT_FAKE_NVML});
  }
  void TearDown() override {
    machine_.reset();
    EXPECT_EQ(fake_->initialised, 0) << "the library is left as it was found";
    ::dlclose(library_);
  }
  std::string Get(const std::string& path) { return machine_->Get(path).value_or("(error)"); }
  // What was read a moment ago may answer; a Set always makes the next Get look.
  void LookAnew() { machine_ = MakeLinuxMachine({.nvml_library = RAILWRIGHT_FAKE_NVML}); }

  void* library_ = nullptr;
  FakeNvml* fake_ = nullptr;
  std::unique_ptr<Machine> machine_;
};

TEST_F(NvmlTest, AGpuIsNamedByItsPlaceOnTheBus) {
  EXPECT_EQ(machine_->List("/nvml").value(), (std::vector<std::string>{"0000:3b:00.0", "0000:5d:00.0"}));
  EXPECT_EQ(machine_->List(kFirst).value(),
            (std::vector<std::string>{"clocks", "ecc", "persistence", "processes"}));
  EXPECT_EQ(Get("/nvml/driver"), "version=580.159.04 nvml=13.580.159.04 cuda=13.0");
  EXPECT_EQ(
      Get(kFirst),
      "name=NVIDIA_H200 uuid=GPU-8d5f0b1c-1111-2222-3333-444455556666 serial=1654922012345 persistence=off "
      "ecc_current=on ecc_pending=on mig=off mig_pending=off clocks_sm_max=1980 clocks_mem_max=3201 "
      "app_clock_sm=1980 app_clock_mem=3201");
  EXPECT_EQ(machine_->Get("/nvml/0000:99:00.0").status().error_number(), ENODEV);
  EXPECT_EQ(machine_->Get("/nvml/0000:99:00.0/ecc").status().code(), Code::kNotFound);
  EXPECT_EQ(machine_->Get("/nvml/0000:3b:00.0/fan").status().code(), Code::kUnimplemented);
}

TEST_F(NvmlTest, AWholePassInitialisesOnce) {
  for (const char* below : {"", "/persistence", "/ecc", "/clocks"})
    (void)machine_->Get(std::string(kFirst) + below);
  (void)machine_->List("/nvml");
  EXPECT_EQ(fake_->inits, 1);
  EXPECT_EQ(fake_->initialised, 0) << "and does not hold the GPUs open";
}

TEST_F(NvmlTest, WhatWasSetIsReadBack) {
  EXPECT_EQ(Get("/nvml/0000:3b:00.0/persistence"), "off");
  ASSERT_TRUE(machine_->Set("/nvml/0000:3b:00.0/persistence", "on").ok());
  EXPECT_EQ(Get("/nvml/0000:3b:00.0/persistence"), "on");
  EXPECT_EQ(fake_->gpus[1].persistence, 0) << "and no other GPU's";
  ASSERT_TRUE(machine_->Set("/nvml/0000:5d:00.0/ecc", "off").ok());
  EXPECT_EQ(Get("/nvml/0000:5d:00.0/ecc"), "current=on pending=off");
  ASSERT_TRUE(machine_->Set("/nvml/0000:3b:00.0/clocks", "sm=1710 mem=2619").ok());
  EXPECT_EQ(Get("/nvml/0000:3b:00.0/clocks"), "sm=1710 mem=2619 default_sm=1980 default_mem=3201");
  ASSERT_TRUE(machine_->Set("/nvml/0000:3b:00.0/clocks", Get("/nvml/0000:3b:00.0/clocks")).ok())
      << "as it was read";
  ASSERT_TRUE(machine_->Set("/nvml/0000:3b:00.0/clocks", "default").ok());
  EXPECT_EQ(fake_->gpus[0].sm, 1980U);
}

TEST_F(NvmlTest, RefusalsNameWhatIsAllowed) {
  const Status clocks = machine_->Set("/nvml/0000:3b:00.0/clocks", "sm=1711 mem=3201");
  EXPECT_EQ(clocks.code(), Code::kInvalidArgument);
  EXPECT_NE(clocks.message().find("memory clocks: 3201, 2619; SM clocks at 3201: 345…1980"),
            std::string::npos)
      << clocks.message();
  for (const char* bad : {"", "sm=1", "mem=3201", "sm=x mem=1", "sm=1 mem=1 fan=2", "boost"})
    EXPECT_EQ(machine_->Set("/nvml/0000:3b:00.0/clocks", bad).code(), Code::kInvalidArgument) << bad;
  for (const char* bad : {"", "1", "yes"})
    EXPECT_EQ(machine_->Set("/nvml/0000:3b:00.0/ecc", bad).code(), Code::kInvalidArgument) << bad;
  fake_->forbidden = true;
  EXPECT_EQ(machine_->Set("/nvml/0000:3b:00.0/persistence", "on").code(), Code::kPermissionDenied);
  EXPECT_EQ(machine_->Set("/nvml/0000:99:00.0/persistence", "on").code(), Code::kNotFound);
}

TEST_F(NvmlTest, WhatAGpuDoesNotHaveIsUnimplementedThereAndLeftOutElsewhere) {
  fake_->gpus[0].has_ecc = false;
  fake_->no_application_clocks = true;
  EXPECT_EQ(machine_->Get("/nvml/0000:3b:00.0/ecc").status().error_number(), EOPNOTSUPP);
  EXPECT_EQ(machine_->Get("/nvml/0000:3b:00.0/clocks").status().error_number(), EOPNOTSUPP);
  EXPECT_EQ(Get(kFirst).find("ecc"), std::string::npos);
  EXPECT_EQ(Get("/nvml/0000:5d:00.0/ecc"), "current=on pending=on");
}

TEST_F(NvmlTest, ProcessesAreListedHoweverManyAndAlwaysAnew) {
  EXPECT_EQ(Get("/nvml/0000:3b:00.0/processes"), "");
  fake_->gpus[0].processes = 2;
  EXPECT_EQ(Get("/nvml/0000:3b:00.0/processes"), "pid=1000\npid=1001");
  fake_->gpus[0].processes = 500;
  const std::string many = Get("/nvml/0000:3b:00.0/processes");
  EXPECT_EQ(std::count(many.begin(), many.end(), '\n'), 499);
  EXPECT_NE(many.find("pid=1499"), std::string::npos) << "each in its place: the layout is right";
}

TEST_F(NvmlTest, EachFailureOfTheDriverHasItsSentence) {
  struct {
    int error;
    Code code;
    const char* sentence;
  } cases[] = {{9, Code::kNotFound, "driver is not loaded"},
               {18, Code::kFailedPrecondition, "of different releases"},
               {16, Code::kFailedPrecondition, "must be reset"},
               {999, Code::kInternal, "the NVIDIA driver failed"}};
  for (const auto& one : cases) {
    LookAnew();
    fake_->init_fails = one.error;
    const Status status = machine_->Get(kFirst).status();
    EXPECT_EQ(status.code(), one.code) << status.message();
    EXPECT_NE(status.message().find(one.sentence), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("(NVML error " + std::to_string(one.error)), std::string::npos);
  }
}

TEST_F(NvmlTest, ALostGpuIsNotAShorterList) {
  fake_->gpus[1].lost = true;
  const Status status = machine_->List("/nvml").status();
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_NE(status.message().find("GPU 1 of 2: the GPU has fallen off the bus"), std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("NVML error 15: GPU is lost"), std::string::npos) << status.message();
  fake_->gpus[1].lost = false;
  EXPECT_TRUE(machine_->List("/nvml").ok()) << "an error is not remembered";
}

TEST(NvmlLibraryTest, NoLibraryIsNotFoundAndABrokenOneIsNot) {
  const auto none = MakeLinuxMachine({.nvml_library = "libnosuch-nvidia-ml.so.1"});
  const Status absent = none->Get("/nvml/driver").status();
  EXPECT_EQ(absent.code(), Code::kNotFound);
  EXPECT_EQ(absent.error_number(), ENOENT);
  EXPECT_NE(absent.message().find("no NVIDIA driver library here"), std::string::npos);
  TemporaryDirectory folder;
  folder.Write("/libnvidia-ml.so.1", "not ELF");
  const auto broken = MakeLinuxMachine({.nvml_library = folder.path() + "/libnvidia-ml.so.1"});
  EXPECT_EQ(broken->List("/nvml").status().code(), Code::kFailedPrecondition);
  const auto other = MakeLinuxMachine({.nvml_library = "libc.so.6"});
  EXPECT_NE(other->List("/nvml").status().message().find("is too old, or not NVIDIA's"), std::string::npos);
}

}  // namespace
}  // namespace railwright::machine
