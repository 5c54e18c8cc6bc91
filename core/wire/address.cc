#include "core/wire/address.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

namespace railwright {
namespace {

constexpr std::size_t kSunPathMax = 107;  // sizeof(sockaddr_un.sun_path) - 1, unix(7)
constexpr std::string_view kForms = "expected unix:/path, 127.0.0.1:PORT, [::1]:PORT or HOST:PORT";

std::vector<std::string_view> Split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(by);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

template <class T>
std::optional<T> Number(std::string_view text, int base, T most) {
  unsigned long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > most) return {};
  return static_cast<T>(value);
}

std::optional<std::array<std::uint8_t, 4>> ParseV4(std::string_view text) {
  const auto parts = Split(text, '.');
  if (parts.size() != 4) return {};
  std::array<std::uint8_t, 4> bytes{};
  for (std::size_t i = 0; i < 4; ++i) {
    // A leading zero is octal to some parsers and decimal to others: refused, so that nobody can disagree.
    if (parts[i].size() > 3 || (parts[i].size() > 1 && parts[i][0] == '0')) return {};
    const auto byte = Number<std::uint8_t>(parts[i], 10, 255);
    if (!byte) return {};
    bytes[i] = *byte;
  }
  return bytes;
}

std::optional<std::array<std::uint16_t, 8>> ParseV6(std::string_view text) {
  std::array<std::uint16_t, 8> groups{};
  const std::size_t gap = text.find("::");
  auto read = [](std::string_view half, std::vector<std::uint16_t>& out) {
    if (half.empty()) return true;
    const auto parts = Split(half, ':');
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i + 1 == parts.size() && parts[i].find('.') != std::string_view::npos) {
        const auto v4 = ParseV4(parts[i]);
        if (!v4) return false;
        out.push_back(static_cast<std::uint16_t>((*v4)[0] << 8 | (*v4)[1]));
        out.push_back(static_cast<std::uint16_t>((*v4)[2] << 8 | (*v4)[3]));
        continue;
      }
      if (parts[i].size() > 4) return false;
      const auto group = Number<std::uint16_t>(parts[i], 16, 0xffff);
      if (!group) return false;
      out.push_back(*group);
    }
    return true;
  };
  std::vector<std::uint16_t> head, tail;
  if (gap == std::string_view::npos) {
    if (!read(text, head) || head.size() != 8) return {};
  } else {
    if (!read(text.substr(0, gap), head) || !read(text.substr(gap + 2), tail)) return {};
    if (head.size() + tail.size() > 7) return {};
  }
  for (std::size_t i = 0; i < head.size(); ++i) groups[i] = head[i];
  for (std::size_t i = 0; i < tail.size(); ++i) groups[8 - tail.size() + i] = tail[i];
  return groups;
}

bool IsLoopback(const std::array<std::uint16_t, 8>& groups) {
  bool zero = true;
  for (std::size_t i = 0; i < 5; ++i) zero = zero && groups[i] == 0;
  if (!zero) return false;
  if (groups[5] == 0xffff) return groups[6] >> 8 == 127;  // ::ffff:127.0.0.1
  return groups[5] == 0 && groups[6] == 0 && groups[7] == 1;
}

bool IsHostName(std::string_view host) {
  if (host.empty() || host.size() > 253) return false;
  bool letter = false;
  for (const char c : host) {
    const bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!alpha && !(c >= '0' && c <= '9') && c != '-' && c != '.') return false;
    letter = letter || alpha;
  }
  return letter && host.front() != '-' && host.front() != '.';  // all digits and dots is a bad address
}

Status Bad(std::string_view text, std::string_view why) {
  return Status(Code::kInvalidArgument,
                "address \"" + std::string(text) + "\": " + std::string(why) + "; " + std::string(kForms));
}

}  // namespace

std::string Address::ToString() const {
  if (kind == Kind::kUnix) return "unix:" + path;
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string Address::Target() const {
  if (kind == Kind::kUnix) return "unix:" + path;
  if (host.find(':') != std::string::npos) return "ipv6:" + ToString();
  return (ParseV4(host) ? "ipv4:" : "dns:///") + ToString();
}

Result<Address> ParseAddress(std::string_view text) {
  Address address;
  if (text.starts_with("unix:")) {
    address.kind = Address::Kind::kUnix;
    address.path = text.substr(5);
    if (address.path.starts_with("//")) address.path.erase(0, 2);     // unix:///run/x
    while (address.path.starts_with("//")) address.path.erase(0, 1);  // one spelling of what is left
    if (address.path.empty()) return Bad(text, "no path after unix:");
    if (address.path.find('\0') != std::string::npos) return Bad(text, "a NUL byte in the path");
    if (address.path.size() > kSunPathMax)
      return Bad(text, "the path has " + std::to_string(address.path.size()) +
                           " bytes, a Unix socket's may have " + std::to_string(kSunPathMax));
    address.local = true;
    return address;
  }
  address.kind = Address::Kind::kTcp;
  std::string_view host, port;
  if (text.starts_with("[")) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos || close + 1 >= text.size() || text[close + 1] != ':')
      return Bad(text, "no \"]:PORT\"");
    host = text.substr(1, close - 1);
    port = text.substr(close + 2);
    const auto groups = ParseV6(host);
    if (!groups) return Bad(text, "no IPv6 address between the brackets");
    address.local = IsLoopback(*groups);
  } else {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return Bad(text, "no port");
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (host.find(':') != std::string_view::npos)
      return Bad(text, "an IPv6 address needs brackets, a scheme other than unix: is not known");
    if (const auto v4 = ParseV4(host)) {
      address.local = (*v4)[0] == 127;
    } else if (host == "localhost") {
      host = "127.0.0.1";  // RFC 6761: always loopback, so no resolver is asked
      address.local = true;
    } else if (!IsHostName(host)) {
      return Bad(text, "no host name or address before the port");
    }
  }
  const auto number = Number<unsigned short>(port, 10, 65535);
  if (!number) return Bad(text, "port \"" + std::string(port) + "\" is not 0 to 65535");
  address.host = host;
  address.port = *number;
  return address;
}

}  // namespace railwright
