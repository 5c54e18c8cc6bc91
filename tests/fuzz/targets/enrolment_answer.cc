// What a joining node reads from whoever answered: a body.
#include <variant>

#include "core/identity/enrolment.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;
using namespace railwright::identity;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto answer = DecodeAnswer(body);
  if (!answer.ok()) {
    ALWAYS(answer.status().code() == Code::kInvalidArgument, body, answer.status().ToString());
    return 0;
  }
  if (const auto* issued = std::get_if<IssuedAnswer>(&*answer)) {
    ALWAYS(!issued->chain.empty() && !issued->roots.empty() && !issued->signers.keys.empty(), body);
    ALWAYS(!issued->controllers.empty() && !issued->enrolment.empty(), body);
    ALWAYS(issued->party == Party::kNode ? NodeUuid::Parse(issued->uuid).ok() : issued->uuid.empty(), body);
  }
  if (const auto* refused = std::get_if<RefusedAnswer>(&*answer)) {
    ALWAYS(refused->code != Code::kOk && !refused->sentence.empty(), body);
    for (const char c : refused->sentence) ALWAYS(c >= ' ' && c <= '~', body);
  }
  // One message, one encoding.
  const auto frame = Encode(*answer);
  ALWAYS(frame.ok() && std::string_view(*frame).substr(kFrameHeadBytes) == body, body,
         frame.ok() ? *frame : frame.status().ToString());
  return 0;
}
