// Answers of generic netlink families: the first byte tells which, the rest are attributes.
#include "core/decode/devlink_info.h"
#include "core/decode/ethtool_fec.h"
#include "core/decode/values.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

namespace {

void CheckFields(const Result<Fields>& fields, std::size_t size) {
  if (!fields.ok()) {
    ALWAYS(fields.status().code() == Code::kDataLoss, fields.status().message());
    return;
  }
  const std::string text = fields->Text();
  const auto again = Fields::Parse(text);
  ALWAYS(again.ok() && again->Text() == text, text);
  // A mode costs 8 bytes in a list and one bit in a map, and has at most 13 characters.
  ALWAYS(text.size() <= 128 + 110 * size, std::to_string(text.size()), std::to_string(size));
}

void CheckModes(const Fields& fec) {
  const std::string* modes = fec.Find("modes");
  ALWAYS(modes != nullptr && !modes->empty(), fec.Text());
  if (modes->find("bit") != std::string::npos || *modes == "none") return;
  const auto bits = ParseFecModes(*modes);
  ALWAYS(bits.ok() && bits->size() == Words(*modes, ",").size(), *modes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const bool fec = (input.Byte() & 1) != 0;
  const std::string_view rest = input.Rest();
  const NetlinkBytes bytes(reinterpret_cast<const std::uint8_t*>(rest.data()), rest.size());
  if (fec) {
    const auto fields = DecodeFec(bytes);
    CheckFields(fields, rest.size());
    if (fields.ok()) CheckModes(*fields);
    (void)ParseFecModes(rest);
  } else {
    CheckFields(DecodeDevlinkInfo(bytes), rest.size());
    const std::string handle = DecodeDevlinkHandle(bytes);
    ALWAYS(handle.size() <= rest.size() + 1, handle);
  }
  return 0;
}
