// "gpu-[001-128,200]": names of nodes, expanded and folded.
#include <algorithm>

#include "controller/fleet/resolve.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view pattern(reinterpret_cast<const char*>(data), size);
  const auto names = ExpandNames(pattern);
  if (!names.ok()) {
    ALWAYS(names.status().code() == Code::kInvalidArgument, names.status().message());
    ALWAYS(names.status().message().size() <= 1024, names.status().message());
    return 0;
  }
  ALWAYS(!names->empty() && names->size() <= 100'000, pattern);
  if (names->size() > 2000) return 0;  // enough to say it of small ones
  for (const std::string& name : *names) ALWAYS(!name.empty() && name.size() <= 63, name, pattern);
  const std::string folded = FoldNames(*names);
  auto again = ExpandNames(folded);
  ALWAYS(again.ok(), folded, pattern);
  auto sorted = *names;
  std::sort(sorted.begin(), sorted.end());
  std::sort(again->begin(), again->end());
  ALWAYS(sorted == *again, folded, pattern);
  ALWAYS(FoldNames(*again) == folded, folded, pattern);
  return 0;
}
