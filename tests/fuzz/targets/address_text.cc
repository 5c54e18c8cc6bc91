// Addresses and prefixes as text, in the two places that read them: they must agree.
#include <algorithm>

#include "agent/machine/ip_address.h"
#include "core/decode/cidr.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;
using machine::IpAddress;
using machine::IpPrefix;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto known = [](char c) {
    return std::string_view("0123456789abcdefABCDEF:./").find(c) != std::string_view::npos;
  };
  const auto address = Cidr::ParseAddress(text);
  const auto ip = IpAddress::Parse(text);
  ALWAYS(address.ok() == ip.ok(), text);
  if (address.ok()) {
    ALWAYS(std::all_of(text.begin(), text.end(), known), text);
    ALWAYS(address->Address() == ip->Text(), text, ip->Text());
    const auto again = Cidr::ParseAddress(address->Address());
    ALWAYS(again.ok() && *again == *address, address->Address(), text);
  }
  const auto cidr = Cidr::Parse(text);
  const auto prefix = IpPrefix::Parse(text, false);
  if (cidr.ok()) {
    ALWAYS(std::all_of(text.begin(), text.end(), known), text);
    ALWAYS(prefix.ok() && prefix->Text() == cidr->Text(), text, cidr->Text());
    const auto again = Cidr::Parse(cidr->Text());
    ALWAYS(again.ok() && *again == *cidr, cidr->Text(), text);
    ALWAYS(cidr->Network().Contains(*cidr) && cidr->Network().Network() == cidr->Network(), cidr->Text());
    ALWAYS(prefix->HasHostBits() == (cidr->Network() != *cidr), cidr->Text());
    (void)cidr->CheckHost();
  }
  const auto list = ParseCidrs(text);
  if (!list.ok()) return 0;
  const auto outer = OutermostNetworks(*list);
  for (const Cidr& one : *list)
    ALWAYS(std::count_if(outer.begin(), outer.end(), [&](const Cidr& net) { return net.Contains(one); }) == 1,
           one.Text(), text);
  return 0;
}
