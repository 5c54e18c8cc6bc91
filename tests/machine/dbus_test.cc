// /dbus against a private bus with a systemd that remembers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "agent/machine/backend.h"
#include "tests/machine/fake_systemd.h"
#include "tests/machine/temporary_directory.h"

namespace railwright::machine {
namespace {

constexpr const char* kUnit = "/dbus/unit/openibd.service";

class DbusTest : public testing::Test {
 protected:
  void SetUp() override {
    if (systemd_.address().empty()) GTEST_SKIP() << "no dbus-daemon here";
    std::filesystem::create_directories(root_.path() + "/run/systemd/system");
    backend_ = MakeDbus(root_.path(), systemd_.address(), std::chrono::milliseconds(300));
    systemd_.Put("openibd.service", {});
  }
  bool Called(const std::string& call) {
    const auto calls = systemd_.Calls();
    return std::find(calls.begin(), calls.end(), call) != calls.end();
  }

  TemporaryDirectory root_;
  FakeSystemd systemd_{root_.path()};
  std::unique_ptr<Backend> backend_;
};

TEST_F(DbusTest, AUnitIsItsStates) {
  EXPECT_EQ(backend_->Get(kUnit).value(), "load=loaded active=inactive sub=dead enabled=disabled");
  systemd_.Put("a@b\\x2d1.timer", {.active = "active", .sub = "waiting", .enabled = "static"});
  EXPECT_EQ(backend_->Get("/dbus/unit/a@b\\x2d1.timer").value(),
            "load=loaded active=active sub=waiting enabled=static");
  EXPECT_EQ(backend_->List("/dbus").value(), std::vector<std::string>{"unit"});
  EXPECT_EQ(backend_->List("/dbus/unit").value(),
            (std::vector<std::string>{"a@b\\x2d1.timer", "openibd.service"}));
}

TEST_F(DbusTest, AUnitThatIsNotThereIsSaidSoAndIsNoError) {
  EXPECT_EQ(backend_->Get("/dbus/unit/none.service").value(), "load=not-found active=inactive sub=dead");
  EXPECT_TRUE(backend_->Set("/dbus/unit/none.service", "active=inactive").ok());
  const Status status = backend_->Set("/dbus/unit/none.service", "active=active");
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_NE(status.message().find("Unit none.service not found."), std::string::npos) << status.message();
}

TEST_F(DbusTest, SetWaitsForItsOwnJob) {
  ASSERT_TRUE(backend_->Set(kUnit, "active=active").ok());
  EXPECT_EQ(backend_->Get(kUnit).value(), "load=loaded active=active sub=running enabled=disabled");
  EXPECT_TRUE(Called("StartUnit openibd.service"));
  ASSERT_TRUE(backend_->Set(kUnit, "active=inactive enabled=disabled").ok());
  EXPECT_EQ(systemd_.Unit("openibd.service").active, "inactive");
}

TEST_F(DbusTest, WhatIsSoAlreadyIsNotDoneAgain) {
  ASSERT_TRUE(backend_->Set(kUnit, backend_->Get(kUnit).value()).ok());
  EXPECT_TRUE(systemd_.Calls().empty());
}

TEST_F(DbusTest, FilesAreEnabledDisabledAndMasked) {
  ASSERT_TRUE(backend_->Set(kUnit, "enabled=enabled").ok());
  EXPECT_EQ(backend_->Get(kUnit).value(), "load=loaded active=inactive sub=dead enabled=enabled");
  EXPECT_TRUE(Called("Reload"));
  ASSERT_TRUE(backend_->Set(kUnit, "enabled=masked").ok());
  ASSERT_TRUE(backend_->Set(kUnit, "enabled=disabled").ok());
  EXPECT_TRUE(Called("UnmaskUnitFiles openibd.service"));
  EXPECT_EQ(systemd_.Unit("openibd.service").enabled, "disabled");
}

TEST_F(DbusTest, AUnitWithoutInstallSectionCannotBeEnabled) {
  systemd_.Put("openibd.service", {.enabled = "static", .has_install = false});
  const Status status = backend_->Set(kUnit, "enabled=enabled");
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_NE(status.message().find("[Install]"), std::string::npos);
}

TEST_F(DbusTest, AJobThatFailsOrNeverEndsIsAnError) {
  systemd_.Put("openibd.service", {.job_result = "failed"});
  const Status failed = backend_->Set(kUnit, "active=active");
  EXPECT_EQ(failed.code(), Code::kFailedPrecondition);
  EXPECT_NE(failed.message().find("ended as \"failed\"; look at `journalctl -u openibd.service`"),
            std::string::npos)
      << failed.message();
  EXPECT_TRUE(backend_->Set(kUnit, "active=inactive").ok()) << "what failed does not run";
  systemd_.Put("openibd.service", {.job_result = "never"});
  EXPECT_EQ(backend_->Set(kUnit, "active=active").code(), Code::kDeadlineExceeded);
}

TEST_F(DbusTest, OtherFieldsAndValuesAreRefusedByName) {
  for (const char* bad : {"", "active", "active=running", "enabled=static", "restart=1", "sub=dead"})
    EXPECT_EQ(backend_->Set(kUnit, bad).code(), Code::kInvalidArgument) << bad;
  for (const char* bad : {"/dbus/unit/openibd", "/dbus/unit/a b.service", "/dbus/unit/.service"})
    EXPECT_EQ(backend_->Get(bad).status().code(), Code::kInvalidArgument) << bad;
  EXPECT_EQ(backend_->Get("/dbus/job/1").status().code(), Code::kUnimplemented);
  EXPECT_TRUE(systemd_.Calls().empty());
}

TEST_F(DbusTest, SystemdGoneFromItsBusIsUnavailable) {
  ASSERT_TRUE(backend_->Get(kUnit).ok());
  systemd_.Stop();
  EXPECT_EQ(backend_->Get(kUnit).status().code(), Code::kUnavailable);
}

TEST(DbusAbsentTest, NoSystemdAndNoBusAreToldApart) {
  const TemporaryDirectory root;
  const std::string address = "unix:path=" + root.path() + "/nosuch";
  const Status none = MakeDbus(root.path(), address)->Get(kUnit).status();
  EXPECT_EQ(none.code(), Code::kNotFound);
  EXPECT_EQ(none.error_number(), ENOENT);
  EXPECT_NE(none.message().find("systemd does not run here"), std::string::npos);
  std::filesystem::create_directories(root.path() + "/run/systemd/system");
  const Status silent = MakeDbus(root.path(), address)->Get(kUnit).status();
  EXPECT_EQ(silent.code(), Code::kUnavailable);
  EXPECT_NE(silent.message().find("its bus does not answer"), std::string::npos) << silent.message();
}

}  // namespace
}  // namespace railwright::machine
