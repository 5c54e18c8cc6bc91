// Signed states. First byte: 'e' an envelope as it comes, 's' a statement that is signed here (nothing behind
// a signature could be reached otherwise), 'f' a stored floor.
#include "core/identity/envelope.h"
#include "core/identity/floor.h"

#include "tests/fuzz/fuzz.h"

using namespace railwright;
using namespace railwright::identity;

namespace {

// A key of this file only; with it the seeds are signed.
constexpr std::string_view kKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIAFWtbwzQfsz7Rvi3To6zYZy5gCRWMY8HsDy02njuY/F\n"
    "-----END PRIVATE KEY-----\n";

struct World {
  PrivateKey key = std::move(PrivateKey::FromPem(kKey)).value();
  TrustedSigners trusted{.keys = {key.public_key()}, .revoked = {}, .threshold = 1};
  Addressee me{.cluster = *ClusterName::Parse("pod-a"),
               .node = *NodeUuid::Parse("0f8fad5b-d9cb-469f-a165-708677289501"),
               .groups = {Digest{}}};
  Time now{std::chrono::seconds(1796119200)};
};

const World& Here() {
  static const World world;
  return world;
}

void Judged(const OpenedEnvelope& opened, std::string_view bytes) {
  const Statement& said = opened.statement;
  ALWAYS(said.cluster == Here().me.cluster && said.generation > 0 && said.not_before < said.not_after, bytes);
  ALWAYS(said.payload_bytes > 0 && said.payload_bytes <= Statement::kMostPayloadBytes, bytes);
  ALWAYS(opened.signers.size() == 1 && opened.signers.front() == said.line, bytes);
  ALWAYS(opened.CheckPayload(bytes).code() != Code::kOk || bytes.size() == said.payload_bytes, bytes);
  Floor floor;
  floor.Raise(opened);
  const auto again = floor.Judge(opened, Here().trusted);
  ALWAYS(again.ok() && *again == Floor::Next::kSame, bytes);
  const auto read = Floor::Parse(floor.Text());
  ALWAYS(read.ok() && *read == floor, bytes, floor.Text());
}

void AnEnvelope(std::string_view bytes) {
  const auto opened = Open(bytes, Here().trusted, Here().me, Here().now);
  if (!opened.ok()) return;
  Judged(*opened, bytes);
  const auto encoded = opened->statement.Encode();
  ALWAYS(encoded.ok() && bytes.find(*encoded) != std::string_view::npos, bytes);
}

void AStatement(std::string_view bytes) {
  const auto said = Statement::Decode(bytes);
  const auto signature = SignStatement(bytes, Here().key);
  ALWAYS(said.ok() == signature.ok(), bytes);
  if (!said.ok()) {
    ALWAYS(said.status().code() == Code::kInvalidArgument, bytes);
    return;
  }
  const auto encoded = said->Encode();
  ALWAYS(encoded.ok() && *encoded == bytes, bytes, encoded.ok() ? *encoded : std::string());
  // The line must be ours for the rest: as if the key's own statement had been asked for.
  Statement ours = *said;
  ours.line = Here().key.public_key().pin();
  const std::string statement = ours.Encode().value();
  const auto envelope = MakeEnvelope(statement, {SignStatement(statement, Here().key).value()});
  ALWAYS(envelope.ok(), bytes);
  const auto opened = Open(*envelope, Here().trusted, Here().me, Here().now);
  if (!opened.ok()) {
    ALWAYS(opened.status().code() == Code::kPermissionDenied ||
               opened.status().code() == Code::kFailedPrecondition,
           bytes, opened.status().ToString());
    return;
  }
  ALWAYS(opened->statement == ours, bytes);
  Judged(*opened, bytes);
}

void AFloor(std::string_view text) {
  const auto floor = Floor::Parse(text);
  if (floor.ok())
    ALWAYS(floor->Text() == text, text, floor->Text());
  else
    ALWAYS(floor.status().code() == Code::kDataLoss, text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  switch (input.Byte()) {
    case 'e': AnEnvelope(input.Rest()); break;
    case 's': AStatement(input.Rest()); break;
    default: AFloor(input.Rest());
  }
  return 0;
}
