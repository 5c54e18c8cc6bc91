// `mstconfig -e q`: the parameters of a card's flash; and values by meaning.
#include "core/decode/mstconfig.h"
#include "core/decode/nvconfig_names.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view wish = input.Line();
  const std::string value = NvValueToSet(wish);
  ALWAYS(NvValueToSet(value) == value, wish, value);
  if (CheckNvValue("CNP_DSCP_P1", value).ok()) ALWAYS(IsNvValue(value) && value[0] != '-', wish, value);
  const auto listing = DecodeMstconfig(input.Rest());
  if (!listing.ok()) return 0;
  for (const auto& [name, parameter] : listing->parameters) {
    ALWAYS(IsNvName(name.substr(0, name.find('['))), name);
    ALWAYS(!listing->unclear.contains(name), name);
    ALWAYS(!parameter.default_value.empty() || !parameter.current.empty() || !parameter.next.empty(), name);
    for (const std::string& text : {parameter.default_value, parameter.current, parameter.next}) {
      ALWAYS(text.find_first_of(" \t\r\n") == std::string::npos, name, text);
      ALWAYS(SameNvValue(text, wish) == SameNvValue(wish, text), text, wish);
      if (!NvValueToSet(text).empty() && SameNvValue(text, text))
        ALWAYS(SameNvValue(text, NvValueToSet(text)), text);
    }
  }
  return 0;
}
