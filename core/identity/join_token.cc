#include "core/identity/join_token.h"

#include <openssl/crypto.h>

#include <array>
#include <span>

namespace railwright::identity {
namespace {

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::string_view kCommand = "railwright-agent", kVerb = "join", kToken = "--token", kCa = "--ca";
constexpr std::size_t kMostLineBytes = 1024;

Status Bad(std::string_view what) { return Status(Code::kInvalidArgument, std::string(what)); }

// RFC 4648 §6; bits that are left over at the end are zero.
void Base32(std::string_view bytes, std::span<char> out) {
  unsigned int held = 0;
  int bits = 0;
  std::size_t next = 0;
  for (const char c : bytes) {
    held = (held << 8 | static_cast<unsigned char>(c)) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) out[next++] = kAlphabet[held >> (bits - 5) & 31];
  }
  if (bits > 0) out[next] = kAlphabet[held << (5 - bits) & 31];
}

// Only what Base32 writes for out.size() bytes: each text has one meaning, each meaning one text.
bool FromBase32(std::string_view text, std::span<char> out) {
  if (text.size() != (out.size() * 8 + 4) / 5) return false;
  unsigned int held = 0;
  int bits = 0;
  std::size_t next = 0;
  for (const char c : text) {
    // By arithmetic and not by a table, whose cache lines would tell which characters were looked up.
    const auto letter = static_cast<unsigned int>(c - 'a'), digit = static_cast<unsigned int>(c - '2');
    if (letter >= 26 && digit >= 6) return false;
    held = (held << 5 | (letter < 26 ? letter : digit + 26)) & 0xffff;
    for (bits += 5; bits >= 8; bits -= 8) out[next++] = static_cast<char>(held >> (bits - 8) & 0xff);
  }
  return next == out.size() && (held & ((1U << bits) - 1)) == 0;
}

}  // namespace

Result<bool> StoredToken::Matches(const JoinToken& token) const {
  RW_ASSIGN_OR_RETURN(const StoredToken other, token.Stored());
  const bool same_id = SameBytes(id, other.id);
  return SameBytes(Bytes(secret_digest), Bytes(other.secret_digest)) && same_id;
}

Result<JoinToken> JoinToken::Generate(const RandomSource& random) {
  Secret bytes(kIdBytes + kSecretBytes);
  const std::span<char> raw = bytes.Writable();
  RW_RETURN_IF_ERROR(random({reinterpret_cast<std::uint8_t*>(raw.data()), raw.size()}));
  std::string id(kIdChars, 'a');
  Base32(bytes.Reveal().substr(0, kIdBytes), id);
  return JoinToken(std::move(id), Secret(bytes.Reveal().substr(kIdBytes)));
}

Result<JoinToken> JoinToken::Parse(std::string_view text) {
  const std::string form = "a join token is " + std::to_string(kIdChars) + " characters, a dot and " +
                           std::to_string(kSecretChars) + " characters of a-z and 2-7";
  if (text.size() != kChars) return Bad(form + "; this has " + std::to_string(text.size()) + " in all");
  if (text[kIdChars] != '.') return Bad(form + "; the dot is not there");
  std::array<char, kIdBytes> id{};
  if (!FromBase32(text.substr(0, kIdChars), id)) return Bad(form + "; its first part is mistyped");
  Secret secret(kSecretBytes);
  if (!FromBase32(text.substr(kIdChars + 1), secret.Writable()))
    return Bad(form + "; its second part is mistyped");
  return JoinToken(std::string(text.substr(0, kIdChars)), std::move(secret));
}

Secret JoinToken::Text() const {
  Secret text(kChars);
  const std::span<char> out = text.Writable();
  id_.copy(out.data(), kIdChars);
  out[kIdChars] = '.';
  Base32(secret_.Reveal(), out.subspan(kIdChars + 1));
  return text;
}

Result<StoredToken> JoinToken::Stored() const {
  RW_ASSIGN_OR_RETURN(const Digest digest, Sha256(secret_.Reveal()));
  return StoredToken{id_, digest};
}

Result<JoinLine> JoinLine::FromWords(std::string_view endpoint, std::string_view token,
                                     std::string_view pin) {
  const auto controller = Endpoint::Parse(endpoint);
  if (!controller.ok())
    return Bad("the controller's address is not HOST:PORT or [IPv6]:PORT, with a port of 1 to 65535");
  RW_ASSIGN_OR_RETURN(auto parsed, JoinToken::Parse(token));
  const auto ca = Pin::Parse(pin);
  if (!ca.ok()) return Bad("the CA's pin is not \"sha256:\" and 64 digits of 0-9 and a-f");
  return JoinLine{*controller, std::move(parsed), *ca};
}

Result<JoinLine> JoinLine::Parse(std::string_view text) {
  const std::string form = "a join line is \"railwright-agent join HOST:PORT --token TOKEN --ca sha256:PIN\"";
  if (text.size() > kMostLineBytes) return Bad(form + "; this has " + std::to_string(text.size()) + " bytes");
  constexpr std::string_view kBlank = " \t\r\n";
  std::array<std::string_view, 7> words;
  std::size_t count = 0;
  for (std::size_t at = text.find_first_not_of(kBlank); at != std::string_view::npos;
       at = text.find_first_not_of(kBlank)) {
    text.remove_prefix(at);
    const std::string_view word = text.substr(0, text.find_first_of(kBlank));
    if (count == words.size()) return Bad(form + "; there are words behind the pin");
    words[count++] = word;
    text.remove_prefix(word.size());
  }
  if (count != words.size())
    return Bad(form + "; this has " + std::to_string(count) + " of " + std::to_string(words.size()) +
               " words: was all of it copied?");
  if (words[0] != kCommand || words[1] != kVerb || words[3] != kToken || words[5] != kCa) return Bad(form);
  return FromWords(words[2], words[4], words[6]);
}

Secret JoinLine::Text() const {
  const std::string before = std::string(kCommand) + " " + std::string(kVerb) + " " + controller.Text() +
                             " " + std::string(kToken) + " ";
  const std::string behind = " " + std::string(kCa) + " " + ca.Text();
  const Secret secret = token.Text();
  Secret line(before.size() + secret.size() + behind.size());
  char* out = line.Writable().data();
  out += before.copy(out, before.size());
  out += secret.Reveal().copy(out, secret.size());
  behind.copy(out, behind.size());
  return line;
}

}  // namespace railwright::identity
