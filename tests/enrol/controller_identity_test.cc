#include "controller/identity/controller_identity.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/files/whole_file.h"
#include "core/identity/verify.h"
#include "tests/agent/temporary_directory.h"
#include "tests/identity/world.h"

namespace railwright {
namespace {

using identity::Must, identity::ExpectRefused, identity::Noon;
using namespace std::chrono_literals;

std::vector<identity::ServerName> Names(std::initializer_list<const char*> texts) {
  std::vector<identity::ServerName> names;
  for (const char* text : texts) names.push_back(Must(identity::ServerName::Parse(text)));
  return names;
}

class ControllerIdentityTest : public testing::Test {
 protected:
  ControllerIdentity Make() {
    return Must(ControllerIdentity::Make(directory_.path(), identity::Cluster(),
                                         Names({"ctl.example", "192.0.2.1"}), Noon()));
  }
  std::string At(const std::string& file) const { return directory_.path() + "/identity/" + file; }
  mode_t Mode(const std::string& file) const {
    struct stat info {};
    EXPECT_EQ(::stat(file.empty() ? (directory_.path() + "/identity").c_str() : At(file).c_str(), &info), 0);
    return info.st_mode & 07777;
  }
  TemporaryDirectory directory_;
};

TEST_F(ControllerIdentityTest, WhatIsMadeIsReadAgainAndProvesTheController) {
  const auto made = Make();
  const auto read = Must(ControllerIdentity::Load(directory_.path()));
  EXPECT_EQ(read.chain(), made.chain());
  EXPECT_EQ(read.names(), made.names());
  EXPECT_EQ(read.ca_pin(), made.ca_pin());
  EXPECT_EQ(read.signers().keys, made.signers().keys);
  ASSERT_NE(read.signer(), nullptr);
  EXPECT_EQ(read.signer()->public_key(), read.signers().keys.front());
  const auto peer = Must(identity::Verify(read.chain(), read.roots(),
                                          {.cluster = identity::Cluster(),
                                           .purpose = identity::Purpose::kServer,
                                           .dialled = read.names().front()},
                                          Noon()));
  EXPECT_EQ(peer.id.party(), identity::Party::kController);
  EXPECT_EQ(Must(identity::PinnedCa(read.chain(), read.ca_pin())), read.roots().front());
}

TEST_F(ControllerIdentityTest, KeysAreTheOwnersAlone) {
  Make();
  EXPECT_EQ(Mode(""), 0700u);
  for (const char* key : {"ca.key", "controller.key", "signer.key"}) EXPECT_EQ(Mode(key), 0600u) << key;
}

TEST_F(ControllerIdentityTest, AKeyThatOthersMayReadIsRefused) {
  Make();
  for (const char* key : {"ca.key", "controller.key", "signer.key"}) {
    ASSERT_EQ(::chmod(At(key).c_str(), 0640), 0);
    ExpectRefused(ControllerIdentity::Load(directory_.path()), Code::kFailedPrecondition, "has mode 0640");
    ASSERT_EQ(::chmod(At(key).c_str(), 0600), 0);
  }
  Must(ControllerIdentity::Load(directory_.path()));
}

TEST_F(ControllerIdentityTest, ASecondOneIsNotMade) {
  const auto first = Make();
  ExpectRefused(ControllerIdentity::Make(directory_.path(), identity::Cluster(), Names({"other"}), Noon()),
                Code::kAlreadyExists, "would shut out every node");
  EXPECT_EQ(Must(ControllerIdentity::Load(directory_.path())).ca_pin(), first.ca_pin());
}

TEST_F(ControllerIdentityTest, WhatAnInterruptedMakeLeftIsNoIdentityAndDoesNotHinderTheNext) {
  ASSERT_TRUE(std::filesystem::create_directory(directory_.path() + "/identity.new"));
  std::ofstream(directory_.path() + "/identity.new/ca.key") << "half a k";
  ExpectRefused(ControllerIdentity::Load(directory_.path()), Code::kNotFound, "railwright-controller init");
  Make();
  Must(ControllerIdentity::Load(directory_.path()));
}

TEST_F(ControllerIdentityTest, ADamagedOrStrangeFileIsNamed) {
  Make();
  for (const char* file : {"ca.pem", "ca.key", "controller.pem", "controller.key", "signers.pem", "names"}) {
    const std::string whole = Must(ReadWholeFile(At(file), 65536));
    std::ofstream(At(file), std::ios::trunc) << whole.substr(0, std::string_view(file) == "names" ? 0 : 60);
    ExpectRefused(ControllerIdentity::Load(directory_.path()), Code::kDataLoss, file);
    std::ofstream(At(file), std::ios::trunc) << whole;
  }
  TemporaryDirectory other;
  Must(ControllerIdentity::Make(other.path(), identity::Cluster(), Names({"ctl.example"}), Noon()));
  std::filesystem::copy_file(other.path() + "/identity/controller.pem", At("controller.pem"),
                             std::filesystem::copy_options::overwrite_existing);
  ExpectRefused(ControllerIdentity::Load(directory_.path()), Code::kDataLoss, "not of the keys beside it");
}

TEST_F(ControllerIdentityTest, TheSigningKeyMayBeKeptElsewhere) {
  Make();
  std::filesystem::remove(At("signer.key"));
  const auto read = Must(ControllerIdentity::Load(directory_.path()));
  EXPECT_EQ(read.signer(), nullptr);
  EXPECT_EQ(read.signers().keys.size(), 1u);
}

TEST_F(ControllerIdentityTest, TheLeafIsRenewedAtTwoThirdsAndSurvivesARestart) {
  auto own = Make();
  const auto first = own.chain();
  EXPECT_FALSE(Must(own.RenewIfDue(Noon() + 4 * 24h)));
  EXPECT_TRUE(Must(own.RenewIfDue(Noon() + 5 * 24h)));
  EXPECT_NE(own.chain().front(), first.front());
  EXPECT_EQ(own.chain().front().public_key(), first.front().public_key());
  EXPECT_EQ(own.chain().front().not_after(), Noon() + 12 * 24h);
  EXPECT_EQ(Must(ControllerIdentity::Load(directory_.path())).chain(), own.chain());
  EXPECT_FALSE(Must(own.RenewIfDue(Noon() + 5 * 24h)));
}

TEST_F(ControllerIdentityTest, AChangeOfNamesRenewsAtOnce) {
  auto own = Make();
  std::ofstream(At("names"), std::ios::trunc) << "ctl.example\n2001:db8::1\n";
  EXPECT_TRUE(Must(own.RenewIfDue(Noon() + 1h)));
  EXPECT_TRUE(own.chain().front().IsFor(Must(identity::ServerName::Parse("2001:db8::1"))));
  EXPECT_FALSE(own.chain().front().IsFor(Must(identity::ServerName::Parse("192.0.2.1"))));
}

}  // namespace
}  // namespace railwright
