// Lines of the agent's journal. The fuzzer's text is tried as it is, and with its checksum made right.
#include <nlohmann/json.hpp>

#include "agent/journal/record.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;
using nlohmann::json;

namespace {

// As agent/journal/README.md has it: FNV-1a, 64 bit, over the object without "sum", in ASCII.
std::string Sum(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash));
  return hex;
}

void Check(std::string_view line) {
  const auto record = ParseRecord(line);
  if (!record.ok()) {
    ALWAYS(record.status().code() == Code::kDataLoss, record.status().message());
    return;
  }
  std::string text = FormatRecord(*record);
  ALWAYS(text.back() == '\n' && text.find('\n') == text.size() - 1, text);
  text.pop_back();
  const auto again = ParseRecord(text);
  ALWAYS(again.ok() && FormatRecord(*again) == text + "\n", text, line);
  ALWAYS(again->original == record->original && again->prepared == record->prepared, text, line);
  ALWAYS(again->open == record->open && again->failed == record->failed, text, line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Check(text);
  json object = json::parse(text, nullptr, false);
  if (object.is_object()) {
    object.erase("sum");
    try {
      object["sum"] = Sum(object.dump(-1, ' ', true));
      Check(object.dump(-1, ' ', true));
    } catch (const json::exception&) {  // text that is no UTF-8 cannot be printed
    }
  }
  // Any bytes survive as a value.
  JournalRecord record;
  record.op = JournalRecord::Op::kOriginal;
  record.original = {"file.x", "", Original::Kind::kValue, std::string(text)};
  const std::string line = FormatRecord(record);
  const auto back = ParseRecord(std::string_view(line).substr(0, line.size() - 1));
  ALWAYS(back.ok() && back->original == record.original, line);
  return 0;
}
