#include "tests/support/test_signer.h"

#include "core/identity/envelope.h"

namespace railwright {

using namespace identity;

namespace {

// Of the tests alone. One key in all processes, so that a state that one life kept is good in the next.
constexpr std::string_view kKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIAFWtbwzQfsz7Rvi3To6zYZy5gCRWMY8HsDy02njuY/F\n"
    "-----END PRIVATE KEY-----\n";
constexpr std::chrono::seconds k2020{1'577'836'800}, k2100{4'102'444'800};

}  // namespace

TestSigner::TestSigner(const std::string& name, const std::string& id)
    : cluster(*ClusterName::Parse("pod-a")),
      uuid(*NodeUuid::Parse(id)),
      node(name),
      key(std::move(PrivateKey::FromPem(kKey)).value()) {}

Statement TestSigner::Said(const v1::DesiredState& message, std::uint64_t issue) const {
  const std::string payload = message.group() + message.overlay();
  return {.schema = kStateSchema,
          .cluster = cluster,
          .audience = Audience::Node(uuid),
          .line = key.public_key().pin(),
          .generation = StatementNumber{message.generation(), issue}.Packed(),
          .previous = {},
          .not_before = Time(k2020),
          .not_after = Time(k2100),
          .created_by = "tests",
          .payload_bytes = static_cast<std::uint32_t>(payload.size()),
          .payload_sha256 = Sha256(payload).value_or(Digest())};
}

std::string TestSigner::Envelope(const Statement& said) const {
  const auto bytes = said.Encode();
  if (!bytes.ok()) return {};
  auto signature = SignStatement(*bytes, key);
  if (!signature.ok()) return {};
  return MakeEnvelope(*bytes, {std::move(*signature)}).value_or("");
}

void TestSigner::Sign(v1::DesiredState& message, std::uint64_t issue) const {
  message.set_envelope(Envelope(Said(message, issue)));
}

v1::DesiredState TestSigner::Signed(std::uint64_t generation, const std::string& group,
                                    const std::string& overlay) const {
  v1::DesiredState message;
  message.set_generation(generation);
  message.set_group(group);
  message.set_overlay(overlay);
  message.set_hash(Hex(Sha256(group + overlay).value_or(Digest())));
  Sign(message);
  return message;
}

}  // namespace railwright
