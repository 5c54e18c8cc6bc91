// /nvconfig over a program that stands for mstconfig: it answers in mstconfig's layout and counts its calls.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "agent/machine/backend.h"
#include "agent/tools/allow_list.h"
#include "agent/tools/tools.h"
#include "tests/machine/temporary_directory.h"

namespace railwright::machine {
namespace {

constexpr const char* kKey = "/nvconfig/0000:18:00.0/LLDP_NB_DCBX_P1";

class NvConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    root_.Write("/table",
                "Device type:        ConnectX7\n"
                "Configurations:                     Default             Current             Next Boot\n"
                "*       LLDP_NB_DCBX_P1             False(0)            True(1)             True(1)\n"
                "        CNP_DSCP_P1                 48                  48\n");
    Program("echo \"$@\" >> " + root_.path() + "/calls\ncat " + root_.path() + "/table\n");
    Device();
  }
  void Program(const std::string& script) {
    root_.Write("/mstconfig", "#!/bin/sh\n" + script);
    ::chmod(program_.c_str(), 0755);
    AllowInTests(program_);
  }
  void Device() { std::filesystem::create_directories(root_.path() + "/sys/bus/pci/devices/0000:18:00.0"); }
  void NoDevice() { std::filesystem::remove_all(root_.path() + "/sys/bus/pci/devices/0000:18:00.0"); }

  TemporaryDirectory root_;
  const std::string program_ = root_.path() + "/mstconfig";
  std::unique_ptr<Backend> backend_ =
      MakeNvConfig(root_.path(), nullptr, std::chrono::hours(1), {root_.path() + "/nosuch", program_});
};

TEST_F(NvConfigTest, AParameterIsItsThreeValues) {
  EXPECT_EQ(backend_->Get(kKey).value(), "default=False(0) current=True(1) next=True(1)");
  EXPECT_EQ(backend_->List("/nvconfig/0000:18:00.0").value(),
            (std::vector<std::string>{"CNP_DSCP_P1", "LLDP_NB_DCBX_P1"}));
  EXPECT_EQ(backend_->Get("/nvconfig/0000:18:00.0/NOSUCH").status().code(), Code::kNotFound);
  EXPECT_EQ(backend_->Get("/nvconfig/0000:18:00.0/CNP_DSCP_P1").status().code(), Code::kDataLoss)
      << "a line without a value for each column";
  EXPECT_EQ(root_.Read("/calls"), "-d 0000:18:00.0 -e q\n") << "one query answered all";
}

TEST_F(NvConfigTest, AWriteIsReadAnew) {
  ASSERT_TRUE(backend_->Get(kKey).ok());
  ASSERT_TRUE(backend_->Set(kKey, "0").ok());
  EXPECT_EQ(root_.Read("/calls"), "-d 0000:18:00.0 -e q\n-d 0000:18:00.0 -y set LLDP_NB_DCBX_P1=0\n");
  root_.Write("/table",
              "Configurations: Default Current Next Boot\n LLDP_NB_DCBX_P1 False(0) True(1) False(0)\n");
  EXPECT_EQ(backend_->Get(kKey).value(), "default=False(0) current=True(1) next=False(0)");
}

TEST_F(NvConfigTest, ACardThatWentAndCameIsReadAnew) {
  ASSERT_TRUE(backend_->Get(kKey).ok());
  NoDevice();
  EXPECT_EQ(backend_->Get(kKey).status().code(), Code::kNotFound);
  Device();
  ASSERT_TRUE(backend_->Get(kKey).ok());
  EXPECT_EQ(root_.Read("/calls"), "-d 0000:18:00.0 -e q\n-d 0000:18:00.0 -e q\n");
}

TEST_F(NvConfigTest, WhatTheProgramRefusesIsToldInItsWordsAndNotAskedAgain) {
  Program("echo x >> " + root_.path() +
          "/calls\necho '-E- Failed to open device: 0000:18:00.0.' >&2\nexit 3\n");
  for (int time = 0; time < 2; ++time) {
    const auto answer = backend_->Get(kKey);
    EXPECT_EQ(answer.status().code(), Code::kInternal);
    EXPECT_NE(answer.status().message().find("-E- Failed to open device"), std::string::npos)
        << answer.status().message();
  }
  EXPECT_EQ(root_.Read("/calls"), "x\n") << "a card that does not answer would stop every pass";
  EXPECT_EQ(backend_->Set(kKey, "1").code(), Code::kInternal);
}

TEST_F(NvConfigTest, WithoutTheProgramNothingIsKnown) {
  const auto none = MakeNvConfig(root_.path(), nullptr, std::chrono::hours(1), {root_.path() + "/nosuch"});
  EXPECT_EQ(none->Get(kKey).status().code(), Code::kUnimplemented);
  EXPECT_EQ(none->Set(kKey, "1").code(), Code::kUnimplemented);
}

TEST_F(NvConfigTest, NothingButANameAndAValueReachesTheProgram) {
  for (const char* path :
       {"/nvconfig/0000:18:00.0/lower", "/nvconfig/0000:18:00.0/A=1", "/nvconfig/0000:18:00.0/-d"})
    EXPECT_EQ(backend_->Set(path, "1").code(), Code::kInvalidArgument) << path;
  for (const char* value : {"", "1 2", "-y", "a=b", "1,A=2"})
    EXPECT_EQ(backend_->Set(kKey, value).code(), Code::kInvalidArgument) << value;
  EXPECT_EQ(backend_->Get("/nvconfig/18:00.0/A").status().code(), Code::kUnimplemented);
  EXPECT_EQ(root_.Read("/calls"), "");
}

}  // namespace
}  // namespace railwright::machine
