// Addresses of the controller as operators write them.
#include "core/wire/address.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto address = ParseAddress(text);
  if (!address.ok()) {
    ALWAYS(address.status().code() == Code::kInvalidArgument, address.status().message());
    return 0;
  }
  const auto again = ParseAddress(address->ToString());
  ALWAYS(again.ok() && again->ToString() == address->ToString() && again->local == address->local,
         address->ToString(), text);
  ALWAYS(address->Target().find('\0') == std::string::npos && address->path.size() <= 107, address->Target(),
         text);
  return 0;
}
