#include "controller/identity/peer_range.h"

#include <charconv>

#include "core/identity/server_name.h"
#include "railwright/utf8.h"

namespace railwright {
namespace {

constexpr std::string_view kMapped("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);

// In network order; "" for what is no address.
std::string BytesOf(std::string_view text) {
  const auto name = identity::ServerName::Parse(text);
  if (!name.ok()) return {};
  const std::string& bytes = name->address();
  return bytes.size() == 16 && bytes.starts_with(kMapped) ? bytes.substr(kMapped.size()) : bytes;
}

bool Bit(const std::string& bytes, unsigned at) {
  return (static_cast<unsigned char>(bytes[at / 8]) >> (7 - at % 8) & 1) != 0;
}

}  // namespace

Result<PeerRange> PeerRange::Parse(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return Status(Code::kInvalidArgument, "\"" + Brief(text) + "\" is no range of addresses: " +
                                              std::string(why) + "; allowed: 10.1.0.0/16, 2001:db8::/32");
  };
  const std::size_t slash = text.find('/');
  std::string bytes = BytesOf(text.substr(0, slash));
  if (bytes.empty()) return bad("no IP address stands before the prefix");
  const auto most = static_cast<unsigned>(bytes.size() * 8);
  unsigned bits = most;
  if (slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(prefix.data(), prefix.data() + prefix.size(), bits);
    if (error != std::errc() || end != prefix.data() + prefix.size() || bits > most)
      return bad("the prefix is no number of 0 to " + std::to_string(most));
  }
  for (unsigned at = bits; at < most; ++at)
    if (Bit(bytes, at)) return bad("there are bits behind the prefix");
  return PeerRange(std::move(bytes), bits);
}

bool PeerRange::Contains(std::string_view address) const {
  const std::string bytes = BytesOf(address);
  if (bytes.size() != bytes_.size()) return false;
  for (unsigned at = 0; at < bits_; ++at)
    if (Bit(bytes, at) != Bit(bytes_, at)) return false;
  return true;
}

std::string PlainAddress(std::string_view address) {
  const auto name = identity::ServerName::Parse(address);
  if (!name.ok() || !name->is_address()) return std::string(address);
  const std::string bytes = BytesOf(address);
  if (bytes.size() == name->address().size()) return name->text();
  std::string text;
  for (const char c : bytes)
    text += (text.empty() ? "" : ".") + std::to_string(static_cast<unsigned char>(c));
  return text;
}

}  // namespace railwright
