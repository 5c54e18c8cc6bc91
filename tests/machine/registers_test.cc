// /reg over a program that stands for mstreg: it answers in mstreg's layout, keeps what it is told, and
// counts its calls.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "agent/machine/backend.h"
#include "agent/tools/allow_list.h"
#include "tests/machine/temporary_directory.h"

namespace railwright::machine {
namespace {

constexpr const char* kRegister = "/reg/0000:18:00.0/ROCE_ACCL";
constexpr const char* kAsk = "-d 0000:18:00.0 --yes --reg_name ROCE_ACCL --get\n";

class RegistersTest : public testing::Test {
 protected:
  void SetUp() override {
    root_.Write("/table",
                "Sending access register...\n\nField Name | Data\n========\n"
                "roce_tx_window_field_select | 0x00000001\nroce_tx_window_en | 0x00000000\n========\n");
    Program("echo \"$@\" >> " + root_.path() + "/calls\ncat " + root_.path() + "/table\n");
    std::filesystem::create_directories(Device());
  }
  void Program(const std::string& script) {
    root_.Write("/mstreg", "#!/bin/sh\n" + script);
    ::chmod(program_.c_str(), 0755);
    AllowInTests(program_);
  }
  std::string Device() const { return root_.path() + "/sys/bus/pci/devices/0000:18:00.0"; }

  TemporaryDirectory root_;
  const std::string program_ = root_.path() + "/mstreg";
  std::unique_ptr<Backend> backend_ =
      MakeRegisters(root_.path(), nullptr, std::chrono::hours(1), {root_.path() + "/nosuch", program_});
};

TEST_F(RegistersTest, ARegisterIsItsFieldsAndIsAskedOnce) {
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ(backend_->Get(kRegister).value(), "roce_tx_window_field_select=1 roce_tx_window_en=0");
  EXPECT_EQ(root_.Read("/calls"), kAsk);
  EXPECT_EQ(backend_->List("/reg/0000:18:00.0").value(), std::vector<std::string>{"ROCE_ACCL"});
}

TEST_F(RegistersTest, AWriteNamesItsFieldsAndIsReadAnew) {
  ASSERT_TRUE(backend_->Get(kRegister).ok());
  ASSERT_TRUE(backend_->Set(kRegister, "roce_tx_window_field_select=1 roce_tx_window_en=1").ok());
  ASSERT_TRUE(backend_->Get(kRegister).ok());
  EXPECT_EQ(root_.Read("/calls"), std::string(kAsk) +
                                      "-d 0000:18:00.0 --yes --reg_name ROCE_ACCL --set "
                                      "roce_tx_window_field_select=1,roce_tx_window_en=1\n" +
                                      kAsk);
}

TEST_F(RegistersTest, OnlyRegistersThatASettingStandsForAreServed) {
  EXPECT_EQ(backend_->Get("/reg/0000:18:00.0/PAOS").status().code(), Code::kUnimplemented);
  EXPECT_EQ(backend_->Set("/reg/0000:18:00.0/PAOS", "e=0").code(), Code::kUnimplemented);
  EXPECT_EQ(backend_->Get("/reg/18:00.0/ROCE_ACCL").status().code(), Code::kUnimplemented);
  EXPECT_EQ(root_.Read("/calls"), "");
}

TEST_F(RegistersTest, NothingButFieldsAndNumbersReachesTheProgram) {
  for (const char* value : {"", "x", "a=b", "a=-1", "a=4294967296", "-a=1", "a,b=1", "a=1,b=2", "a=0x1"})
    EXPECT_EQ(backend_->Set(kRegister, value).code(), Code::kInvalidArgument) << value;
  EXPECT_EQ(root_.Read("/calls"), "");
}

TEST_F(RegistersTest, WhatTheProgramRefusesIsToldInItsWords) {
  Program("echo '-E- Failed to send access register: ME_REG_ACCESS_REG_NOT_SUPP' >&2\nexit 1\n");
  const auto answer = backend_->Get(kRegister);
  EXPECT_EQ(answer.status().code(), Code::kInternal);
  EXPECT_NE(answer.status().message().find("ME_REG_ACCESS_REG_NOT_SUPP"), std::string::npos);
  EXPECT_EQ(backend_->Set(kRegister, "roce_tx_window_en=1").code(), Code::kInternal);
}

TEST_F(RegistersTest, WithoutTheProgramNothingIsKnownAndWithoutTheCardThereIsNone) {
  const auto none = MakeRegisters(root_.path(), nullptr, std::chrono::hours(1), {root_.path() + "/nosuch"});
  EXPECT_EQ(none->Get(kRegister).status().code(), Code::kUnimplemented);
  EXPECT_EQ(none->Set(kRegister, "roce_tx_window_en=1").code(), Code::kUnimplemented);
  std::filesystem::remove_all(Device());
  EXPECT_EQ(backend_->Get(kRegister).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace railwright::machine
