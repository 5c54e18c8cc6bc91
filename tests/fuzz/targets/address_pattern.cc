// Patterns of addresses, "10.10.{index/250}.{index%250+1}/16", and the controller's reading of addresses,
// which must agree with the agent's.
#include "controller/fleet/addresses.h"
#include "core/decode/cidr.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view node = input.Line();
  const std::string_view text = input.Rest();
  if (const auto pattern = fleet::Pattern::Parse(text); pattern.ok()) {
    std::string first;
    for (const int index : {1, 2, 100'000}) {
      const auto expanded = pattern->Expand({.index = index, .node = node, .rack = "r12", .port = "rail0"});
      if (!expanded.ok()) {
        ALWAYS(expanded.status().code() == Code::kInvalidArgument, expanded.status().message());
        continue;
      }
      ALWAYS(expanded->size() <= text.size() + 64 * (node.size() + 20), *expanded, text);
      if (index == 1) first = *expanded;
      if (index == 2 && !pattern->varies()) ALWAYS(*expanded == first, *expanded, text);
    }
  }
  const auto ours = fleet::ParseCidr(text);
  const auto theirs = Cidr::Parse(text);
  ALWAYS(ours.ok() == theirs.ok(), text);
  if (!ours.ok()) return 0;
  ALWAYS(ours->Text() == theirs->Text() && ours->Network().Text() == theirs->Network().Text(), ours->Text(),
         text);
  // What the controller lets a port have, the agent takes.
  if (fleet::CheckHost(*ours).ok()) ALWAYS(theirs->CheckHost().ok(), ours->Text());
  return 0;
}
