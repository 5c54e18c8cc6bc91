// Two lists of CPUs, a line each, and what a judge asks of them.
#include "core/decode/cpu_list.h"

#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view first = input.Line(), second = input.Line();
  const auto a = CpuList::Parse(first), b = CpuList::Parse(second);
  for (const auto* list : {&a, &b}) {
    if (!list->ok()) continue;
    const std::string text = (*list)->Text();
    const auto again = CpuList::Parse(text);
    ALWAYS(again.ok() && *again == **list && again->Text() == text, text, first);
    ALWAYS((*list)->empty() == ((*list)->Count() == 0) && (*list)->Count() <= CpuList::kMost, text, first);
    ALWAYS((*list)->Covers(**list), text, first);
  }
  if (!a.ok() || !b.ok()) return 0;
  const CpuList both = a->Both(*b);
  ALWAYS(both == b->Both(*a), first, second);
  ALWAYS(a->Covers(both) && b->Covers(both), first, second);
  ALWAYS(a->Covers(*b) == (both.Count() == b->Count()), first, second);
  const auto spelt = CpuList::Parse(both.Text());
  ALWAYS(spelt.ok() && *spelt == both, first, second);
  return 0;
}
