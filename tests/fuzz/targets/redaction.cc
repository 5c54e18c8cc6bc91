// Redaction of what a machine answered: the first line is the path.
#include <algorithm>

#include "agent/machine/redact.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;
using machine::Redactor;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::string_view path = input.Line();
  const std::string_view text = input.Rest();
  Redactor redactor(0x1234567890abcdef, "gpu-017.example.net");
  redactor.Learn("/file/etc/hosts", "10.77.3.9 storage-a.corp stg-1\n");
  redactor.Learn("/sys/class/dmi/id/product_serial", "SN12345XY");
  redactor.Learn(path, text);
  const std::string clean = redactor.Text(path, text);
  ALWAYS(clean == redactor.Text(path, text), clean, text);
  // A replacement is at most an expanded IPv6 address in the place of one of three bytes.
  ALWAYS(clean.size() <= 16 * (size + 8), clean, text);
  ALWAYS(std::count(clean.begin(), clean.end(), '\n') >= 0, clean);
  // Known things between blanks are gone wherever they stand.
  const std::string around = std::string(text) + "\n 10.77.3.9 SN12345XY storage-a.corp 50:6b:4b:c5:12:34 \n";
  const std::string redacted = redactor.Text("/proc/x", around);
  for (const std::string_view known :
       {" 10.77.3.9 ", " SN12345XY ", " storage-a.corp ", " 50:6b:4b:c5:12:34 "})
    ALWAYS(redacted.substr(redacted.size() - std::min<std::size_t>(redacted.size(), 200)).find(known) ==
               std::string::npos,
           redacted, around);
  (void)redactor.Name(text);
  return 0;
}
