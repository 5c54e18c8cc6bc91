#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/cli/canned.h"
#include "tests/cli/fake_admin.h"
#include "tests/cli/run_railctl.h"

namespace railwright::cli {
namespace {

class WatchVerbTest : public testing::Test {
 protected:
  WatchVerbTest() {
    v1::WatchEvent event;
    *event.mutable_node() = GoodNode("gpu-001");
    admin_.script().watch.push_back(event);
    admin_.script().hold = true;
  }
  // Runs until the first event has come, then presses Ctrl-C.
  Ran WatchOnce(std::vector<std::string> words) {
    std::atomic<bool> interrupted{false};
    std::thread finger([&] {
      while (admin_.script().events_sent.load() == 0) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the event's way through the real socket
      interrupted = true;
    });
    const Ran ran = RunRailctl(
        std::move(words),
        {.controller = admin_.address(), .input = "", .terminal = false, .interrupted = &interrupted});
    finger.join();
    return ran;
  }
  FakeAdmin admin_;
};

TEST_F(WatchVerbTest, CtrlCEndsItWith130) {
  const Ran ran = WatchOnce({"watch"});
  EXPECT_EQ(ran.code, 130);
  EXPECT_NE(ran.out.find("gpu-001  ✓ Compliant"), std::string::npos) << ran.out;
}

TEST_F(WatchVerbTest, JsonIsOneObjectALineFromVersionToResult) {
  const Ran ran = WatchOnce({"watch", "-o", "json"});
  EXPECT_EQ(ran.code, 130);
  std::vector<nlohmann::json> objects;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) objects.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(objects.size(), 3u) << ran.out;
  EXPECT_EQ(objects[0]["type"], "version");
  EXPECT_EQ(objects[1]["type"], "node");
  EXPECT_EQ(objects[1]["name"], "gpu-001");
  EXPECT_EQ(objects[2]["type"], "result");
  EXPECT_EQ(objects[2]["exit"], 130);
}

TEST_F(WatchVerbTest, AControllerThatStaysAwayEndsItWithEight) {
  admin_.script().hold = false;  // the stream ends at once, and again
  std::atomic<bool> interrupted{false};
  std::thread stopper([&] {
    while (admin_.script().events_sent.load() == 0) std::this_thread::yield();
    admin_.Stop();
  });
  const Ran ran = RunRailctl(
      {"watch", "--timeout", "1s"},
      {.controller = admin_.address(), .input = "", .terminal = false, .interrupted = &interrupted});
  stopper.join();
  EXPECT_EQ(ran.code, 8) << ran.err;
  EXPECT_NE(ran.err.find("the controller is gone; trying again every second"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace railwright::cli
