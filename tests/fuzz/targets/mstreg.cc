// `mstreg --get`: the fields of an access register.
#include "core/decode/mstreg.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const auto fields = DecodeMstreg(input.Rest());
  if (!fields.ok()) {
    ALWAYS(fields.status().code() == Code::kDataLoss, fields.status().ToString());
    return 0;
  }
  for (const auto& [name, value] : fields->all()) {
    ALWAYS(IsRegisterField(name.substr(0, name.find('['))), name);
    const auto number = fields->Number(name);
    ALWAYS(number.ok() && *number <= 0xffffffffu, name, value);
  }
  if (!fields->empty()) {
    const auto again = Fields::Parse(fields->Text());
    ALWAYS(again.ok() && again->Text() == fields->Text(), fields->Text());
  }
  return 0;
}
