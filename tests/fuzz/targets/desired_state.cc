// A desired state off the wire. The fuzzer's bytes are the message; its hash is made right, or nothing behind
// the check of it would ever be reached.
#include "core/wire/wire.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  v1::DesiredState message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  const std::string right = StateHash(message.group(), message.overlay());
  if (message.hash() != right) {
    ALWAYS(FromWire(message).status().code() == Code::kDataLoss, message.hash());
    message.set_hash(right);
  }
  const Result<DesiredState> state = FromWire(message);
  if (!state.ok()) {
    ALWAYS(state.status().code() == Code::kInvalidArgument, state.status().message());
    return 0;
  }
  ALWAYS(state->generation.value == message.generation() && state->generation.value != 0, state->node);
  ALWAYS(state->hash == right && !state->node.empty(), state->node);
  for (const Port& port : state->ports) {
    ALWAYS(!port.name.empty(), state->node);
    ALWAYS(FromWire(ToWire(port)) == port, port.name);
  }
  for (const SettingSpec& spec : state->settings) {
    ALWAYS(!spec.key.empty(), state->node);
    ALWAYS(FromWire(ToWire(spec)) == spec, spec.key, spec.value);
    for (const KeyTarget& restore : state->restore)
      ALWAYS(restore.key != spec.key || restore.target != spec.target, spec.key);
  }
  return 0;
}
