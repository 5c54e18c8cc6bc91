// The real agent against a controller that sends it poison.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <filesystem>

#include "agent/identity/identity_files.h"
#include "core/files/whole_file.h"
#include "core/wire/wire.h"
#include "tests/agent/temporary_directory.h"
#include "tests/e2e/programs.h"
#include "tests/session/fake_controller.h"
#include "tests/support/test_ca.h"
#include "tests/support/test_signer.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

// Signed by whom the agent trusts: what is refused is refused for what it says.
v1::ControllerMessage Sealed(std::uint64_t generation, const std::string& group, const std::string& overlay) {
  static const TestSigner signer;
  v1::ControllerMessage message;
  *message.mutable_desired() = signer.Signed(generation, group, overlay);
  return message;
}

std::string Overlay(const std::string& node) {
  v1::NodeOverlay overlay;
  overlay.set_node(node);
  return overlay.SerializeAsString();
}

TEST(PoisonedState, IsAnsweredWithANackEachTimeAndTheAgentLives) {
  v1::GroupPayload unknown_key;
  unknown_key.add_settings()->set_key("link.mtuu");
  v1::GroupPayload bad_value;
  bad_value.add_settings()->set_key("link.mtu");
  bad_value.mutable_settings(0)->set_target("rail0");
  bad_value.mutable_settings(0)->set_value(std::string(1 << 19, '9'));

  v1::GroupPayload endless_key;
  endless_key.add_settings()->set_key("\x1b[2J" + std::string(1 << 19, '\n'));

  std::vector<v1::ControllerMessage> poison{
      Sealed(1, "\xff\xff\xff", Overlay("gpu-001")),
      Sealed(2, "", std::string(1 << 16, '\n')),
      Sealed(3, unknown_key.SerializeAsString(), Overlay("gpu-001")),
      Sealed(4, bad_value.SerializeAsString(), Overlay("gpu-001")),
      Sealed(5, "", Overlay("gpu-002")),
      Sealed(6, "", ""),
      Sealed(7, endless_key.SerializeAsString(), Overlay("gpu-001")),
      Sealed(8, "", Overlay("gpu-\x1b[2J" + std::string(1 << 19, '\t'))),
      Sealed(0, "", Overlay("gpu-001")),
  };
  v1::ControllerMessage wrong_hash = Sealed(9, "", Overlay("gpu-001"));
  wrong_hash.mutable_desired()->set_hash(std::string(64, '0'));
  poison.push_back(wrong_hash);
  v1::ControllerMessage unsigned_one = Sealed(9, "", Overlay("gpu-001"));
  unsigned_one.mutable_desired()->clear_envelope();
  poison.push_back(unsigned_one);
  poison.push_back(Sealed(9, std::string(1 << 20, 'g'), Overlay("gpu-001")));
  poison.push_back(Sealed(1, "", Overlay("gpu-001")));  // a replay

  FakeController controller;
  controller.SetScript([&](AgentStream& stream, const v1::Hello&) {
    stream.Write(FakeController::Welcome());
    for (const auto& message : poison) {
      stream.Write(message);
      // A newer state takes the place of one that still waits, so each is sent when the last is answered.
      while (controller.ReadOne(stream) && !controller.Received().back().has_nack()) {
      }
    }
    stream.Write(Sealed(9, "", Overlay("gpu-001")));
    return controller.ReadAll(stream);
  });
  TemporaryDirectory directory;
  const TestSigner signer;
  const TestCa ca(signer.cluster.text());
  ASSERT_TRUE(controller.ListenOn("127.0.0.1", tls::ServerCredentials(ca.Files(ca.Server(), directory.path()),
                                                                      [](const auto&) { return Ok(); })));
  std::filesystem::create_directory(directory.path() + "/state");
  std::filesystem::permissions(directory.path() + "/state", std::filesystem::perms::owner_all);
  ASSERT_TRUE(SaveNodeTrust(directory.path() + "/state", TestSigner().Trust()).ok());
  const Shown shown = ca.Node(signer.uuid.text());
  const FrontIdentity front{signer.cluster,
                            signer.uuid,
                            signer.node,
                            Must(identity::PrivateKey::FromPem(shown.key)),
                            Must(identity::Certificate::ChainFromPem(shown.chain)),
                            ca.roots(),
                            {Must(identity::Endpoint::Parse(controller.Address()))},
                            {Must(identity::Endpoint::Parse("127.0.0.1:1"))},
                            1};
  ASSERT_TRUE(SaveFrontIdentity(directory.path() + "/state", front, geteuid(), getegid()).ok());
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0711));
  Child agent({Binary("railwright-agent"), "run", "--state-dir", directory.path() + "/state"},
              directory.path() + "/log");
  std::vector<v1::Nack> nacks;
  std::vector<v1::Ack> acks;
  ASSERT_TRUE(Eventually([&] {
    nacks.clear();
    acks.clear();
    for (const auto& message : controller.Received()) {
      if (message.has_nack()) nacks.push_back(message.nack());
      if (message.has_ack()) acks.push_back(message.ack());
    }
    return !acks.empty();
  })) << ReadWhole(directory.path() + "/log").value_or("");
  ASSERT_EQ(nacks.size(), poison.size());
  for (std::size_t i = 0; i < nacks.size(); ++i) {
    EXPECT_EQ(nacks[i].hash(), poison[i].desired().hash());
    EXPECT_NE(nacks[i].message(), "");
    EXPECT_LE(nacks[i].message().size(), 1024U) << "a poison must not be echoed whole";
    for (const unsigned char c : nacks[i].message()) EXPECT_TRUE(c >= 0x20 && c != 0x7f) << i;
  }
  EXPECT_EQ(acks[0].generation(), 9U) << "the empty wish of this very node is a good state";
  EXPECT_TRUE(agent.running());
  EXPECT_EQ(agent.Terminate(), 0);
}

}  // namespace
}  // namespace railwright
