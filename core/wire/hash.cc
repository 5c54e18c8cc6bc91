// The two hashes of the wire: over a desired state's original bytes, and over a report's findings.
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>

#include "core/wire/wire.h"
#include "railwright/utf8.h"

namespace railwright {
namespace {

// SHA-256 in pieces. OpenSSL's digest calls fail only when memory is short or the provider is not there; then
// the hash is "", which matches no hash that was ever sent.
class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    good_ = context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
  }
  void Add(std::string_view bytes) {
    good_ = good_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1;
  }
  // A length before each field, so that moving a byte from one field to the next changes the hash. As valid
  // UTF-8, since that is what the other end gets to see.
  void AddField(std::string_view field) {
    const std::string text = ValidUtf8(field);
    Add(std::to_string(text.size()) + ":");
    Add(text);
  }
  std::string Hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (!good_ || EVP_DigestFinal_ex(context_.get(), digest.data(), &size) != 1) return {};
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (unsigned int i = 0; i < size; ++i) {
      hex += kDigits[digest[i] >> 4];
      hex += kDigits[digest[i] & 15];
    }
    return hex;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
  bool good_ = false;
};

}  // namespace

std::string StateHash(std::string_view group, std::string_view overlay) {
  Sha256 sha;
  sha.Add(group);
  sha.Add(overlay);
  return sha.Hex();
}

std::string ReportHash(const NodeReport& report) {
  std::vector<const Finding*> sorted;
  sorted.reserve(report.findings.size());
  for (const Finding& finding : report.findings) sorted.push_back(&finding);
  std::sort(sorted.begin(), sorted.end(), [](const Finding* a, const Finding* b) {
    return std::tie(a->key, a->target, a->code) < std::tie(b->key, b->target, b->code);
  });
  Sha256 sha;
  for (const Finding* finding : sorted) {
    for (const std::string* text : {&finding->code, &finding->key, &finding->target, &finding->desired,
                                    &finding->observed, &finding->reason, &finding->message, &finding->fix,
                                    &finding->origin.document, &finding->origin.place})
      sha.AddField(*text);
    sha.AddField(Name(finding->verdict));
    sha.AddField(Name(finding->mode));
    sha.AddField(std::to_string(finding->evidence.size()));
    for (const std::string& line : finding->evidence) sha.AddField(line);
  }
  return sha.Hex();
}

std::string HashPrefix8(std::string_view hex) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  if (hex.size() < 16) return {};
  std::string bytes;
  for (std::size_t i = 0; i < 16; i += 2) {
    const int high = digit(hex[i]), low = digit(hex[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace railwright
