#include "core/identity/server_name.h"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <optional>

#include "railwright/utf8.h"

namespace railwright::identity {
namespace {

struct Ip {
  std::string bytes;
  std::string text;
};

std::optional<Ip> ReadIp(std::string_view text, int family, std::size_t size) {
  const std::string whole(text);
  std::array<unsigned char, 16> bytes{};
  std::array<char, INET6_ADDRSTRLEN> spelt{};
  if (text.find('\0') != std::string_view::npos || inet_pton(family, whole.c_str(), bytes.data()) != 1 ||
      inet_ntop(family, bytes.data(), spelt.data(), spelt.size()) == nullptr)
    return std::nullopt;
  return Ip{std::string(reinterpret_cast<const char*>(bytes.data()), size), spelt.data()};
}

bool IsDnsName(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  bool letter_in_last = false;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') return false;
    letter_in_last = false;
    for (const char c : label) {
      const bool letter = c >= 'a' && c <= 'z';
      if (!letter && !(c >= '0' && c <= '9') && c != '-') return false;
      letter_in_last = letter_in_last || letter;
    }
    if (dot == std::string_view::npos) break;
    text.remove_prefix(dot + 1);
  }
  return letter_in_last;  // a last label of digits only is a mistyped address
}

}  // namespace

Result<ServerName> ServerName::Parse(std::string_view text) {
  if (const auto v4 = ReadIp(text, AF_INET, 4)) return ServerName(v4->text, v4->bytes);
  if (const auto v6 = ReadIp(text, AF_INET6, 16)) return ServerName(v6->text, v6->bytes);
  if (IsDnsName(text)) return ServerName(std::string(text), "");
  return Status(
      Code::kInvalidArgument,
      "\"" + Brief(text) + "\" is no server's name; allowed: a DNS name in lower case, an IP address");
}

Result<Endpoint> Endpoint::Parse(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return Status(Code::kInvalidArgument,
                  "\"" + Brief(text) + "\": " + std::string(why) + "; allowed: HOST:PORT, [IPv6]:PORT");
  };
  std::string_view host, port;
  const bool brackets = text.starts_with("[");
  if (brackets) {
    const std::size_t close = text.find("]:");
    if (close == std::string_view::npos) return bad("no \"]:PORT\"");
    host = text.substr(1, close - 1);
    port = text.substr(close + 2);
  } else {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return bad("no port");
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  auto name = ServerName::Parse(host);
  if (!name.ok()) return bad("no host name or address before the port");
  if (brackets != (name->address().size() == 16))
    return bad("brackets are for IPv6 addresses, which need them");
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() || port.front() == '0' || error != std::errc() || end != port.data() + port.size())
    return bad("the port is no number of 1 to 65535");
  return Endpoint{std::move(name).value(), number};
}

std::string Endpoint::Text() const {
  const bool v6 = host.address().size() == 16;
  return (v6 ? "[" + host.text() + "]" : host.text()) + ":" + std::to_string(port);
}

}  // namespace railwright::identity
