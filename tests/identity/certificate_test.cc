#include "core/identity/certificate.h"

#include "tests/identity/forge.h"
#include "tests/identity/world.h"

namespace railwright::identity {
namespace {

TEST(Certificate, IsReadBackFromItsPem) {
  const Certificate leaf = NodeLeaf();
  EXPECT_EQ(Must(Certificate::FromPem(leaf.ToPem())), leaf);
  EXPECT_EQ(Must(Certificate::FromDer(leaf.der())), leaf);
  const std::vector<Certificate> chain = {leaf, Root().certificate()};
  EXPECT_EQ(Must(Certificate::ChainFromPem(Certificate::ChainToPem(chain))), chain);
}

TEST(Certificate, AChainHasBounds) {
  const std::string one = NodeLeaf().ToPem();
  std::string eight;
  for (int i = 0; i < 8; ++i) eight += one;
  EXPECT_EQ(Must(Certificate::ChainFromPem(eight)).size(), 8U);
  ExpectRefused(Certificate::ChainFromPem(eight + one), Code::kInvalidArgument, "more than 8 blocks");
  ExpectRefused(Certificate::FromPem(one + one), Code::kInvalidArgument, "more than 1 block");
  ExpectRefused(Certificate::ChainFromPem(""), Code::kInvalidArgument, "empty");
  const std::string blanks(Certificate::kMostPemBytes - one.size(), '\n');
  EXPECT_TRUE(Certificate::ChainFromPem(one + blanks).ok());
  ExpectRefused(Certificate::ChainFromPem(one + blanks + "\n"), Code::kInvalidArgument, "65537 bytes");
  ExpectRefused(Certificate::ChainFromPem(one + NodeKey().ToPem()), Code::kInvalidArgument, "something else");
}

TEST(Certificate, IsNotReadWhenItIsLarge) {
  std::string names = "URI:spiffe://pod-a/controller";
  for (int i = 0; i < 1000; ++i) names += ",DNS:" + std::to_string(i) + ".example";
  const std::string der = ForgeDer(Root(), NodeKey(), With(HonestNode(), "subjectAltName", names));
  ASSERT_GT(der.size(), Certificate::kMostBytes);
  ExpectRefused(Certificate::FromDer(der), Code::kInvalidArgument, "at most 8192");
}

TEST(Certificate, HasOneEncoding) {
  const std::string der = NodeLeaf().der();
  ExpectRefused(Certificate::FromDer(der + '\0'), Code::kInvalidArgument, "behind it");
  for (std::size_t size = 0; size < der.size(); ++size)
    EXPECT_FALSE(Certificate::FromDer(der.substr(0, size)).ok()) << size;
  // BER's indefinite length around the same content.
  ASSERT_EQ(der.substr(0, 2), "\x30\x82");
  const std::string ber = std::string("\x30\x80") + der.substr(4) + std::string(2, '\0');
  EXPECT_FALSE(Certificate::FromDer(ber).ok());
}

TEST(Certificate, OfOtherKeysIsNotRead) {
  const PrivateKey ed = NewKey(KeyKind::kEd25519);
  ExpectRefused(Certificate::FromDer(ForgeDer(Root(), ed.public_key(), HonestNode())), Code::kInvalidArgument,
                "not P-256");
}

TEST(Certificate, AnExtensionTwiceIsRefused) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"extendedKeyUsage", "clientAuth"},
           {"basicConstraints", "CA:TRUE"},
           {"keyUsage", "keyCertSign"},
           {"subjectAltName", "URI:spiffe://pod-a/controller"},
           {std::string(Authority::kOid), "ASN1:UTF8String:v1 roles=admin scope=*"}}) {
    Forging twice = HonestNode();
    if (name == Authority::kOid) twice.extensions.emplace_back(name, value);
    twice.extensions.emplace_back(name, value);
    ExpectRefused(Certificate::FromDer(ForgeDer(Root(), NodeKey(), twice)), Code::kInvalidArgument,
                  "is there twice");
  }
}

TEST(Certificate, TellsTimesOfAnyYear) {
  Forging words = HonestNode();
  words.not_before = Time(std::chrono::seconds(0));
  words.not_after = Time(std::chrono::seconds(4102444800));  // 2100: GeneralizedTime
  const Certificate one = Forge(words);
  EXPECT_EQ(one.not_before(), words.not_before);
  EXPECT_EQ(one.not_after(), words.not_after);
}

TEST(PinnedCa, IsFoundByItsPinOnly) {
  const std::vector<Certificate> chain = {NodeLeaf(), Root().certificate()};
  EXPECT_EQ(Must(PinnedCa(chain, Root().certificate().pin())), Root().certificate());
  ExpectRefused(PinnedCa(chain, NodeKey().pin()), Code::kUnauthenticated, Root().certificate().pin().Text());
  ExpectRefused(PinnedCa({NodeLeaf()}, Root().certificate().pin()), Code::kUnauthenticated, "no CA at all");
}

}  // namespace
}  // namespace railwright::identity
