// A desired state as it comes to the half of the agent that judges it. First byte: 's' signed here, so that
// what is behind the signature is reached; anything else as it comes, with whatever envelope it has.
#include "agent/loop/state_seal.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/test_signer.h"

using namespace railwright;

namespace {

const TestSigner& Signer() {
  static const TestSigner signer;
  return signer;
}

// No file is written: nothing is raised.
const StateSeal& Seal() {
  static const StateSeal seal("/nonexistent", [] { return Result<NodeTrust>(Signer().Trust()); });
  return seal;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const bool sign = input.Byte() == 's';
  const std::string_view bytes = input.Rest();
  v1::DesiredState message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return 0;
  const identity::Time now{std::chrono::seconds(1'796'119'200)};
  if (sign) {
    const std::string payload = message.group() + message.overlay();
    message.set_hash(identity::Hex(*identity::Sha256(payload)));
    Signer().Sign(message);
    const bool can_be = message.generation() > 0 &&
                        message.generation() <= identity::StatementNumber::kMostGeneration &&
                        !payload.empty();
    ALWAYS(Seal().Check(message, now).ok() == can_be, bytes);
    return 0;
  }
  const auto opened = Seal().Check(message, now);
  if (!opened.ok()) return 0;
  ALWAYS(message.hash() == identity::Hex(opened->statement.payload_sha256), bytes);
  ALWAYS(identity::StatementNumber::Of(opened->statement.generation).generation == message.generation(),
         bytes);
  ALWAYS(opened->statement.audience.node() == Signer().uuid.text(), bytes);
  return 0;
}
