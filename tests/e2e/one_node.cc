#include "tests/e2e/one_node.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/files/whole_file.h"

namespace railwright {

void OneNode::SetUp() {
  if (geteuid() != 0) GTEST_SKIP() << "needs root for a network namespace";
  // Each case is a process of its own under CTest; run by hand, the cases share what the first one made.
  static bool made = false;
  if (!made) {
    if (unshare(CLONE_NEWNET | CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
      GTEST_SKIP() << "no network and mount namespace here: " << std::strerror(errno);
    ASSERT_EQ(RunProgram({"ip", "link", "set", "lo", "up"}).code, 0);
    made = true;
  }
  for (const char* rail : {"0", "1"}) {
    const std::string name = std::string("rail") + rail, peer = std::string("peer") + rail;
    RunProgram({"ip", "link", "del", name});
    ASSERT_EQ(RunProgram({"ip", "link", "add", name, "mtu", "1500", "type", "veth", "peer", "name", peer,
                          "mtu", "9000"})
                  .code,
              0);
    ASSERT_EQ(RunProgram({"ip", "link", "set", name, "up"}).code, 0);
    ASSERT_EQ(RunProgram({"ip", "link", "set", peer, "up"}).code, 0);
  }
}

void OneNode::StartController(const std::vector<std::string>& before, const std::string& host) {
  const std::string dir = directory_.path() + "/controller";
  // What fails here is told by the controller that does not start: some cases make that happen.
  if (access((dir + "/identity").c_str(), F_OK) != 0)
    RunProgram(
        {Binary("railwright-controller"), "init", "--state-dir", dir, "--cluster", "e2e", "--name", host});
  std::vector<std::string> words = before;
  words.insert(words.end(), {Binary("railwright-controller"), "serve", "--state-dir", dir, "--listen",
                             socket(), "--listen", host + ":7443", "--enrol", host + ":7444"});
  controller_ = Child(words, directory_.path() + "/controller.log");
  ASSERT_TRUE(Eventually([&] { return Railctl({"version"}).code == 0; })) << Logs();
  // The agent's front has no privilege, and is in no group.
  ASSERT_EQ(chmod(directory_.path().c_str(), 0711), 0);
}

void OneNode::Join(const std::string& name, const std::vector<std::string>& more) {
  const Ran token = Railctl({"token", "create", name});
  ASSERT_EQ(token.code, 0) << token.err << Logs();
  std::vector<std::string> words{
      Binary("railwright-agent"), "join", "--line", "-", "--state-dir", state_dir()};
  words.insert(words.end(), more.begin(), more.end());
  const Ran joined = RunProgram(words, token.out);
  ASSERT_EQ(joined.code, 0) << joined.out << joined.err << Logs();
}

void OneNode::StartAgent(const std::string& name) {
  if (access((state_dir() + "/trust/node").c_str(), F_OK) != 0) {
    ASSERT_NO_FATAL_FAILURE(Join(name));
  }
  agent_ = Child({Binary("railwright-agent"), "run", "--state-dir", state_dir()},
                 directory_.path() + "/agent.log");
}

void OneNode::StartPrivileged() {
  agent_ = Child({Binary("no_inet"), Binary("railwright-agent"), "run", "--state-dir", state_dir(),
                  "--front-socket", gate()},
                 directory_.path() + "/agent.log");
}

void OneNode::StartFront() {
  front_ = Child(
      {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--bounding-set=-all",
       Binary("railwright-agent-front"), "--state-dir", state_dir(), "--gate", gate()},
      directory_.path() + "/agent.log");
}

std::string OneNode::Site(const std::string& nodes, int mtu) {
  return "kind: Cluster\nname: e2e\nnodes:\n  - {name: \"" + nodes +
         "\", role: gpu}\nports:\n"
         "  - {name: rail0, select: {netdev: rail0}, role: fabric, address: \"10.220.0.{index}/24\"}\n"
         "  - {name: rail1, select: {netdev: rail1}, role: fabric, address: \"10.221.0.{index}/24\"}\n"
         "---\nkind: Profile\nname: rails\nfor: {role: gpu}\nmode: enforce\nsettings:\n"
         "  link.mtu: {fabric: " +
         std::to_string(mtu) +
         "}\n"
         "  sysctl.net.ipv4.conf.all.arp_ignore: 1\n";
}

Ran OneNode::Apply(const std::string& yaml, const std::vector<std::string>& more) {
  const std::string path = directory_.path() + "/site.yaml";
  std::ofstream(path) << yaml;
  std::vector<std::string> words{"apply", "-f", path, "--yes"};
  words.insert(words.end(), more.begin(), more.end());
  return Railctl(words);
}

Ran OneNode::Railctl(std::vector<std::string> words) {
  words.insert(words.begin(), {Binary("railctl"), "--controller", socket()});
  return RunProgram(words);
}

nlohmann::json OneNode::RailctlJson(std::vector<std::string> words) {
  words.insert(words.end(), {"-o", "json"});
  const Ran ran = Railctl(words);
  const auto json = nlohmann::json::parse(ran.out, nullptr, false);
  if (json.is_discarded())
    ADD_FAILURE() << words[0] << " ended with " << ran.code << ": " << ran.out << ran.err;
  return json;
}

nlohmann::json OneNode::StatusCommand() const {
  const Ran ran =
      RunProgram({Binary("railwright-agent"), "status", "--state-dir", state_dir(), "-o", "json"});
  return nlohmann::json::parse(ran.out, nullptr, false);
}

nlohmann::json OneNode::AgentStatus() const {
  const auto text = ReadWhole(state_dir() + "/status.json");
  return text.ok() ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
}

bool OneNode::Compliant() {
  const auto status = RailctlJson({"status"});
  return status.is_object() && status["summary"]["compliant"] == status["summary"]["nodes"] &&
         status["summary"]["nodes"] != 0;
}

std::string OneNode::Mtu(const std::string& link) const {
  std::string text = ReadWhole("/sys/class/net/" + link + "/mtu").value_or("");
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

void OneNode::SetMtu(int mtu, const std::string& link) {
  ASSERT_EQ(RunProgram({"ip", "link", "set", link, "mtu", std::to_string(mtu)}).code, 0);
}

std::size_t OneNode::Corrected() {
  std::size_t count = 0;
  const auto answer = RailctlJson({"get", "changes", "--key", "link.mtu"});
  for (const auto& change : answer["changes"])
    if (change["kind"] == "corrective" && change["ok"] == true) ++count;
  return count;
}

std::string OneNode::Logs() const {
  std::string all;
  for (const char* name : {"controller.log", "agent.log"}) {
    std::ifstream file(directory_.path() + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    all += std::string("--- ") + name + "\n" + text.str();
  }
  return all;
}

}  // namespace railwright
