#include "controller/identity/address_range.h"

#include <algorithm>

#include "railwright/utf8.h"

namespace railwright {
namespace {

constexpr std::string_view kMapped("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);

Result<Cidr> ParsePlain(std::string_view text) {
  RW_ASSIGN_OR_RETURN(Cidr address, Cidr::ParseAddress(text));
  if (address.v6 && std::equal(kMapped.begin(), kMapped.end(), address.bytes.begin(),
                               [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; })) {
    Cidr v4;
    std::copy(address.bytes.begin() + 12, address.bytes.end(), v4.bytes.begin());
    v4.length = v4.longest();
    return v4;
  }
  return address;
}

}  // namespace

Result<Cidr> ParseRange(std::string_view text) {
  const auto bad = [&](const std::string& why) {
    return Status(Code::kInvalidArgument, "\"" + Brief(text) + "\" is no range of addresses: " + why +
                                              "; allowed: 10.1.0.0/16, 2001:db8::/32");
  };
  auto range = text.find('/') == std::string_view::npos ? ParsePlain(text) : Cidr::Parse(text);
  if (!range.ok()) return bad(range.status().message());
  if (range->Network() != *range) return bad("there are bits behind the prefix");
  return range;
}

bool InRange(const Cidr& range, std::string_view address) {
  const auto plain = ParsePlain(address);
  return plain.ok() && range.Contains(*plain);
}

std::string PlainAddress(std::string_view address) {
  const auto plain = ParsePlain(address);
  return plain.ok() ? plain->Address() : std::string(address);
}

}  // namespace railwright
