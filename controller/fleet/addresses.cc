#include "controller/fleet/addresses.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "controller/fleet/quote.h"
#include "railwright/explain.h"

namespace railwright::fleet {

namespace {

constexpr std::array<std::string_view, 5> kPlaceholders{"index", "n", "node", "rack", "port"};
constexpr std::int64_t kLargestOperand = 1'000'000;
constexpr std::int64_t kLargestNumber = 4'294'967'295;

Status Bad(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

bool Digit(char c) { return c >= '0' && c <= '9'; }

// The last run of digits in a name: "gpu-007" → 7.
std::optional<std::int64_t> NumberIn(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && !Digit(name[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && Digit(name[begin - 1])) --begin;
  if (begin == end) return std::nullopt;
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(name.data() + begin, name.data() + end, number);
  if (error != std::errc() || number > kLargestNumber) return std::nullopt;
  return number;
}

bool AllZero(const Cidr& a, int from_bit, int to_bit, bool invert) {
  for (int bit = from_bit; bit < to_bit; ++bit) {
    const bool set = (a.bytes[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8)) & 1;
    if (set != invert) return false;
  }
  return true;
}

Result<std::array<std::uint8_t, 16>> Bytes(std::string_view text, bool& v6) {
  std::array<std::uint8_t, 16> bytes{};
  v6 = text.find(':') != std::string_view::npos;
  const std::string copy(text);  // inet_pton wants a terminated string
  const bool fits = text.size() < INET6_ADDRSTRLEN && copy.find('\0') == std::string::npos;
  if (!fits || inet_pton(v6 ? AF_INET6 : AF_INET, copy.c_str(), bytes.data()) != 1)
    return Bad(Quoted(text) + " is no " + (v6 ? "IPv6" : "IPv4") + " address");
  return bytes;
}

}  // namespace

std::string Cidr::Address() const {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(v6 ? AF_INET6 : AF_INET, bytes.data(), text, sizeof text);
  return text;
}

std::string Cidr::Text() const { return Address() + "/" + std::to_string(prefix); }

Cidr Cidr::Network() const {
  Cidr out = *this;
  for (int i = 0; i < 16; ++i) {
    const int kept = std::clamp(prefix - i * 8, 0, 8);
    out.bytes[static_cast<std::size_t>(i)] &= static_cast<std::uint8_t>(0xFF00 >> kept);
  }
  return out;
}

bool Cidr::Contains(const Cidr& other) const {
  if (v6 != other.v6 || other.prefix < prefix) return false;
  Cidr same = other;
  same.prefix = prefix;
  return same.Network().bytes == Network().bytes;
}

Result<Cidr> ParseCidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  Cidr out;
  RW_ASSIGN_OR_RETURN(out.bytes, Bytes(text.substr(0, slash), out.v6));
  if (slash == std::string_view::npos)
    return Bad(Quoted(text) + " has no prefix length; write " + std::string(text) + (out.v6 ? "/64" : "/24"));
  const std::string_view length = text.substr(slash + 1);
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), out.prefix);
  if (error != std::errc() || end != length.data() + length.size() || !Digit(length[0]) ||
      out.prefix > out.bits() || (length.size() > 1 && length[0] == '0'))
    return Bad(Quoted(text) + ": the prefix length must be 0…" + std::to_string(out.bits()) + ", found " +
               Quoted(length));
  return out;
}

Result<Cidr> ParseAddress(std::string_view text) {
  Cidr out;
  RW_ASSIGN_OR_RETURN(out.bytes, Bytes(text, out.v6));
  out.prefix = out.bits();
  return out;
}

Status CheckHost(const Cidr& a) {
  const std::string text = a.Text();
  const auto& b = a.bytes;
  if (a.v6) {
    if (AllZero(a, 0, 128, false)) return Bad(text + " is the unspecified address");
    if (AllZero(a, 0, 127, false) && b[15] == 1) return Bad(text + " is the loopback address");
    if (b[0] == 0xFF) return Bad(text + " is a multicast address");
    if (b[0] == 0xFE && (b[1] & 0xC0) == 0x80)
      return Bad(text + " is link-local; the kernel makes those itself");
    if (AllZero(a, 0, 80, false) && b[10] == 0xFF && b[11] == 0xFF)
      return Bad(text + " is IPv4 written as IPv6; write the IPv4 address");
  } else {
    if (b[0] == 0) return Bad(text + " is in 0.0.0.0/8, which no port can have");
    if (b[0] == 127) return Bad(text + " is a loopback address");
    if (b[0] >= 224) return Bad(text + " is a multicast or reserved address");
    if (b[0] == 169 && b[1] == 254) return Bad(text + " is link-local (169.254.0.0/16)");
  }
  if (a.prefix >= a.bits() - 1) return Ok();
  if (AllZero(a, a.prefix, a.bits(), false))
    return Bad(text + " is the address of the network itself, not of a host in it");
  if (!a.v6 && AllZero(a, a.prefix, 32, true)) return Bad(text + " is the broadcast address of its network");
  return Ok();
}

