// Configuration space: any bytes as the capability lists of a function; the way of functions as text.
#include "core/decode/pci_config.h"
#include "core/decode/acs_bridges.h"
#include "core/decode/pci_link.h"
#include "core/decode/pci_tree.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

namespace {

void Space(std::string_view bytes) {
  const auto config = PciConfig::Decode(bytes);
  ALWAYS(config.ok() || bytes.size() < 64 || bytes.substr(0, 2) == "\xff\xff", bytes);
  if (!config.ok()) return;
  const std::size_t size = std::min<std::size_t>(bytes.size(), 4096);
  if (const auto express = config->Express(); express.ok()) {
    ALWAYS(express->control_at >= 0x48 && express->control_at + 2 <= size, bytes);
    ALWAYS(!express->read_request || PciCodeOfBytes(*express->read_request), bytes);
    ALWAYS(!express->type.empty(), bytes);
  }
  if (const auto acs = config->Acs(); acs.ok())
    ALWAYS(acs->control_at >= 0x106 && acs->control_at + 2 <= size && acs->control_at % 4 == 2, bytes);
  // Fewer bytes never turn something into a proven absence.
  const auto whole = config->Acs();
  for (const std::size_t less : {std::size_t{64}, std::size_t{256}}) {
    if (less >= size) continue;
    const auto cut = PciConfig::Decode(bytes.substr(0, less));
    ALWAYS(cut.ok(), bytes);
    const auto acs = cut->Acs();
    ALWAYS(!acs.ok(), bytes);
    ALWAYS(!whole.ok() || acs.status().code() != Code::kNotFound, bytes);
  }
}

void Tree(std::string_view text) {
  const auto tree = PciTree::Parse(text);
  if (!tree.ok()) return;
  std::string again;
  for (const PciFunction& one : tree->functions()) again += PciTree::LineOf(one) + "\n";
  const auto second = PciTree::Parse(again);
  ALWAYS(second.ok() && second->functions().size() == tree->functions().size(), text, again);
  if (tree->functions().size() > 64) return;
  for (const PciFunction& one : tree->functions()) {
    ALWAYS(IsBdf(one.bdf), text);
    for (const AcsBridge& bridge : BridgesBetween(*tree, one, GpusNear(*tree, one)))
      ALWAYS(bridge.bdf != one.bdf && tree->Find(bridge.bdf) != nullptr, text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  switch (input.Byte()) {
    case 't': Tree(input.Rest()); break;
    case 'a':
      if (const auto state = AcsState::Parse(input.Rest()); state.ok()) {
        const auto again = AcsState::Parse(state->Text());
        ALWAYS(again.ok() && again->Text() == state->Text(), input.Rest(), state->Text());
      }
      break;
    case 'l': {
      const std::string_view speed = input.Line();
      [[maybe_unused]] const auto link = PciLink::Parse(speed, input.Rest());
      break;
    }
    default: Space(input.Rest());
  }
  return 0;
}
