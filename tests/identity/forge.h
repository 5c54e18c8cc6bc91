// Certificates that our Issuer would never make, by a CA that does.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/identity/issuer.h"

namespace railwright::identity {

struct Forging {
  /// Names and values as openssl.cnf has them, in order.
  std::vector<std::pair<std::string, std::string>> extensions;
  Time not_before, not_after;
  const char* digest = "SHA256";
};

/// The extensions of an honest node's leaf.
Forging HonestNode();
/// `one` with the extension `name` set to `value`; "" takes it away.
Forging With(Forging one, const std::string& name, const std::string& value);

/// The DER that `ca` signs for `key`; "" with a failed test when OpenSSL does not make it.
std::string ForgeDer(const Issuer& ca, const PublicKey& key, const Forging& words);
Certificate Forge(const Forging& words);

}  // namespace railwright::identity
