// OneNode: a real controller and a real agent on the real kernel: two veth rails in a network and mount
// namespace of the test process's own, gone with it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/agent/temporary_directory.h"
#include "tests/e2e/programs.h"

namespace railwright {

class OneNode : public testing::Test {
 protected:
  void SetUp() override;

  /// Makes its CA when there is none. `before`: words before the program. `host`: where agents reach it.
  void StartController(const std::vector<std::string>& before = {}, const std::string& host = "127.0.0.1");
  /// Joins first, if it has not: by a token, as an operator would have it.
  void StartAgent(const std::string& name = "gpu-001");
  /// The halves, each alone, as two units would start them: for the privileged one a socket of the internet's
  /// families is its end, the front has no privilege. For a test that links no_inet.
  void StartPrivileged();
  void StartFront();
  void Join(const std::string& name = "gpu-001", const std::vector<std::string>& more = {});
  /// Applies documents and waits until all nodes have settled; the exit code.
  Ran Apply(const std::string& yaml, const std::vector<std::string>& more = {});
  static std::string Site(const std::string& nodes = "gpu-001", int mtu = 4200);
  Ran Railctl(std::vector<std::string> words);
  nlohmann::json RailctlJson(std::vector<std::string> words);
  /// `railwright-agent status -o json`.
  nlohmann::json StatusCommand() const;
  /// What the agent wrote down last; null when there is nothing yet.
  nlohmann::json AgentStatus() const;
  bool Compliant();
  std::string Mtu(const std::string& link = "rail0") const;
  void SetMtu(int mtu, const std::string& link = "rail0");
  /// Corrective changes of link.mtu that the controller has stored.
  std::size_t Corrected();
  std::string Logs() const;

  std::string state_dir() const { return directory_.path() + "/agent"; }
  std::string gate() const { return directory_.path() + "/front.sock"; }
  std::string socket() const { return "unix:" + directory_.path() + "/controller.sock"; }

  TemporaryDirectory directory_;
  Child controller_, agent_, front_;
};

}  // namespace railwright
