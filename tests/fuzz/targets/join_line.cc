// A join line as it is pasted: read, written, and never shown in an error.
#include "core/identity/join_token.h"

#include <algorithm>

#include "tests/fuzz/fuzz.h"

using namespace railwright;
using namespace railwright::identity;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line = JoinLine::Parse(text);
  if (!line.ok()) {
    ALWAYS(line.status().code() == Code::kInvalidArgument, text);
    // Words of our own in messages have at most 17 characters, a token has 46.
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
      const std::string_view word = text.substr(at, end - at);
      ALWAYS(word.size() < 20 || line.status().message().find(word) == std::string::npos, text,
             line.status().message());
      at = end + 1;
    }
    return 0;
  }
  const Secret spelt = line->Text();
  const auto again = JoinLine::Parse(spelt.Reveal());
  ALWAYS(again.ok() && again->Text().Reveal() == spelt.Reveal(), text, spelt.Reveal());
  ALWAYS(again->ca == line->ca && again->controller == line->controller, text);
  const auto stored = line->token.Stored();
  const auto same = stored.ok() ? stored->Matches(again->token) : Result<bool>(stored.status());
  ALWAYS(same.ok() && *same, text);
  return 0;
}
