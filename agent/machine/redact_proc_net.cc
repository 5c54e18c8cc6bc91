// Addresses in /proc/net/*, which shows them as hexadecimal numbers.
#include <algorithm>
#include <bit>
#include <charconv>

#include "agent/machine/paths.h"
#include "agent/machine/redact.h"

namespace railwright::machine {
namespace {

/// The file below a `net` folder of /proc (/proc/net, /proc/self/net, /proc/7/net) that `path` names, or "".
std::string_view NetFile(std::string_view path) {
  if (!IsBelow(path, "/proc")) return {};
  const auto last = path.rfind('/');
  return path.substr(0, last).ends_with("/net") ? path.substr(last + 1) : std::string_view();
}

bool IsHexNumber(std::string_view word, std::size_t digits) {
  return word.size() == digits && word.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::uint32_t Number(std::string_view hex) {
  std::uint32_t number = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
  return number;
}

/// Whether the kernel prints the four bytes as they lie in memory (if_inet6), or as a number of its own
/// order.
enum class Order { kNetwork, kHost };

IpAddress ReadHex(std::string_view hex, Order order) {
  IpAddress address;
  address.family = hex.size() == 8 ? AF_INET : AF_INET6;
  for (std::size_t word = 0; word < hex.size() / 8; ++word) {
    const std::uint32_t number = Number(hex.substr(8 * word, 8));
    for (std::size_t i = 0; i < 4; ++i) {
      const bool low_first = order == Order::kHost && std::endian::native == std::endian::little;
      const auto shift = 8 * (low_first ? i : 3 - i);
      address.bytes[4 * word + i] = static_cast<std::uint8_t>(number >> shift);
    }
  }
  return address;
}

/// The reverse, in the letters of `like`.
std::string WriteHex(const IpAddress& address, Order order, std::string_view like) {
  const bool lower = like.find_first_of("abcdef") != std::string_view::npos ||
                     (order == Order::kNetwork && like.find_first_of("ABCDEF") == std::string_view::npos);
  const std::string_view digits = lower ? "0123456789abcdef" : "0123456789ABCDEF";
  std::string hex;
  for (std::size_t i = 0; i < address.size(); ++i) {
    const bool low_first = order == Order::kHost && std::endian::native == std::endian::little;
    const std::uint8_t byte = address.bytes[low_first ? (i & ~std::size_t{3}) + 3 - (i & 3) : i];
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

/// The words of a line with the blanks between them left where they are.
struct Line {
  explicit Line(std::string_view text) {
    for (std::size_t at = 0; (at = text.find_first_not_of(" \t", at)) != std::string_view::npos;) {
      const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end;
    }
  }
  std::vector<std::string_view> words;
};

}  // namespace

bool Redactor::TakesWholeFile(std::string_view path) {
  const std::string_view name = NetFile(path);
  for (std::string_view one : {"route", "ipv6_route", "if_inet6", "fib_trie", "tcp", "tcp6", "udp", "udp6",
                               "udplite", "udplite6", "raw", "raw6"})
    if (name == one) return true;
  return false;
}

std::string Redactor::ProcNetText(std::string_view path, std::string_view text) {
  const std::string_view name = NetFile(path);
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    result += name == "fib_trie" ? TrieLine(line, text) : HexLine(name, line);
    if (!text.empty() || line.data() + line.size() != text.data()) result += '\n';
  }
  return result;
}

/// Each file says in other columns what is an address, and how long its network is.
std::string Redactor::HexLine(std::string_view name, std::string_view line) {
  const Line split(line);
  const auto& words = split.words;
  std::string result;
  const char* copied = line.data();
  const auto replace = [&](std::size_t index, std::size_t digits, Order order, int length) {
    if (index >= words.size() || !IsHexNumber(words[index].substr(0, digits), digits)) return;
    const std::string_view hex = words[index].substr(0, digits);
    // "0100007F:1F90": what follows is a port.
    if (words[index].size() != digits && words[index][digits] != ':') return;
    // Names of interfaces may be made of a MAC.
    result += WithoutAddresses({copied, static_cast<std::size_t>(hex.data() - copied)}, false);
    result += WriteHex(addresses_.Map(ReadHex(hex, order), length), order, hex);
    copied = hex.data() + hex.size();
  };
  const auto hex_length = [&](std::size_t index) {
    return index < words.size() && IsHexNumber(words[index], 2) ? static_cast<int>(Number(words[index])) : -1;
  };
  if (name == "route") {  // Iface Destination Gateway Flags RefCnt Use Metric Mask …
    const bool mask = words.size() > 7 && IsHexNumber(words[7], 8);
    replace(1, 8, Order::kHost, mask ? std::popcount(Number(words[7])) : -1);
    replace(2, 8, Order::kHost, -1);
  } else if (name == "if_inet6") {  // address index length scope flags name
    replace(0, 32, Order::kNetwork, hex_length(2));
  } else if (name == "ipv6_route") {  // destination length source length next-hop …
    replace(0, 32, Order::kNetwork, hex_length(1));
    replace(2, 32, Order::kNetwork, hex_length(3));
    replace(4, 32, Order::kNetwork, -1);
  } else {  // sl local_address rem_address …
    const std::size_t digits = name.ends_with('6') ? 32 : 8;
    replace(1, digits, Order::kHost, -1);
    replace(2, digits, Order::kHost, -1);
  }
  return result +
         WithoutAddresses({copied, static_cast<std::size_t>(line.data() + line.size() - copied)}, false);
}

/// "|-- 10.10.0.0" has its length on the next line, "/24 link UNICAST". `rest` is what follows the line.
std::string Redactor::TrieLine(std::string_view line, std::string_view rest) {
  const Line split(line), next(rest.substr(0, rest.find('\n')));
  const bool leaf = split.words.size() == 2 && split.words[0] == "|--" && !next.words.empty() &&
                    next.words[0].starts_with('/');
  if (!leaf) return WithoutAddresses(line, true);
  const std::string_view address = split.words[1];
  const std::string whole = WithoutAddresses(std::string(address) + std::string(next.words[0]), true);
  return std::string(line.substr(0, line.size() - address.size())) + whole.substr(0, whole.find('/'));
}

}  // namespace railwright::machine
