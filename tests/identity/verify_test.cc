#include "core/identity/verify.h"

#include "tests/identity/forge.h"
#include "tests/identity/world.h"

namespace railwright::identity {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

std::vector<Certificate> Roots() { return {Root().certificate()}; }
Certificate ControllerLeaf() {
  return Must(Root().Controller(NodeKey(), {Must(ServerName::Parse("ctl.example"))}, Noon()));
}
Certificate OperatorLeaf() {
  return Must(Root().Operator(NodeKey(), Must(OperatorName::Parse("ada")),
                              {.roles = {"approver", "viewer"}, .scope = "rack=r1"}, Noon()));
}
Result<Peer> VerifyForged(const Forging& words, const Expected& expected = Clients()) {
  return Verify({Forge(words)}, Roots(), expected, Noon());
}

TEST(Verify, SaysWhoItIs) {
  const Peer node = Must(Verify({NodeLeaf()}, Roots(), Clients(), Noon()));
  EXPECT_EQ(node.id, SpiffeId::Node(Cluster(), Uuid()));
  EXPECT_FALSE(node.authority);
  EXPECT_EQ(node.pin, NodeKey().pin());
  EXPECT_EQ(node.root, Root().certificate().pin());
  EXPECT_EQ(node.not_after, Noon() + hours(24));

  const Certificate leaf = OperatorLeaf();
  const Peer ada = Must(Verify({leaf}, Roots(), Clients(), Noon()));
  EXPECT_EQ(ada.id.Uri(), "spiffe://pod-a/operator/ada");
  EXPECT_EQ(ada.serial, leaf.serial());
  ASSERT_TRUE(ada.authority);
  EXPECT_EQ(ada.authority->scope, "rack=r1");

  EXPECT_EQ(Must(Verify({ControllerLeaf()}, Roots(), Servers(), Noon())).id.party(), Party::kController);
}

TEST(Verify, TheForgersHonestLeafIsAccepted) { EXPECT_TRUE(VerifyForged(HonestNode()).ok()); }

TEST(Verify, TimesHaveEdges) {
  const Certificate leaf = NodeLeaf();
  const Time from = Noon() - minutes(5), to = Noon() + hours(24);
  EXPECT_TRUE(Verify({leaf}, Roots(), Clients(), from).ok());
  EXPECT_TRUE(Verify({leaf}, Roots(), Clients(), to - seconds(1)).ok());
  ExpectRefused(Verify({leaf}, Roots(), Clients(), from - seconds(1)), Code::kUnauthenticated,
                "is not valid before 2026-12-01T09:55:00Z, in 1 s: this clock is behind");
  ExpectRefused(Verify({leaf}, Roots(), Clients(), to), Code::kUnauthenticated, "expired 0 s ago");
  ExpectRefused(Verify({leaf}, Roots(), Clients(), to + hours(51) + seconds(5)), Code::kUnauthenticated,
                "expired 2 d 3 h ago, at 2026-12-02T10:00:00Z; this clock says 2026-12-04T13:00:05Z");
  ExpectRefused(Verify({leaf}, Roots(), Clients(), Noon() - hours(40 * 24)), Code::kUnauthenticated,
                "in 39 d 23 h");
}

TEST(Verify, AnExpiredRootIsNamed) {
  const Issuer root = NewRoot(Noon(), {.lifetime = hours(1)});
  const Certificate leaf = Must(root.Node(NodeKey(), Uuid(), Noon()));
  ExpectRefused(Verify({leaf}, {root.certificate()}, Clients(), Noon() + hours(2)), Code::kUnauthenticated,
                "expired 1 h ago");
  // A leaf that outlives its root, which our issuer does not make.
  const Forging words = HonestNode();
  const Certificate longer = Must(Certificate::FromDer(ForgeDer(root, NodeKey(), words)));
  ExpectRefused(Verify({longer}, {root.certificate()}, Clients(), Noon() + hours(2)), Code::kUnauthenticated,
                "the CA's certificate " + root.certificate().pin().Text());
}

TEST(Verify, AWrongCaIsNamedBesideTheTrustedOnes) {
  const Issuer other = NewRoot();
  const auto refused = Verify({Must(other.Node(NodeKey(), Uuid(), Noon()))}, Roots(), Clients(), Noon());
  ExpectRefused(refused, Code::kUnauthenticated,
                "wrong CA: signed by " + other.certificate().pin().Text() +
                    ", trusted: " + Root().certificate().pin().Text());
  const Certificate leaf = Must(other.Node(NodeKey(), Uuid(), Noon()));
  ExpectRefused(Verify({leaf, other.certificate()}, Roots(), Clients(), Noon()), Code::kUnauthenticated,
                "wrong CA");
  ExpectRefused(Verify({other.certificate()}, Roots(), Clients(), Noon()), Code::kUnauthenticated,
                "wrong CA");
}

TEST(Verify, ABundleOfTwoRootsTakesLeavesOfBoth) {
  const Issuer old_root = NewRoot(Noon() - hours(24)), new_root = NewRoot();
  const std::vector<Certificate> both = {old_root.certificate(), new_root.certificate()};
  const std::vector<Certificate> turned = {new_root.certificate(), old_root.certificate()};
  for (const Issuer* root : {&old_root, &new_root}) {
    const Certificate leaf = Must(root->Node(NodeKey(), Uuid(), Noon()));
    for (const auto& bundle : {both, turned})
      EXPECT_EQ(Must(Verify({leaf}, bundle, Clients(), Noon())).root, root->certificate().pin());
  }
  const Certificate leaf = Must(old_root.Node(NodeKey(), Uuid(), Noon()));
  ExpectRefused(Verify({leaf}, {new_root.certificate()}, Clients(), Noon()), Code::kUnauthenticated,
                "wrong CA");
}

TEST(Verify, OneCaMayStandBetween) {
  PrivateKey below = NewKey();
  const Certificate ca = Must(Root().IssuingCa(below.public_key(), Noon()));
  const Issuer issuing = Must(Issuer::From(ca, std::move(below)));
  const Certificate leaf = Must(issuing.Node(NodeKey(), Uuid(), Noon()));
  EXPECT_EQ(Must(Verify({leaf, ca}, Roots(), Clients(), Noon())).root, Root().certificate().pin());
  EXPECT_TRUE(Verify({leaf, ca, Root().certificate()}, Roots(), Clients(), Noon()).ok());
  ExpectRefused(Verify({leaf}, Roots(), Clients(), Noon()), Code::kUnauthenticated,
                "wrong CA: signed by " + ca.pin().Text());
  ExpectRefused(Verify({leaf, ca}, {ca}, Clients(), Noon()), Code::kUnauthenticated, "wrong CA");
  ExpectRefused(issuing.IssuingCa(NodeKey(), Noon()), Code::kFailedPrecondition, "no CA below");
}

TEST(Verify, ANodeCannotSignForAnother) {
  // The leaf's key as if it were a CA's.
  PrivateKey node = NewKey();
  const Certificate leaf = Must(Root().Node(node.public_key(), Uuid(), Noon()));
  const Issuer pretender = Must(Issuer::SelfSigned(Cluster(), std::move(node), Noon()));
  const Certificate forged = Must(pretender.Node(NodeKey(), Uuid(2), Noon()));
  EXPECT_FALSE(Verify({forged, leaf}, Roots(), Clients(), Noon()).ok());
  EXPECT_FALSE(Verify({forged, pretender.certificate(), leaf}, Roots(), Clients(), Noon()).ok());
}

TEST(Verify, EveryFlippedBitOfACertificateIsRefused) {
  const std::string der = NodeLeaf().der();
  int read = 0;
  for (std::size_t bit = 0; bit < der.size() * 8; ++bit) {
    std::string flipped = der;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    const auto one = Certificate::FromDer(flipped);
    if (!one.ok()) continue;
    ++read;
    const auto peer = Verify({*one}, Roots(), Clients(), Noon());
    ASSERT_FALSE(peer.ok()) << "bit " << bit % 8 << " of byte " << bit / 8;
    ASSERT_EQ(peer.status().code(), Code::kUnauthenticated) << peer.status().ToString();
  }
  EXPECT_GT(read, 1000) << "too few flips got past the reading to say anything about the signature";
}

TEST(Verify, ThePurposeIsExact) {
  for (const char* usage :
       {"clientAuth,serverAuth", "serverAuth,clientAuth", "clientAuth,anyExtendedKeyUsage",
        "clientAuth,codeSigning", "clientAuth,1.2.3.4", "anyExtendedKeyUsage", "serverAuth", ""})
    ExpectRefused(VerifyForged(With(HonestNode(), "extendedKeyUsage", usage)), Code::kUnauthenticated,
                  "must be for clientAuth and nothing else");
  ExpectRefused(VerifyForged(With(HonestNode(), "extendedKeyUsage", "clientAuth,serverAuth")),
                Code::kUnauthenticated, "it is for clientAuth, serverAuth");
  ExpectRefused(VerifyForged(With(HonestNode(), "extendedKeyUsage", "clientAuth,anyExtendedKeyUsage")),
                Code::kUnauthenticated, "anyExtendedKeyUsage");
  ExpectRefused(Verify({NodeLeaf()}, Roots(), Servers(), Noon()), Code::kUnauthenticated,
                "wrong purpose: it is for clientAuth, and must be for serverAuth");
  ExpectRefused(Verify({ControllerLeaf()}, Roots(), Clients(), Noon()), Code::kUnauthenticated,
                "wrong purpose");
}

TEST(Verify, WhoItIsFitsThePurpose) {
  ExpectRefused(VerifyForged(With(HonestNode(), "subjectAltName", "URI:spiffe://pod-a/controller")),
                Code::kUnauthenticated, "a controller is not for clientAuth");
  ExpectRefused(VerifyForged(With(HonestNode(), "extendedKeyUsage", "serverAuth"), Servers()),
                Code::kUnauthenticated, "a node is not for serverAuth");
}

TEST(Verify, ALeafIsNoCa) {
  ExpectRefused(VerifyForged(With(With(HonestNode(), "basicConstraints", "critical,CA:TRUE"), "keyUsage",
                                  "critical,digitalSignature,keyCertSign")),
                Code::kUnauthenticated, "malformed");
  ExpectRefused(VerifyForged(With(HonestNode(), "basicConstraints", "critical,CA:TRUE")),
                Code::kUnauthenticated, "malformed");
  ExpectRefused(Verify({Root().certificate()}, Roots(), Clients(), Noon()), Code::kUnauthenticated,
                "nobody's own");
}

TEST(Verify, KeyUsageIsDigitalSignatureAlone) {
  for (const char* usage : {"", "critical,keyAgreement", "critical,digitalSignature,keyAgreement",
                            "critical,digitalSignature,nonRepudiation", "critical,digitalSignature,cRLSign"})
    EXPECT_FALSE(VerifyForged(With(HonestNode(), "keyUsage", usage)).ok()) << usage;
}

TEST(Verify, ThereIsExactlyOneUriAndItIsOurs) {
  const std::string node = "URI:" + SpiffeId::Node(Cluster(), Uuid()).Uri();
  ExpectRefused(VerifyForged(With(HonestNode(), "subjectAltName", node + "," + node)), Code::kUnauthenticated,
                "2 URI names");
  ExpectRefused(
      VerifyForged(With(HonestNode(), "subjectAltName", node + ",URI:spiffe://pod-a/operator/root")),
      Code::kUnauthenticated, "2 URI names");
  ExpectRefused(VerifyForged(With(HonestNode(), "subjectAltName", node + ",URI:https://example/")),
                Code::kUnauthenticated, "2 URI names");
  ExpectRefused(VerifyForged(With(HonestNode(), "subjectAltName", "DNS:node-1")), Code::kUnauthenticated,
                "0 URI names");
  ExpectRefused(VerifyForged(With(HonestNode(), "subjectAltName", "")), Code::kUnauthenticated,
                "0 URI names");
  for (const char* uri : {"URI:spiffe://pod-a/node/x", "URI:https://pod-a/controller", "URI:spiffe://pod-a"})
    ExpectRefused(VerifyForged(With(HonestNode(), "subjectAltName", uri)), Code::kUnauthenticated,
                  "malformed");
}

TEST(Verify, TheClusterIsTheExpectedOne) {
  ExpectRefused(Verify({NodeLeaf()}, Roots(), Clients("pod-b"), Noon()), Code::kUnauthenticated,
                "wrong cluster: pod-a, and must be pod-b");
  const std::string other = "URI:" + SpiffeId::Node(Cluster("pod-b"), Uuid()).Uri();
  ExpectRefused(VerifyForged(With(HonestNode(), "subjectAltName", other)), Code::kUnauthenticated,
                "wrong cluster: pod-b");
}

TEST(Verify, AuthorityBelongsToOperators) {
  const std::string all = "ASN1:UTF8String:v1 roles=admin scope=*";
  ExpectRefused(VerifyForged(With(HonestNode(), Authority::kOid, all)), Code::kUnauthenticated,
                "only an operator");
  const Forging ada = With(HonestNode(), "subjectAltName", "URI:spiffe://pod-a/operator/ada");
  ExpectRefused(VerifyForged(ada), Code::kUnauthenticated, "an operator without an authority");
  EXPECT_EQ(Must(VerifyForged(With(ada, Authority::kOid, all))).authority->roles,
            std::vector<std::string>{"admin"});
  ExpectRefused(VerifyForged(With(ada, Authority::kOid, "ASN1:UTF8String:v9 everything")),
                Code::kUnauthenticated, "authority");
  ExpectRefused(Certificate::FromDer(ForgeDer(Root(), NodeKey(), With(ada, Authority::kOid, "ASN1:INT:1"))),
                Code::kInvalidArgument, "authority is damaged");
}

TEST(Verify, AnUnknownCriticalExtensionIsRefused) {
  EXPECT_FALSE(VerifyForged(With(HonestNode(), "1.2.3.4", "critical,ASN1:UTF8String:x")).ok());
}

TEST(Verify, OnlySha256Signs) {
  for (const char* digest : {"SHA1", "SHA384", "SHA512"}) {
    Forging words = HonestNode();
    words.digest = digest;
    EXPECT_FALSE(VerifyForged(words).ok()) << digest;
  }
}

TEST(Verify, AServerIsTheOneThatWasDialled) {
  Expected expected = Servers();
  expected.dialled = Must(ServerName::Parse("ctl.example"));
  EXPECT_TRUE(Verify({ControllerLeaf()}, Roots(), expected, Noon()).ok());
  expected.dialled = Must(ServerName::Parse("192.0.2.1"));
  ExpectRefused(Verify({ControllerLeaf()}, Roots(), expected, Noon()), Code::kUnauthenticated,
                "not for 192.0.2.1");
}

TEST(Verify, NothingProvesNothing) {
  ExpectRefused(Verify({}, Roots(), Clients(), Noon()), Code::kUnauthenticated, "no certificate");
  ExpectRefused(Verify({NodeLeaf()}, {}, Clients(), Noon()), Code::kFailedPrecondition, "no CA is trusted");
  ExpectRefused(Verify(std::vector(9, NodeLeaf()), Roots(), Clients(), Noon()), Code::kUnauthenticated,
                "9 certificates");
}

}  // namespace
}  // namespace railwright::identity
