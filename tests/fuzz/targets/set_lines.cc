// Lines of set-valued paths as operators and profiles write them: one meaning has one line.
#include "agent/machine/rtnl_decode.h"
#include "core/decode/fields.h"
#include "core/decode/rail_routing.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;
using namespace railwright::machine;

namespace {

template <class T>
void Check(std::string_view line) {
  const Result<T> parsed = T::Parse(line);
  if (!parsed.ok()) {
    ALWAYS(parsed.status().code() == Code::kInvalidArgument, parsed.status().message());
    return;
  }
  const std::string text = parsed->Text();
  const Result<T> again = T::Parse(text);
  ALWAYS(again.ok(), text, line);
  ALWAYS(again->Text() == text, again->Text(), text);
  ALWAYS(text.find('\n') == std::string::npos, text, line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = SortedLines(text);
  ALWAYS(SortedLines(JoinLines(lines)) == lines, text);
  for (const std::string& line : lines) {
    Check<Address>(line);
    Check<Route>(line);
    Check<Rule>(line);
    Check<Fields>(line);
    Check<RailRoutingWish>(line);
    Check<RailRouting>(line);
  }
  return 0;
}
