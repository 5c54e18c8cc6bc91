// What signed states cost: the agent's check of one, and the controller's signing for a fleet. The baselines
// are what no way of doing it can do without: SHA-256 of the bytes and one Ed25519 operation of OpenSSL's a
// state, in the same process and in turns.
#include <openssl/evp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/loop/state_seal.h"
#include "core/identity/digest.h"
#include "railwright/clock.h"
#include "tests/agent/temporary_directory.h"
#include "tests/support/test_endorser.h"

namespace railwright {
namespace {

using Microseconds = std::chrono::duration<double, std::micro>;

constexpr int kRounds = 5, kChecks = 2000, kNodes = 10'000;

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "bench_sign: %s\n", why.c_str());
  std::exit(1);
}

double Took(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return Microseconds(std::chrono::steady_clock::now() - begin).count();
}

/// OpenSSL's Ed25519 and SHA-256, and nothing else.
class Bare {
 public:
  Bare() : key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")), context_(EVP_MD_CTX_new()) {
    if (!key_ || !context_) Fail("OpenSSL makes no Ed25519 key");
  }
  ~Bare() {
    EVP_MD_CTX_free(context_);
    EVP_PKEY_free(key_);
  }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;

  std::string Sign(const std::string& text) const {
    std::string signature(64, '\0');
    std::size_t size = signature.size();
    EVP_MD_CTX_reset(context_);
    if (EVP_DigestSignInit(context_, nullptr, nullptr, nullptr, key_) != 1 ||
        EVP_DigestSign(context_, Bytes(signature), &size, Bytes(text), text.size()) != 1)
      Fail("OpenSSL does not sign");
    return signature;
  }
  void Verify(const std::string& text, const std::string& signature, const std::string& payload) const {
    if (!identity::Sha256(payload).ok()) Fail("no SHA-256");
    EVP_MD_CTX_reset(context_);
    if (EVP_DigestVerifyInit(context_, nullptr, nullptr, nullptr, key_) != 1 ||
        EVP_DigestVerify(context_, Bytes(signature), signature.size(), Bytes(text), text.size()) != 1)
      Fail("OpenSSL does not verify");
  }

 private:
  static unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
  static const unsigned char* Bytes(const std::string& text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  }
  EVP_PKEY* key_;
  EVP_MD_CTX* context_;
};

/// The fastest of some rounds of both in turns, a piece.
struct Pair {
  double ours = 1e18, bare = 1e18;
  nlohmann::ordered_json Json() const { return {{"us", ours}, {"bare_us", bare}, {"ratio", ours / bare}}; }
};

Pair InTurns(int pieces, const std::function<void()>& ours, const std::function<void()>& bare) {
  Pair pair;
  for (int round = 0; round < kRounds; ++round) {
    pair.bare = std::min(pair.bare, Took(bare) / pieces);
    pair.ours = std::min(pair.ours, Took(ours) / pieces);
  }
  return pair;
}

nlohmann::ordered_json Check(const Bare& bare) {
  const TestSigner signer;
  const TemporaryDirectory directory;
  StateSeal seal(directory.path(), [trust = signer.Trust()] { return trust; });
  (void)seal.Open();
  const auto now = SystemClock().WallNow();
  const v1::DesiredState message = signer.Signed(7, std::string(8 * 1024, 'g'), std::string(400, 'o'));
  const std::string payload = message.group() + message.overlay();
  const std::string statement = *identity::StatementOf(message.envelope());
  const std::string signature = bare.Sign(statement);
  const Pair pair = InTurns(
      kChecks,
      [&] {
        for (int i = 0; i < kChecks; ++i)
          if (const auto opened = seal.Check(message, now); !opened.ok()) Fail(opened.status().message());
      },
      [&] {
        for (int i = 0; i < kChecks; ++i) bare.Verify(statement, signature, payload);
      });
  return pair.Json();
}

nlohmann::ordered_json Fleet(const Bare& bare) {
  const SystemClock clock;
  std::vector<ToEndorse> wanted(kNodes);
  for (int i = 0; i < kNodes; ++i) {
    ToEndorse& one = wanted[static_cast<std::size_t>(i)];
    one.node = "node-" + std::to_string(i);
    one.uuid = TestUuidOf(one.node);
    one.generation = 1;
    one.author = "ann";
    one.hash = std::string(64, 'a');
    one.bytes = 8 * 1024;
  }
  const auto endorse = [&](TestEndorser& endorser) {
    for (const auto& one : endorser.get()->Endorse(wanted))
      if (!one.ok()) Fail(one.status().message());
  };
  const std::string text(600, 's');  // as long as a statement
  const auto sign = [&] {
    for (int i = 0; i < kNodes; ++i) (void)bare.Sign(text);
  };
  const Pair fresh = InTurns(
      kNodes,
      [&] {
        TestEndorser endorser(clock);
        endorse(endorser);
      },
      sign);
  TestEndorser known(clock);
  endorse(known);
  const Pair again = InTurns(
      kNodes, [&] { endorse(known); }, sign);
  return {{"nodes", kNodes}, {"signed", fresh.Json()}, {"found_again", again.Json()}};
}

}  // namespace
}  // namespace railwright

int main() {
  const railwright::Bare bare;
  const nlohmann::ordered_json out{{"baseline", "SHA-256 and one Ed25519 operation of OpenSSL's a state"},
                                   {"check_8kib", railwright::Check(bare)},
                                   {"fleet", railwright::Fleet(bare)}};
  std::printf("%s\n", out.dump(2).c_str());
}
