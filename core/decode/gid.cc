#include "core/decode/gid.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/decode/values.h"

namespace railwright {
namespace {

using Bytes = std::array<unsigned char, 16>;

std::string TextOf(const Bytes& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i != 0 && i % 2 == 0) text += ':';
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 0xf];
  }
  return text;
}

}  // namespace

Result<std::string> GidOfAddress(std::string_view address) {
  const std::string text(address.substr(0, address.find('/')));
  const Status refused(Code::kInvalidArgument, Quoted(address) + " is no address");
  // What stands behind a NUL would not be seen.
  if (text.find('\0') != std::string::npos) return refused;
  Bytes bytes{};
  in_addr four{};
  if (::inet_pton(AF_INET, text.c_str(), &four) == 1) {
    bytes[10] = bytes[11] = 0xff;
    std::memcpy(bytes.data() + 12, &four, sizeof four);
    return TextOf(bytes);
  }
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return TextOf(bytes);
  return refused;
}

bool IsEmptyGid(std::string_view gid) {
  return std::all_of(gid.begin(), gid.end(), [](char c) { return c == '0' || c == ':'; });
}

std::string GidForPeople(std::string_view gid) {
  const std::string text(gid);
  in6_addr address{};
  std::array<char, INET6_ADDRSTRLEN> shown{};
  if (text.find('\0') != std::string::npos || ::inet_pton(AF_INET6, text.c_str(), &address) != 1 ||
      ::inet_ntop(AF_INET6, &address, shown.data(), shown.size()) == nullptr)
    return text;
  return shown.data();
}

}  // namespace railwright
