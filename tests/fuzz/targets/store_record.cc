// Blobs of the controller's store: the first byte tells findings, a change, or restores.
#include "controller/store/record.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const int kind = (input.Byte() - '0') & 3;
  const std::string_view bytes = input.Rest();
  if (kind == 0) {
    std::vector<Finding> findings, again;
    if (!DecodeFindings(bytes, findings)) return 0;
    const std::string encoded = EncodeFindings(findings);
    ALWAYS(encoded.size() <= bytes.size(), bytes);  // a number may be written longer than it need be
    ALWAYS(DecodeFindings(encoded, again) && again == findings, bytes);
  } else if (kind == 1) {
    ChangeRecord change, again;
    if (!DecodeChange(bytes, change)) return 0;
    const std::string encoded = EncodeChange(change);
    ALWAYS(DecodeChange(encoded, again) && EncodeChange(again) == encoded, bytes);
  } else {
    std::vector<std::pair<std::string, KeyTarget>> restores, again;
    std::uint64_t try_ms = 0, try_again = 0;
    if (!DecodeRestores(bytes, restores, &try_ms)) return 0;
    const std::string encoded = EncodeRestores(restores, try_ms);
    ALWAYS(encoded.size() <= bytes.size(), bytes);
    ALWAYS(DecodeRestores(encoded, again, &try_again) && again == restores && try_again == try_ms, bytes);
  }
  return 0;
}
