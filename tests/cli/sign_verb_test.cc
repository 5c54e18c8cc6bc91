// `railctl key` and `railctl sign` against a controller in this process.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/fake_admin.h"
#include "tests/cli/run_railctl.h"
#include "tests/cli/signing_case.h"

namespace railwright::cli {
namespace {

namespace fs = std::filesystem;

class SignVerbTest : public testing::Test {
 protected:
  SignVerbTest() {
    std::string name = (fs::temp_directory_path() / "sign-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    key_ = folder_ + "/signer.key";
  }
  ~SignVerbTest() override { fs::remove_all(folder_); }
  Ran Run(std::vector<std::string> words, Given given = {}) {
    given.controller = admin_.address();
    return RunRailctl(std::move(words), given);
  }
  std::string Pin() {
    return nlohmann::json::parse(Run({"key", "show", key_, "-o", "json"}).out)["pin"].get<std::string>();
  }
  void Ask() {
    const SigningCase asked =
        HonestCase(identity::Pin(*identity::Sha256("another key")), std::chrono::system_clock::now());
    admin_.script().to_sign.push_back(asked.head);
    v1::StatementsToSignEvent rest;
    for (const v1::StatementToSign& one : asked.statements) *rest.add_statements() = one;
    rest.set_last(true);
    admin_.script().to_sign.push_back(rest);
    admin_.script().taken.set_taken(2);
  }

  FakeAdmin admin_;
  std::string folder_, key_;
};

TEST_F(SignVerbTest, AKeyIsMadeForItsOwnerAloneAndNeverReplaced) {
  const Ran made = Run({"key", "generate", "--out", key_});
  ASSERT_EQ(made.code, 0) << made.err;
  struct stat info {};
  ASSERT_EQ(stat(key_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_NE(made.out.find("BEGIN PUBLIC KEY"), std::string::npos);
  EXPECT_EQ(made.out.find("PRIVATE"), std::string::npos);
  EXPECT_NE(made.err.find(Pin()), std::string::npos);
  std::ofstream(folder_ + "/signer.pub") << made.out;
  EXPECT_NE(Run({"key", "show", folder_ + "/signer.pub"}).out.find(Pin()), std::string::npos);
  const Ran again = Run({"key", "generate", "--out", key_});
  EXPECT_EQ(again.code, 1) << again.err;
}

TEST_F(SignVerbTest, AKeyThatOthersMayReadIsNotUsed) {
  ASSERT_EQ(Run({"key", "generate", "--out", key_}).code, 0);
  fs::permissions(key_, fs::perms(0644));
  const Ran ran = Run({"sign", "--key", key_, "--yes"});
  EXPECT_NE(ran.code, 0);
  EXPECT_TRUE(admin_.script().signatures.empty());
}

TEST_F(SignVerbTest, WhatWaitsIsShownSignedAndSent) {
  ASSERT_EQ(Run({"key", "generate", "--out", key_}).code, 0);
  Ask();
  const Ran ran = Run({"sign", "--key", key_, "--yes"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find("changed Profile/base"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("+   link.mtu: {fabric: 9000}"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("2 nodes, gpu-[001-002]"), std::string::npos) << ran.err;
  EXPECT_NE(ran.out.find("signed generation 7 for 2 nodes; all of them have what they need"),
            std::string::npos)
      << ran.out;
  ASSERT_EQ(admin_.script().signatures.size(), 1U);
  const auto& put = admin_.script().signatures.front();
  ASSERT_EQ(put.signatures_size(), 2);
  std::ostringstream text;
  text << std::ifstream(key_).rdbuf();
  const auto key = identity::PrivateKey::FromPem(text.str());
  ASSERT_TRUE(key.ok());
  const auto envelope = identity::MakeEnvelope(put.signatures(0).statement(),
                                               {{key->public_key().pin(), put.signatures(0).signature()}});
  ASSERT_TRUE(envelope.ok()) << envelope.status().message();
  EXPECT_TRUE(identity::Open(*envelope, {.keys = {key->public_key()}, .revoked = {}, .threshold = 1},
                             {.cluster = *identity::ClusterName::Parse("pod-a"),
                              .node = *identity::NodeUuid::Parse(SignedUuid("gpu-001")),
                              .groups = {}},
                             std::chrono::system_clock::now())
                  .ok());
}

TEST_F(SignVerbTest, WithoutYesAndWithoutATerminalNothingIsSigned) {
  ASSERT_EQ(Run({"key", "generate", "--out", key_}).code, 0);
  Ask();
  EXPECT_EQ(Run({"sign", "--key", key_}).code, 64);
  Given no;
  no.terminal = true;
  no.input = "n\n";
  EXPECT_EQ(Run({"sign", "--key", key_}, no).code, 130);
  EXPECT_TRUE(admin_.script().signatures.empty());
}

TEST_F(SignVerbTest, AChangedStatementIsNotSignedForAnybody) {
  ASSERT_EQ(Run({"key", "generate", "--out", key_}).code, 0);
  Ask();
  v1::StatementToSign& one = *admin_.script().to_sign[1].mutable_statements(1);
  identity::Statement said = *identity::Statement::Decode(one.statement());
  said.payload_sha256[0] ^= 1;
  one.set_statement(*said.Encode());
  const Ran ran = Run({"sign", "--key", key_, "--yes"});
  EXPECT_EQ(ran.code, 6) << ran.err;
  EXPECT_NE(ran.err.find("nothing was signed"), std::string::npos);
  EXPECT_TRUE(admin_.script().signatures.empty());
}

TEST_F(SignVerbTest, AnAnswerThatIsCutShortIsNotSigned) {
  ASSERT_EQ(Run({"key", "generate", "--out", key_}).code, 0);
  Ask();
  admin_.script().to_sign[1].set_last(false);
  EXPECT_NE(Run({"sign", "--key", key_, "--yes"}).code, 0);
  EXPECT_TRUE(admin_.script().signatures.empty());
}

}  // namespace
}  // namespace railwright::cli
