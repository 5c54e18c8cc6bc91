// /etc/nccl.conf: the first line is a variable's name, the second its value.
#include "core/decode/nccl_conf.h"
#include "core/decode/values.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view name = input.Line();
  const std::string_view value = input.Line();
  const std::string_view text = input.Rest();
  const auto canonical = CanonicalNcclValue(name, value);
  if (canonical.ok()) {
    const auto again = CanonicalNcclValue(name, *canonical);
    ALWAYS(again.ok() && *again == *canonical, *canonical, value);
    ALWAYS(canonical->find('\n') == std::string::npos && canonical->size() <= 1023, *canonical);
  }
  const NcclVariable found = FindNcclVariable(text, name);
  const auto lines = static_cast<int>(Lines(text).size());
  ALWAYS(!found.found || (found.line >= 1 && found.line <= lines), text, name);
  for (const int line : found.repeated) ALWAYS(line > found.line && line <= lines, text, name);
  for (const int line : found.unread) ALWAYS(line >= 1 && line <= lines, text, name);
  if (!IsNcclName(name) || !canonical.ok()) return 0;

  const std::string with = WithNcclVariable(text, name, *canonical);
  const NcclVariable there = FindNcclVariable(with, name);
  ALWAYS(there.found && there.value == *canonical && there.repeated.empty(), with, name);
  ALWAYS(WithNcclVariable(with, name, *canonical) == with, with, name);
  const std::string without = WithoutNcclVariable(with, name);
  ALWAYS(!FindNcclVariable(without, name).found, without, name);
  // Every other line stands as it stood; a last line may have got its line break.
  std::string kept = WithoutNcclVariable(text, name);
  if (!found.found && !kept.empty() && kept.back() != '\n') kept += '\n';
  ALWAYS(without == kept, without, kept);
  return 0;
}
