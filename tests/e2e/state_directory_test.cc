// A state directory that takes no writes: seen, told, and over by itself.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/files/whole_file.h"
#include "tests/e2e/one_node.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

class StateDirectory : public OneNode {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(OneNode::SetUp());
    if (IsSkipped()) return;
    ASSERT_EQ(mkdir(state_dir().c_str(), 0700), 0);
    ASSERT_EQ(mount("tmpfs", state_dir().c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=0700"), 0);
    mounted_ = true;
  }
  void TearDown() override {
    agent_.Kill();
    if (mounted_) {
      EXPECT_EQ(umount2(state_dir().c_str(), MNT_DETACH), 0);
    }
  }
  // Somebody fills the file system to the last byte.
  void Fill() {
    std::ofstream file(filler(), std::ios::binary);
    const std::string block(64 << 10, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
    std::ofstream rest(filler() + "2", std::ios::binary);
    while (rest.put('x').flush()) {
    }
  }
  void MakeRoom() {
    unlink(filler().c_str());
    unlink((filler() + "2").c_str());
  }
  std::string filler() const { return state_dir() + "/of-somebody-else"; }
  std::string Trouble() const {
    const auto status = StatusCommand();
    return status.is_object() ? status["agent"]["trouble"].get<std::string>() : std::string();
  }
  // Whether the controller knows why link.mtu of rail0 is not corrected.
  bool ToldWhy() {
    const auto answer = RailctlJson({"status", "gpu-001"});
    for (const auto& finding : answer["nodes"][0]["findings"])
      if (finding["key"] == "link.mtu" && finding["target"] == "rail0")
        return finding["reason"] == "Paused" &&
               finding["message"].get<std::string>().find(state_dir()) != std::string::npos;
    return false;
  }
  bool mounted_ = false;
};

TEST_F(StateDirectory, ThatIsFullShowsInStatusStopsWritesAndHealsByItself) {
  StartController();
  ASSERT_EQ(Apply(Site(), {"--no-wait"}).code, 0) << Logs();
  StartAgent();
  ASSERT_TRUE(Eventually([&] { return Mtu() == "4200" && Compliant(); })) << Logs();
  ASSERT_TRUE(Eventually([&] { return Trouble().empty() && StatusCommand()["complete"] == true; })) << Logs();

  Fill();
  SetMtu(1500);  // the first one may be corrected: that its record cannot be kept shows afterwards
  ASSERT_TRUE(Eventually([&] {
    std::ifstream log(directory_.path() + "/agent.log");
    const std::string text(std::istreambuf_iterator<char>(log), {});
    return text.find("nothing is written to this machine until that is over") != std::string::npos;
  })) << Logs();
  SetMtu(1500);
  ASSERT_TRUE(Eventually([&] { return ToldWhy(); })) << Logs();
  EXPECT_EQ(Mtu(), "1500") << "nothing is written while nothing can be written down";
  EXPECT_NE(Trouble().find("has no room"), std::string::npos) << Trouble();
  EXPECT_EQ(StatusCommand()["complete"], false);
  const Ran table = RunProgram({Binary("railwright-agent"), "status", "--state-dir", state_dir()});
  EXPECT_EQ(table.code, 3) << "what it shows is no evidence";
  EXPECT_NE(table.out.find("has no room"), std::string::npos) << table.out;
  EXPECT_TRUE(agent_.running());

  MakeRoom();
  EXPECT_TRUE(Eventually([&] { return Mtu() == "4200"; }, 25s)) << Logs();
  EXPECT_TRUE(Eventually([&] { return Trouble().empty() && StatusCommand()["complete"] == true; })) << Logs();
  EXPECT_TRUE(Eventually([&] { return Compliant(); })) << Logs();
  EXPECT_TRUE(Eventually([&] { return Corrected() >= 1; })) << "and what was done is told";
}

}  // namespace
}  // namespace railwright
