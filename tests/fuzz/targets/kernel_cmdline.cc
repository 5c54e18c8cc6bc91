// The kernel command line, a wish for it (the first line), and GRUB's file.
#include <set>

#include "core/decode/kernel_cmdline.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view line = input.Line();
  const std::string_view text = input.Rest();
  const auto parameters = ParseKernelCmdline(text);
  for (const KernelParameter& one : parameters)
    ALWAYS(one.name.find('"') == std::string::npos && one.value.find('"') == std::string::npos, one.Text(),
           text);
  const auto wish = CmdlineWish::Parse(line);
  if (wish.ok()) {
    const auto again = CmdlineWish::Parse(wish->Text());
    ALWAYS(again.ok() && again->Text() == wish->Text(), wish->Text(), line);
    ALWAYS(wish->Missing(parameters).size() <= wish->items.size(), wish->Text(), text);
    // A command line of nothing but what is wished lacks nothing.
    std::set<std::string> names;
    bool clear = true;
    for (const auto& item : wish->items)
      clear = clear && item.present && names.insert(item.parameter.name).second;
    if (clear) ALWAYS(wish->Missing(ParseKernelCmdline(wish->Text())).empty(), wish->Text(), line);
  }
  const std::string value = ShellAssignment(text, "GRUB_CMDLINE_LINUX");
  ALWAYS(value.find('\n') == std::string::npos && value.size() <= size, value);
  return 0;
}
