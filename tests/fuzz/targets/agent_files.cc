// Files of the agent's state directory: pauses, and the history that waits for the controller.
#include "agent/loop/change_log.h"
#include "agent/loop/pauses.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::TemporaryFolder folder;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto pauses = ParsePauses(text);
  if (pauses.ok()) {
    const auto again = ParsePauses(FormatPauses(*pauses));
    ALWAYS(again.ok() && *again == *pauses, text);
  } else {
    ALWAYS(pauses.status().code() == Code::kDataLoss, pauses.status().message());
  }
  const std::string path = folder.path() + "/changes.jsonl";
  folder.Write("changes.jsonl", text);
  ChangeLog first(path);
  ALWAYS(first.Open().ok(), text);
  ALWAYS(first.pending().size() + first.damaged() <= size, text);
  std::uint64_t last = 0;
  for (const ChangeRecord& change : first.pending()) {
    ALWAYS(change.sequence > last && change.sequence < first.next(), text);
    last = change.sequence;
  }
  // What was read was written whole, and reads the same.
  ChangeLog second(path);
  ALWAYS(second.Open().ok() && second.damaged() == 0, text);
  ALWAYS(second.next() == first.next() && second.pending().size() == first.pending().size(), text);
  for (std::size_t i = 0; i < second.pending().size(); ++i) {
    const ChangeRecord& a = first.pending()[i];
    const ChangeRecord& b = second.pending()[i];
    ALWAYS(a.sequence == b.sequence && a.key == b.key && a.from == b.from && a.at == b.at && a.took == b.took,
           a.key, text);
  }
  return 0;
}
