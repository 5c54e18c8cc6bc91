#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/machine/linux_machine.h"
#include "tests/machine/temporary_directory.h"

namespace railwright::machine {
namespace {

class PackagesTest : public testing::Test {
 protected:
  void Database(const std::string& text) { root_.Write("/var/lib/dpkg/status", text); }
  TemporaryDirectory root_;
  std::unique_ptr<Machine> machine_ = MakeLinuxMachine({.root = root_.path()});
};

TEST_F(PackagesTest, VersionAndHoldAreOneValue) {
  Database(
      "Package: rdma-core\nStatus: hold ok installed\nVersion: 2410mlnx54-1\n\n"
      "Package: broken\nStatus: install ok half-configured\nVersion: 1\n");
  EXPECT_EQ(machine_->Get("/pkg/rdma-core").value(), "version=2410mlnx54-1 hold=1");
  EXPECT_EQ(machine_->Get("/pkg/broken").value(), "version=1 hold=0 state=half-configured");
  EXPECT_EQ(machine_->Get("/pkg/ofed").status().code(), Code::kNotFound);
  EXPECT_EQ(machine_->List("/pkg").value(), (std::vector<std::string>{"broken", "rdma-core"}));
}

TEST_F(PackagesTest, AChangeOfTheDatabaseIsSeenAtTheNextRead) {
  Database("Package: a\nStatus: install ok installed\nVersion: 1\n");
  EXPECT_EQ(machine_->Get("/pkg/a").value(), "version=1 hold=0");
  Database("Package: a\nStatus: install ok installed\nVersion: 2\n");
  EXPECT_EQ(machine_->Get("/pkg/a").value(), "version=2 hold=0") << "same size, later time";
  root_.Write("/var/lib/dpkg/status-new", "Package: a\nStatus: install ok installed\nVersion: 3\n");
  std::filesystem::rename(root_.path() + "/var/lib/dpkg/status-new", root_.path() + "/var/lib/dpkg/status");
  EXPECT_EQ(machine_->Get("/pkg/a").value(), "version=3 hold=0");
}

TEST_F(PackagesTest, AMissingOrDamagedDatabaseIsNeverNotInstalled) {
  EXPECT_EQ(machine_->Get("/pkg/a").status().code(), Code::kUnimplemented);
  Database("Package: a\ngarbage\n");
  EXPECT_EQ(machine_->Get("/pkg/a").status().code(), Code::kDataLoss);
  EXPECT_EQ(machine_->List("/pkg").status().code(), Code::kDataLoss);
}

TEST_F(PackagesTest, TheNextProgramReadsTheKeptIndexUntilTheDatabaseChanges) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root keeps an index";
  const std::string index = root_.path() + "/run/packages";
  root_.Write("/run/other", "");
  const auto look = [&] {
    return MakeLinuxMachine({.root = root_.path(), .package_file = index})->Get("/pkg/a").value_or("none");
  };
  Database("Package: a\nStatus: install ok installed\nVersion: 1\n");
  EXPECT_EQ(look(), "version=1 hold=0");
  std::string kept = root_.Read("/run/packages");
  ASSERT_NE(kept.find("a\t\t1\tinstalled\t0"), std::string::npos) << kept;
  // That it is read: another version in it is what the next program sees.
  kept.replace(kept.find("\t1\tinstalled"), 2, "\t7");
  root_.Write("/run/packages", kept);
  ASSERT_EQ(::chmod(index.c_str(), 0600), 0);
  EXPECT_EQ(look(), "version=7 hold=0");
  root_.Write("/run/packages", kept.substr(0, kept.size() - 4));
  EXPECT_EQ(look(), "version=1 hold=0") << "a cut one is none";
  Database("Package: a\nStatus: install ok installed\nVersion: 20\n");
  EXPECT_EQ(look(), "version=20 hold=0");
}

TEST_F(PackagesTest, InstallingArrivesLater) {
  Database("Package: a\nStatus: install ok installed\nVersion: 1\n");
  EXPECT_EQ(machine_->Set("/pkg/a", "version=2").code(), Code::kUnimplemented);
}

}  // namespace
}  // namespace railwright::machine
