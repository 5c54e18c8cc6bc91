#include "core/identity/issuer.h"

#include <openssl/x509v3.h>

#include "tests/identity/world.h"

namespace railwright::identity {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Authority kAuthority{.roles = {"approver", "operator"}, .scope = "rack=r1"};

Certificate OperatorLeaf() {
  return Must(Root().Operator(NodeKey(), Must(OperatorName::Parse("ada")), kAuthority, Noon()));
}
Certificate ControllerLeaf() {
  return Must(Root().Controller(
      NodeKey(), {Must(ServerName::Parse("ctl.example")), Must(ServerName::Parse("2001:db8::1"))}, Noon()));
}

TEST(Issuer, ARootIsACaOfItsClusterForTwoYears) {
  const Certificate& ca = Root().certificate();
  EXPECT_TRUE(ca.is_ca());
  EXPECT_EQ(ca.key_usage(), static_cast<unsigned>(KU_KEY_CERT_SIGN | KU_CRL_SIGN));
  EXPECT_TRUE(ca.extended_key_usage().empty());
  EXPECT_EQ(ca.uris(), std::vector<std::string>{"spiffe://pod-a"});
  EXPECT_EQ(ca.not_before(), Noon() - minutes(5));
  EXPECT_EQ(ca.not_after(), Noon() + hours(2 * 365 * 24));
  EXPECT_EQ(ca.pin(), Root().key().public_key().pin());
  EXPECT_EQ(ca.issuer_pin(), ca.pin());
  EXPECT_EQ(X509_get_pathlen(ca.handle()), 1);
  for (const int nid : {NID_basic_constraints, NID_key_usage})
    EXPECT_EQ(
        X509_EXTENSION_get_critical(X509_get_ext(ca.handle(), X509_get_ext_by_NID(ca.handle(), nid, -1))), 1);
}

TEST(Issuer, ANodesLeafIsForDiallingAndForADay) {
  const Certificate leaf = NodeLeaf();
  EXPECT_FALSE(leaf.is_ca());
  EXPECT_EQ(leaf.uris(),
            std::vector<std::string>{"spiffe://pod-a/node/0f8fad5b-d9cb-469f-a165-708677289501"});
  EXPECT_EQ(leaf.extended_key_usage(), std::vector<std::string>{"1.3.6.1.5.5.7.3.2"});
  EXPECT_EQ(leaf.key_usage(), static_cast<unsigned>(KU_DIGITAL_SIGNATURE));
  EXPECT_EQ(leaf.public_key(), NodeKey());
  EXPECT_EQ(leaf.not_before(), Noon() - minutes(5));
  EXPECT_EQ(leaf.not_after(), Noon() + hours(24));
  EXPECT_EQ(leaf.issuer_pin(), Root().certificate().pin());
  EXPECT_EQ(X509_EXTENSION_get_critical(
                X509_get_ext(leaf.handle(), X509_get_ext_by_NID(leaf.handle(), NID_key_usage, -1))),
            1);
  EXPECT_FALSE(leaf.authority());
}

TEST(Issuer, AnOperatorsLeafHasItsAuthorityAndHalfADay) {
  const Certificate leaf = OperatorLeaf();
  EXPECT_EQ(leaf.uris(), std::vector<std::string>{"spiffe://pod-a/operator/ada"});
  EXPECT_EQ(leaf.extended_key_usage(), std::vector<std::string>{"1.3.6.1.5.5.7.3.2"});
  ASSERT_TRUE(leaf.authority());
  EXPECT_EQ(Must(Authority::Parse(*leaf.authority())), kAuthority);
  EXPECT_EQ(leaf.not_after(), Noon() + hours(12));
}

TEST(Issuer, AControllersLeafIsToBeDialledByItsNames) {
  const Certificate leaf = ControllerLeaf();
  EXPECT_EQ(leaf.uris(), std::vector<std::string>{"spiffe://pod-a/controller"});
  EXPECT_EQ(leaf.extended_key_usage(), std::vector<std::string>{"1.3.6.1.5.5.7.3.1"});
  EXPECT_EQ(leaf.dns_names(), std::vector<std::string>{"ctl.example"});
  EXPECT_TRUE(leaf.IsFor(Must(ServerName::Parse("2001:db8:0:0::1"))));
  EXPECT_FALSE(leaf.IsFor(Must(ServerName::Parse("192.0.2.1"))));
  EXPECT_EQ(leaf.not_after(), Noon() + hours(7 * 24));
  ExpectRefused(Root().Controller(NodeKey(), {}, Noon()), Code::kInvalidArgument, "1 to 32 names");
  ExpectRefused(Root().Controller(NodeKey(), std::vector(33, Must(ServerName::Parse("a"))), Noon()),
                Code::kInvalidArgument, "not 33");
}

TEST(Issuer, SerialsHave128RandomBits) {
  std::vector<int> ones(128, 0);
  constexpr int kMany = 400;
  for (int i = 0; i < kMany; ++i) {
    std::string serial = NodeLeaf().serial();
    ASSERT_LE(serial.size(), 32U);
    serial.insert(0, 32 - serial.size(), '0');
    for (std::size_t bit = 0; bit < 128; ++bit) {
      const int digit = std::stoi(serial.substr(bit / 4, 1), nullptr, 16);
      ones[bit] += digit >> bit % 4 & 1;
    }
  }
  // 200 expected of 400, sigma 10: a fair bit leaves 120 to 280 once in 10^15 runs.
  for (std::size_t bit = 0; bit < 128; ++bit) {
    EXPECT_GT(ones[bit], 120) << bit;
    EXPECT_LT(ones[bit], 280) << bit;
  }
}

TEST(Issuer, ARandomSourceThatFailsIsNoSerial) {
  const auto dry = [](std::span<std::uint8_t>) { return Status(Code::kInternal, "dry"); };
  const auto zeros = [](std::span<std::uint8_t> out) {
    std::fill(out.begin(), out.end(), std::uint8_t{0});
    return Ok();
  };
  ExpectRefused(Root().Node(NodeKey(), Uuid(), Noon(), kNodeLifetime, dry), Code::kInternal, "dry");
  ExpectRefused(Root().Node(NodeKey(), Uuid(), Noon(), kNodeLifetime, zeros), Code::kInternal, "zeros");
}

TEST(Issuer, LifetimesHaveBounds) {
  EXPECT_EQ(Must(Root().Node(NodeKey(), Uuid(), Noon(), minutes(1))).not_after(), Noon() + minutes(1));
  for (const Lifetime bad : {Lifetime(0), Lifetime(59), Lifetime(-3600), Lifetime::max()})
    ExpectRefused(Root().Node(NodeKey(), Uuid(), Noon(), bad), Code::kInvalidArgument, "lives 1 min to 90 d");
  ExpectRefused(Root().Operator(NodeKey(), Must(OperatorName::Parse("ada")), kAuthority, Noon(),
                                kOperatorLifetime + seconds(1)),
                Code::kInvalidArgument, "lives 1 min to 12 h, not 12 h");
}

TEST(Issuer, NoCertificateOutlivesItsCa) {
  const Issuer& root = Root();
  const Time end = root.certificate().not_after();
  EXPECT_EQ(Must(root.Node(NodeKey(), Uuid(), end - hours(1))).not_after(), end);
  const Certificate first = Must(root.Node(NodeKey(), Uuid(), root.certificate().not_before()));
  EXPECT_EQ(first.not_before(), root.certificate().not_before());
  ExpectRefused(root.Node(NodeKey(), Uuid(), end), Code::kFailedPrecondition, "the CA sha256:");
  ExpectRefused(root.Node(NodeKey(), Uuid(), root.certificate().not_before() - seconds(1)),
                Code::kFailedPrecondition, "is valid from");
}

TEST(Issuer, TakesP256KeysOnly) {
  const PrivateKey ed = NewKey(KeyKind::kEd25519);
  ExpectRefused(Root().Node(ed.public_key(), Uuid(), Noon()), Code::kInvalidArgument, "P-256");
  ExpectRefused(Issuer::SelfSigned(Cluster(), NewKey(KeyKind::kEd25519), Noon()), Code::kInvalidArgument,
                "P-256");
}

TEST(Issuer, AuthorityIsCheckedBeforeItIsSigned) {
  for (const Authority& bad :
       {Authority{.roles = {}, .scope = "*"}, Authority{.roles = {"b", "a"}, .scope = "*"},
        Authority{.roles = {"a"}, .scope = ""}})
    ExpectRefused(Root().Operator(NodeKey(), Must(OperatorName::Parse("ada")), bad, Noon()),
                  Code::kInvalidArgument, "authority");
}

TEST(Issuer, IsReadBackFromItsCertificateAndKey) {
  const Secret pem = Must(Root().key().ToPem());
  const Issuer again = Must(Issuer::From(Root().certificate(), Must(PrivateKey::FromPem(pem.Reveal()))));
  EXPECT_EQ(again.cluster(), Cluster());
  EXPECT_TRUE(
      Verify({Must(again.Node(NodeKey(), Uuid(), Noon()))}, {Root().certificate()}, Clients(), Noon()).ok());
  ExpectRefused(Issuer::From(Root().certificate(), NewKey()), Code::kInvalidArgument, "the key is sha256:");
  PrivateKey node = NewKey();
  const Certificate leaf = Must(Root().Node(node.public_key(), Uuid(), Noon()));
  ExpectRefused(Issuer::From(leaf, std::move(node)), Code::kInvalidArgument, "not that of a CA");
}

TEST(Issuer, ARootWithoutRoomBelowHasNoIssuingCa) {
  const Issuer root = NewRoot(Noon(), {.path_length = 0});
  ExpectRefused(root.IssuingCa(NodeKey(), Noon()), Code::kFailedPrecondition, "no CA below");
  ExpectRefused(Issuer::SelfSigned(Cluster(), NewKey(), Noon(), {.path_length = 2}), Code::kInvalidArgument,
                "0 or 1");
}

}  // namespace
}  // namespace railwright::identity
