// A controller whose disk fills: read-only, says so, keeps what agents know, heals. Needs root for a small
// tmpfs.
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/rpc/controller_fixture.h"

namespace railwright {
namespace {

using Body = v1::ControllerMessage;

class FullDiskControllerTest : public ControllerTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to mount a tmpfs";
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      GTEST_SKIP() << "no mount namespace: " << std::strerror(errno);
    ASSERT_EQ(mount("tmpfs", directory_.path().c_str(), "tmpfs", 0, "size=4m"), 0) << std::strerror(errno);
    mounted_ = true;
    FleetOptions options;
    options.built_in = AtOnce();
    options.probe_every = std::chrono::milliseconds(200);
    Start(options);
  }
  void TearDown() override {
    controller_.reset();
    if (mounted_) umount2(directory_.path().c_str(), MNT_DETACH);
  }
  void FillDisk() {
    std::ofstream out(directory_ / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (out.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  bool mounted_ = false;
};

TEST_F(FullDiskControllerTest, ItTurnsReadOnlySaysSoAndHealsByItself) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  auto agent = Agent("gpu-001");
  ASSERT_TRUE(agent->Join());
  agent->AwaitState();
  ASSERT_TRUE(agent->Report(1, Verdict::kCompliant, 1));
  ASSERT_TRUE(agent->Await(Body::kReportAck).has_report_ack());
  FillDisk();
  // The log has room inside its file for a while yet. Each report carries 8 KiB until it has not.
  std::uint64_t said = 1, stored = 1;
  const auto read_only = [&] { return !controller_->core().view()->read_only.empty(); };
  while (!read_only() && said < 2000) {
    ++said;
    auto report = ReportOf(said, 1, "x", Verdict::kDrifted, said);
    report.mutable_report()->mutable_findings(0)->set_message(std::string(8192, 'x'));
    ASSERT_TRUE(agent->Say(report));
    if (Eventually(
            [&] { return read_only() || (*controller_->store().Reports())[0].stored_change == said; }) &&
        !read_only())
      stored = said;
  }
  ASSERT_TRUE(read_only());
  const auto status = Admin().Status();
  EXPECT_NE(status.read_only().find("No space left on device"), std::string::npos) << status.read_only();
  const auto refused = Admin().Apply(SiteYaml(9000));
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(refused.status.error_message().find("read-only, nothing was changed"), std::string::npos)
      << refused.status.error_message();
  EXPECT_EQ(Admin().Rollback(1).status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Admin().Status().generation(), 1u);
  EXPECT_EQ(Admin().Node("gpu-001").verdict(), v1::VERDICT_DRIFTED) << "what is heard is still shown";
  EXPECT_LT((*controller_->store().Reports())[0].stored_change, said);

  std::filesystem::remove(directory_ / "filler");
  std::uint64_t acknowledged = 0;
  while (acknowledged < said) {
    const auto message = agent->Await(Body::kReportAck);
    ASSERT_TRUE(message.has_report_ack())
        << "the stream ended; acknowledged " << acknowledged << " of " << said;
    acknowledged = message.report_ack().stored_change();
    if (acknowledged > stored) {
      EXPECT_GE((*controller_->store().Reports())[0].stored_change, acknowledged);
    }
  }
  EXPECT_EQ(Admin().Status().read_only(), "");
  EXPECT_TRUE(Admin().Apply(SiteYaml(9000)).status.ok());
}

}  // namespace
}  // namespace railwright
