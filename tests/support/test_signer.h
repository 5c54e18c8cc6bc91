// TestSigner: signs desired states as a controller does, for tests that drive an agent.
#pragma once

#include <string>

#include "agent/identity/identity_files.h"
#include "core/identity/statement_number.h"
#include "railwright/v1/state.pb.h"

namespace railwright {

/// A key of the tests' own, the cluster pod-a and one node. Everything is public: tests that want a wrong
/// state change a part and sign.
struct TestSigner {
  explicit TestSigner(const std::string& node = "gpu-001",
                      const std::string& uuid = "0f8fad5b-d9cb-469f-a165-708677289501");

  /// What the node believes.
  NodeTrust Trust() const { return {cluster, uuid, node, {{key.public_key()}, {}, 1}}; }

  /// Statements of 2020 to 2100, of the message's own generation and payload. A generation or payload that no
  /// statement can have gets none.
  identity::Statement Said(const v1::DesiredState& message, std::uint64_t issue = 0) const;
  std::string Envelope(const identity::Statement& said) const;
  void Sign(v1::DesiredState& message, std::uint64_t issue = 0) const;
  /// A signed state of these bytes.
  v1::DesiredState Signed(std::uint64_t generation, const std::string& group,
                          const std::string& overlay) const;

  identity::ClusterName cluster;
  identity::NodeUuid uuid;
  std::string node;
  identity::PrivateKey key;
};

}  // namespace railwright
