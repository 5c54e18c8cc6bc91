// JoinToken, StoredToken, JoinLine: what lets a new node ask for its first certificate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/identity/digest.h"
#include "core/identity/key.h"
#include "core/identity/random.h"
#include "core/identity/secret.h"
#include "core/identity/server_name.h"
#include "railwright/result.h"

namespace railwright::identity {

class JoinToken;

/// What the controller keeps of a token: enough to know it again, nothing to make it from.
struct StoredToken {
  std::string id;        ///< 13 characters
  Digest secret_digest;  ///< SHA-256 over the 20 bytes of the secret; it has 160 random bits, so no salt

  /// Whether `token` is the one that this was made from, in constant time.
  Result<bool> Matches(const JoinToken& token) const;
  friend bool operator==(const StoredToken&, const StoredToken&) = default;
};

/// `<id>.<secret>`, in base32 (RFC 4648 §6) of lower case without padding, so that it survives being read
/// aloud: 64 bits name it, in lists and logs too; 160 bits prove it.
class JoinToken {
 public:
  static constexpr std::size_t kIdBytes = 8, kIdChars = 13;
  static constexpr std::size_t kSecretBytes = 20, kSecretChars = 32;
  static constexpr std::size_t kChars = kIdChars + 1 + kSecretChars;

  /// The error is that of `random`.
  static Result<JoinToken> Generate(const RandomSource& random = SystemRandom);
  /// Exactly 46 characters of the one spelling. InvalidArgument never shows any of them.
  static Result<JoinToken> Parse(std::string_view text);

  const std::string& id() const { return id_; }
  /// For the join line only.
  Secret Text() const;
  Result<StoredToken> Stored() const;

 private:
  JoinToken(std::string id, Secret secret) : id_(std::move(id)), secret_(std::move(secret)) {}

  std::string id_;
  Secret secret_;  // 20 bytes
};

/// The line that an operator pastes on a new node:
/// `railwright-agent join <host:port> --token <token> --ca <pin>`. The pin is not optional: without it the
/// node would give its token to whoever answers.
struct JoinLine {
  Endpoint controller;
  JoinToken token;
  Pin ca;

  /// What Text gives, with any blanks between and around the words. InvalidArgument names the word that is
  /// wrong and never shows it: it may be the token in the wrong place.
  static Result<JoinLine> Parse(std::string_view text);
  /// The same from the three words of a command line.
  static Result<JoinLine> FromWords(std::string_view endpoint, std::string_view token, std::string_view pin);
  Secret Text() const;
};

}  // namespace railwright::identity