Result<Pattern> Pattern::Parse(std::string_view text) {
  Pattern out;
  out.text_ = text;
  if (text.size() > 256) return Bad(Quoted(text) + " has more than 256 characters");
  for (std::size_t at = 0; at < text.size();) {
    Piece piece;
    if (text[at] == '}') return Bad(Quoted(text) + ": a \"}\" that was never opened");
    if (text[at] != '{') {
      const std::size_t end = std::min(text.find_first_of("{}", at), text.size());
      piece.literal = text.substr(at, end - at);
      out.pieces_.push_back(std::move(piece));
      at = end;
      continue;
    }
    const std::size_t close = text.find('}', at);
    if (close == std::string_view::npos) return Bad(Quoted(text) + ": a \"{\" is never closed");
    std::string_view inside = text.substr(at + 1, close - at - 1);
    at = close + 1;
    std::size_t end = std::min(inside.find_first_of("+-*/%"), inside.size());
    piece.name = inside.substr(0, end);
    if (std::find(kPlaceholders.begin(), kPlaceholders.end(), piece.name) == kPlaceholders.end()) {
      const std::string_view near = Nearest(piece.name, kPlaceholders);
      return Bad(Quoted(text) + ": unknown placeholder \"{" + piece.name + "}\"; " +
                 (near.empty() || piece.name.size() < 3
                      ? std::string("known are: {index} {n} {node} {rack} {port}")
                      : "did you mean \"{" + std::string(near) + "}\"?"));
    }
    while (end < inside.size()) {
      const char operation = inside[end];
      inside.remove_prefix(end + 1);
      end = std::min(inside.find_first_of("+-*/%"), inside.size());
      std::int64_t operand = 0;
      const auto [rest, error] = std::from_chars(inside.data(), inside.data() + end, operand);
      if (end == 0 || error != std::errc() || rest != inside.data() + end || operand > kLargestOperand)
        return Bad(Quoted(text) + ": expected a number up to 1,000,000 after \"" + operation + "\"");
      if (operand == 0 && (operation == '/' || operation == '%'))
        return Bad(Quoted(text) + ": division by zero");
      piece.operations.emplace_back(operation, operand);
    }
    out.varies_ = out.varies_ || (piece.name != "rack" && piece.name != "port");
    out.pieces_.push_back(std::move(piece));
  }
  return out;
}

Result<std::string> Pattern::Expand(const PatternFacts& facts) const {
  std::string out;
  for (const Piece& piece : pieces_) {
    if (piece.name.empty()) {
      out += piece.literal;
      continue;
    }
    const std::string_view words = piece.name == "rack"   ? facts.rack
                                   : piece.name == "port" ? facts.port
                                                          : facts.node;
    if (words.empty()) return Bad(Quoted(text_) + ": the node has no " + piece.name);
    if (piece.name != "index" && piece.name != "n" && piece.operations.empty()) {
      out += words;
      continue;
    }
    std::optional<std::int64_t> number = piece.name == "index" ? facts.index : NumberIn(words);
    if (!number) return Bad(Quoted(text_) + ": there is no number in the name " + Quoted(words));
    for (const auto& [operation, operand] : piece.operations) {
      switch (operation) {
        case '+': *number += operand; break;
        case '-': *number -= operand; break;
        case '*': *number *= operand; break;
        case '/': *number /= operand; break;
        default: *number %= operand; break;
      }
      if (*number < 0 || *number > kLargestNumber)
        return Bad(Quoted(text_) + ": {" + piece.name + "} with its operations gives " +
                   std::to_string(*number));
    }
    out += std::to_string(*number);
  }
  return out;
}

}  // namespace railwright::fleet
