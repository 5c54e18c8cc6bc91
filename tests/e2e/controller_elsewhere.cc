#include "tests/e2e/controller_elsewhere.h"

#include <unistd.h>

#include <climits>

namespace railwright {
namespace {

std::string NetworkOf(const std::string& pid) {
  char name[PATH_MAX];
  const ssize_t length = readlink(("/proc/" + pid + "/ns/net").c_str(), name, sizeof name);
  return length < 0 ? std::string() : std::string(name, static_cast<std::size_t>(length));
}

}  // namespace

void ControllerElsewhere::SetUp() {
  ASSERT_NO_FATAL_FAILURE(OneNode::SetUp());
  if (IsSkipped()) return;
  elsewhere_ = Child({"unshare", "--net", "sleep", "600"}, directory_.path() + "/elsewhere.log");
  const std::string pid = std::to_string(elsewhere_.pid());
  ASSERT_TRUE(Eventually([&] {
    const std::string network = NetworkOf(pid);
    return !network.empty() && network != NetworkOf("self");
  }));
  there_ = {"nsenter", "--target", pid, "--net"};
  Do({"ip", "link", "set", "peer0", "netns", pid});
  Do(There({"ip", "link", "set", "lo", "up"}));
  Do(There({"ip", "link", "set", "peer0", "up"}));
  Do(There({"ip", "addr", "add", std::string(kController) + "/24", "dev", "peer0"}));
  Do({"ip", "addr", "add", "10.220.0.1/24", "dev", "rail0"});
  StartController(there_, kController);
}

void ControllerElsewhere::Do(const std::vector<std::string>& words) {
  const Ran ran = RunProgram(words);
  ASSERT_EQ(ran.code, 0) << words[0] << " " << words[1] << ": " << ran.err;
}

std::vector<std::string> ControllerElsewhere::There(const std::vector<std::string>& words) const {
  std::vector<std::string> all = there_;
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

}  // namespace railwright
