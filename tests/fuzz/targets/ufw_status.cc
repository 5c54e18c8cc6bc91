// `ufw status [verbose]`.
#include <algorithm>

#include "core/decode/ufw_status.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto status = DecodeUfwStatus(text);
  if (!status.ok()) {
    ALWAYS(status.status().code() == Code::kInvalidArgument, status.status().message());
    return 0;
  }
  const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
  int last = 0;
  for (const UfwRule& rule : status->rules) {
    ALWAYS(rule.line > last && rule.line <= lines, text);
    last = rule.line;
    ALWAYS(!rule.text.empty() && text.find(rule.text) != std::string_view::npos, rule.text, text);
    for (const UfwEnd* end : {&rule.to, &rule.from})
      for (const UfwEnd::Ports& ports : end->ports) ALWAYS(ports.first <= ports.last, rule.text);
  }
  return 0;
}
