#include "agent/identity/identity_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/files/whole_file.h"
#include "tests/agent/temporary_directory.h"
#include "tests/identity/world.h"

namespace railwright {
namespace {

namespace fs = std::filesystem;
using identity::ExpectRefused, identity::Must;

FrontIdentity NewIdentity() {
  auto key = identity::NewKey();
  auto leaf = Must(identity::Root().Node(key.public_key(), identity::Uuid(), identity::Noon()));
  const auto at = [](const char* text) { return Must(identity::Endpoint::Parse(text)); };
  return {.cluster = identity::Cluster(),
          .uuid = identity::Uuid(),
          .node = "gpu-001",
          .key = std::move(key),
          .chain = {leaf, identity::Root().certificate()},
          .roots = {identity::Root().certificate()},
          .controllers = {at("ctl.example:7443"), at("[2001:db8::1]:7443")},
          .enrolment = {at("ctl.example:7444")},
          .renewals = 1};
}

class IdentityFiles : public testing::Test {
 protected:
  Status Save(const FrontIdentity& identity) const {
    return SaveFrontIdentity(directory_.path(), identity, ::geteuid(), ::getegid());
  }
  std::string At(const std::string& file) const { return directory_.path() + "/" + file; }
  static mode_t Mode(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }
  TemporaryDirectory directory_;
};

TEST_F(IdentityFiles, WhatIsSavedIsLoaded) {
  const auto saved = NewIdentity();
  ASSERT_TRUE(Save(saved).ok());
  const auto loaded = Must(LoadFrontIdentity(directory_.path()));
  EXPECT_EQ(loaded.cluster, saved.cluster);
  EXPECT_EQ(loaded.uuid, saved.uuid);
  EXPECT_EQ(loaded.node, saved.node);
  EXPECT_EQ(loaded.key.public_key(), saved.key.public_key());
  EXPECT_EQ(loaded.chain, saved.chain);
  EXPECT_EQ(loaded.roots, saved.roots);
  EXPECT_EQ(loaded.controllers, saved.controllers);
  EXPECT_EQ(loaded.enrolment, saved.enrolment);
  EXPECT_EQ(loaded.renewals, saved.renewals);
  EXPECT_EQ(Mode(At("front")), 0700u);
  EXPECT_EQ(Mode(At("front/key.pem")), 0600u);
}

TEST_F(IdentityFiles, TrustIsSavedAndLoaded) {
  const auto signer = identity::NewKey(identity::KeyKind::kEd25519),
             old = identity::NewKey(identity::KeyKind::kEd25519);
  const NodeTrust saved{.cluster = identity::Cluster(),
                        .uuid = identity::Uuid(),
                        .node = "gpu-001",
                        .signers = {.keys = {signer.public_key(), old.public_key()},
                                    .revoked = {old.public_key().pin()},
                                    .threshold = 1}};
  ASSERT_TRUE(SaveNodeTrust(directory_.path(), saved).ok());
  const auto loaded = Must(LoadNodeTrust(directory_.path()));
  EXPECT_EQ(loaded.node, "gpu-001");
  EXPECT_EQ(loaded.uuid, saved.uuid);
  EXPECT_EQ(loaded.signers.keys, saved.signers.keys);
  EXPECT_EQ(loaded.signers.revoked, saved.signers.revoked);
  EXPECT_EQ(loaded.signers.threshold, 1u);
  auto impossible = saved;
  impossible.signers.threshold = 2;
  EXPECT_EQ(SaveNodeTrust(directory_.path(), impossible).code(), Code::kInvalidArgument);
}

TEST_F(IdentityFiles, ANodeThatHasNotJoinedIsToldHow) {
  ExpectRefused(LoadFrontIdentity(directory_.path()), Code::kNotFound, "railctl token create");
  ExpectRefused(LoadNodeTrust(directory_.path()), Code::kNotFound, "railwright-agent join");
}

TEST_F(IdentityFiles, AKeyThatOthersMayReadIsRefused) {
  ASSERT_TRUE(Save(NewIdentity()).ok());
  ASSERT_EQ(::chmod(At("front/key.pem").c_str(), 0644), 0);
  ExpectRefused(LoadFrontIdentity(directory_.path()), Code::kFailedPrecondition, "chmod 600");
}

TEST_F(IdentityFiles, DamageNamesTheFileAndTheNextStep) {
  ASSERT_TRUE(Save(NewIdentity()).ok());
  for (const char* file : {"front/key.pem", "front/chain.pem", "front/roots.pem", "front/controller"}) {
    const std::string whole = Must(ReadWholeFile(At(file), 65536));
    ASSERT_TRUE(WriteWholeFile(At(file), whole.substr(0, whole.size() / 2)).ok());
    ExpectRefused(LoadFrontIdentity(directory_.path()), Code::kDataLoss, file);
    ExpectRefused(LoadFrontIdentity(directory_.path()), Code::kDataLoss, "join --again");
    if (std::string_view(file) != "front/chain.pem") {
      fs::remove(At(file));
      ExpectRefused(LoadFrontIdentity(directory_.path()), Code::kDataLoss, "it is not there");
    }
    ASSERT_TRUE(WriteWholeFile(At(file), whole).ok());
  }
  Must(LoadFrontIdentity(directory_.path()));
}

TEST_F(IdentityFiles, AnIdentityCutShortAtAnyFileIsOneThatHasNotJoined) {
  ASSERT_TRUE(Save(NewIdentity()).ok());
  const auto second = NewIdentity();
  // A folder in the place of a file: the write of just that one fails.
  for (const char* file : {"key.pem", "controller", "roots.pem", "chain.pem"}) {
    fs::remove_all(At("front"));
    fs::create_directories(At(std::string("front/") + file));
    std::ofstream(At(std::string("front/") + file + "/x")) << "x";
    ASSERT_FALSE(Save(second).ok()) << file;
    fs::remove_all(At(std::string("front/") + file));
    ExpectRefused(LoadFrontIdentity(directory_.path()), Code::kNotFound, "has not joined");
  }
  ASSERT_TRUE(Save(second).ok());
  EXPECT_EQ(Must(LoadFrontIdentity(directory_.path())).key.public_key(), second.key.public_key());
}

TEST_F(IdentityFiles, ARenewalKeepsTheKey) {
  auto identity = NewIdentity();
  ASSERT_TRUE(Save(identity).ok());
  const auto inode = [&] {
    struct stat info {};
    EXPECT_EQ(::stat(At("front/key.pem").c_str(), &info), 0);
    return info.st_ino;
  };
  const auto before = inode();
  identity.chain[0] = Must(identity::Root().Node(identity.key.public_key(), identity.uuid,
                                                 identity::Noon() + std::chrono::hours(16)));
  identity.renewals = 2;
  ASSERT_TRUE(SaveRenewed(directory_.path(), identity).ok());
  EXPECT_EQ(inode(), before);
  const auto loaded = Must(LoadFrontIdentity(directory_.path()));
  EXPECT_EQ(loaded.chain, identity.chain);
  EXPECT_EQ(loaded.renewals, 2u);
  auto strange = NewIdentity();
  strange.chain = identity.chain;
  EXPECT_EQ(SaveRenewed(directory_.path(), strange).code(), Code::kInvalidArgument);
}

TEST_F(IdentityFiles, WhatTheFrontHoldsIsItsUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  constexpr unsigned kNobody = 65534;
  ASSERT_TRUE(SaveFrontIdentity(directory_.path(), NewIdentity(), kNobody, kNobody).ok());
  for (const char* file :
       {"front", "front/key.pem", "front/chain.pem", "front/roots.pem", "front/controller"}) {
    struct stat info {};
    ASSERT_EQ(::stat(At(file).c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, kNobody) << file;
    EXPECT_EQ(info.st_gid, kNobody) << file;
  }
}

}  // namespace
}  // namespace railwright
