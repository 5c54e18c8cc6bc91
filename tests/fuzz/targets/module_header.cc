// The head of a module's EEPROM: bytes of the lower page, or ('n') the kernel's answer with them.
#include "core/decode/module_header.h"

#include "tests/fuzz/fuzz.h"

using namespace railwright;

namespace {

void Check(const Result<ModuleHeader>& header, std::string_view input) {
  if (!header.ok()) {
    ALWAYS(header.status().code() == Code::kDataLoss && !header.status().message().empty(), input);
    return;
  }
  const std::string text = header->ToFields().Text();
  const auto again = Fields::Parse(text);
  ALWAYS(again.ok() && again->Text() == text && text.size() <= 128, input, text);
  const auto said = DescribeModule(text);
  ALWAYS(said.ok() && !said->empty() && said->size() <= 64, input, text);
  // A module is read by one standard, and has what that has.
  const bool cmis = header->interface == ModuleInterface::kCmis;
  const bool sff =
      header->interface == ModuleInterface::kSff8436 || header->interface == ModuleInterface::kSff8636;
  ALWAYS(header->state.has_value() == cmis && header->data_not_ready.has_value() == sff, input, text);
  ALWAYS(header->flat.has_value() == (cmis || sff) && header->revision_code.has_value() == (cmis || sff),
         input, text);
  ALWAYS(header->Form().empty() == (header->interface == ModuleInterface::kUnknown), input, text);
  ALWAYS(!header->state || *header->state <= 7, input, text);
}

void Raw(std::string_view input) {
  const NetlinkBytes bytes(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  const auto header = ModuleHeader::Decode(bytes);
  Check(header, input);
  const std::string_view head = input.substr(0, ModuleHeader::kSize);
  const bool silent = head.find_first_not_of('\xff') == std::string_view::npos ||
                      head.find_first_not_of('\0') == std::string_view::npos;
  ALWAYS(header.ok() == (input.size() >= ModuleHeader::kSize && !silent), input);
  if (!header.ok()) return;
  // What stands behind the header changes nothing.
  const auto alone = ModuleHeader::Decode(bytes.first(ModuleHeader::kSize));
  ALWAYS(alone.ok() && alone->ToFields().Text() == header->ToFields().Text(), input);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  switch (input.Byte()) {
    case 'n':
      Check(DecodeModuleEeprom(
                {reinterpret_cast<const std::uint8_t*>(input.Rest().data()), input.Rest().size()}),
            input.Rest());
      break;
    case 'd': (void)DescribeModule(input.Rest()); break;
    default: Raw(input.Rest());
  }
  return 0;
}
