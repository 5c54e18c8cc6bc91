// What railctl signs, and what a controller in other hands does not get a signature for.
#include "controller/cli/signing.h"

#include <gtest/gtest.h>

#include "tests/cli/signing_case.h"

namespace railwright::cli {
namespace {

using identity::KeyKind;
using identity::PrivateKey;
using identity::Statement;

const PrivateKey& Mine() {
  static const PrivateKey key = std::move(PrivateKey::Generate(KeyKind::kEd25519)).value();
  return key;
}
identity::Pin Other() { return identity::Pin(*identity::Sha256("another key")); }

class SigningTest : public testing::Test {
 protected:
  Result<SigningWork> Check() const { return CheckStatements(asked, catalog, Mine().public_key(), kNoon); }
  void ExpectRefused(const std::string& words) const {
    const auto work = Check();
    ASSERT_FALSE(work.ok()) << "it would be signed; expected: " << words;
    EXPECT_EQ(work.status().code(), Code::kFailedPrecondition);
    EXPECT_NE(work.status().message().find(words), std::string::npos) << work.status().message();
    EXPECT_NE(work.status().message().find("nothing was signed"), std::string::npos);
  }
  void Change(std::size_t which, const std::function<void(Statement&)>& change) {
    Statement said = *Statement::Decode(asked.statements[which].statement());
    change(said);
    asked.statements[which].set_statement(*said.Encode());
  }

  const CatalogDeclarations catalog;
  SigningCase asked = HonestCase(Other());
};

TEST_F(SigningTest, WhatTheDocumentsGiveIsSignedInTheSignersOwnLine) {
  const auto work = Check();
  ASSERT_TRUE(work.ok()) << work.status().message();
  ASSERT_EQ(work->to_sign.size(), 2U);
  EXPECT_EQ(work->to_sign[0].node, "gpu-001");
  EXPECT_EQ(Statement::Decode(work->to_sign[0].statement)->line, Mine().public_key().pin());
  EXPECT_EQ(work->cluster, "pod-a");
  EXPECT_EQ(work->settings, 2U);
}

TEST_F(SigningTest, TheSecondSignerKeepsTheLineOfTheFirstAndNobodySignsTwice) {
  asked.statements[0].add_signed_by(Other().Text());
  asked.statements[1].add_signed_by(Mine().public_key().pin().Text());
  const auto work = Check();
  ASSERT_TRUE(work.ok()) << work.status().message();
  ASSERT_EQ(work->to_sign.size(), 1U);
  EXPECT_EQ(work->to_sign[0].statement, asked.statements[0].statement());
  EXPECT_EQ(work->done, std::vector<std::string>{"gpu-002"});
}

TEST_F(SigningTest, OtherBytesThanTheDocumentsGiveAreRefused) {
  Change(1, [](Statement& said) { said.payload_sha256[3] ^= 1; });
  ExpectRefused("the statement for node gpu-002 is over other bytes than the documents give");
}

TEST_F(SigningTest, DocumentsThatAreShownButNotMeantAreRefused) {
  // The statements are over MTU 9000; what the operator is shown says 4200.
  *asked.head.mutable_documents() = asked.head.documents_before();
  ExpectRefused("is over other bytes");
}

TEST_F(SigningTest, SwappedNodesAreRefused) {
  const std::string first = asked.statements[0].statement();
  asked.statements[0].set_statement(asked.statements[1].statement());
  asked.statements[1].set_statement(first);
  ExpectRefused("is addressed to node");
  asked = HonestCase(Other());
  asked.statements[1].set_uuid(asked.statements[0].uuid());
  Change(1, [&](Statement& said) {
    said.audience = Statement::Decode(asked.statements[0].statement())->audience;
  });
  ExpectRefused("two statements are for one node");
}

TEST_F(SigningTest, ALaterGenerationALongLifeAnotherClusterOrSchemaAreRefused) {
  Change(0, [](Statement& said) { said.generation = identity::StatementNumber{8, 0}.Packed(); });
  ExpectRefused("is of generation 8, asked is about generation 7");
  asked = HonestCase(Other());
  Change(0, [](Statement& said) { said.not_after += kLongestValidity; });
  ExpectRefused("at a time that no controller gives");
  asked = HonestCase(Other());
  Change(1, [](Statement& said) { said.cluster = *identity::ClusterName::Parse("pod-b"); });
  ExpectRefused("for the cluster pod-b");
  asked = HonestCase(Other());
  Change(0, [](Statement& said) { said.schema = 2; });
  ExpectRefused("schema 2");
}

TEST_F(SigningTest, OriginalsThatArePutBackArePartOfWhatIsSigned) {
  v1::NodeRestore* restore = asked.head.add_restores();
  restore->set_node("gpu-001");
  restore->mutable_what()->set_key("sysctl.net.ipv4.conf.all.arp_ignore");
  ExpectRefused("the statement for node gpu-001 is over other bytes");
}

TEST_F(SigningTest, DocumentsThatDoNotResolveAreRefused) {
  asked.head.mutable_documents(1)->set_text(
      "kind: Profile\nname: x\nfor: {role: gpu}\nsettings:\n  link.mtuu: 1\n");
  ExpectRefused("the documents cannot be resolved here");
}

TEST_F(SigningTest, TheDifferenceShowsEveryLineThatDiffers) {
  EXPECT_EQ(DocumentDiff(asked.head),
            "changed Profile/base (site.yaml)\n"
            "  -   link.mtu: {fabric: 4200}\n"
            "  +   link.mtu: {fabric: 9000}\n");
}

}  // namespace
}  // namespace railwright::cli
