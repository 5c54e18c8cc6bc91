// The `openssl` program as an independent judge of what is made here.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/identity/envelope.h"
#include "tests/identity/world.h"

namespace railwright::identity {
namespace {

struct Ran {
  int rc = -1;
  std::string said;
};

class OpensslCommand : public testing::Test {
 protected:
  OpensslCommand() {
    std::string path = testing::TempDir() + "identity-XXXXXX";
    folder_ = mkdtemp(path.data());
  }
  ~OpensslCommand() override { std::filesystem::remove_all(folder_); }

  std::string Put(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  // A missing program is a failure: deploy/packages.sh test installs it.
  static Ran Openssl(const std::string& arguments) {
    Ran ran;
    FILE* pipe = popen(("openssl " + arguments + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return ran;
    std::array<char, 512> part{};
    while (std::fgets(part.data(), part.size(), pipe) != nullptr) ran.said += part.data();
    const int status = pclose(pipe);
    ran.rc = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
  }
  Ran VerifyLeaf(const std::string& leaf, const std::string& more) const {
    return Openssl("verify -x509_strict -check_ss_sig -no-CApath -no-CAstore -attime " +
                   std::to_string(std::chrono::system_clock::to_time_t(Noon())) + " -CAfile " +
                   (folder_ / "roots.pem").string() + " " + more + " " + leaf);
  }

  std::filesystem::path folder_;
};

TEST_F(OpensslCommand, VerifiesWhatIsIssued) {
  const Issuer old_root = NewRoot(Noon() - std::chrono::hours(24));
  PrivateKey below = NewKey();
  const Certificate ca = Must(Root().IssuingCa(below.public_key(), Noon()));
  const Issuer issuing = Must(Issuer::From(ca, std::move(below)));
  Put("roots.pem", Certificate::ChainToPem({old_root.certificate(), Root().certificate()}));
  const std::string between = "-untrusted " + Put("between.pem", ca.ToPem());

  const std::string node = Put("node.pem", NodeLeaf().ToPem());
  const std::string old_node = Put("old.pem", Must(old_root.Node(NodeKey(), Uuid(), Noon())).ToPem());
  const std::string below_node = Put("below.pem", Must(issuing.Node(NodeKey(), Uuid(), Noon())).ToPem());
  const std::string ada = Put("ada.pem", Must(Root().Operator(NodeKey(), Must(OperatorName::Parse("ada")),
                                                              {.roles = {"viewer"}, .scope = "*"}, Noon()))
                                             .ToPem());
  const std::string controller =
      Put("controller.pem",
          Must(Root().Controller(
                   NodeKey(), {Must(ServerName::Parse("ctl.example")), Must(ServerName::Parse("192.0.2.1"))},
                   Noon()))
              .ToPem());
  for (const std::string& leaf : {node, old_node, ada}) {
    const Ran ran = VerifyLeaf(leaf, "-purpose sslclient");
    EXPECT_EQ(ran.rc, 0) << leaf << ": " << ran.said;
  }
  EXPECT_EQ(VerifyLeaf(below_node, between + " -purpose sslclient").rc, 0);
  EXPECT_NE(VerifyLeaf(below_node, "-purpose sslclient").rc, 0) << "without the CA between";
  for (const char* name : {"-verify_hostname ctl.example", "-verify_ip 192.0.2.1"}) {
    const Ran ran = VerifyLeaf(controller, std::string("-purpose sslserver ") + name);
    EXPECT_EQ(ran.rc, 0) << ran.said;
  }
  EXPECT_NE(VerifyLeaf(controller, "-purpose sslserver -verify_hostname other.example").rc, 0);
  EXPECT_NE(VerifyLeaf(controller, "-purpose sslclient").rc, 0);
  EXPECT_NE(VerifyLeaf(node, "-purpose sslserver").rc, 0);
  Put("roots.pem", NewRoot().certificate().ToPem());
  EXPECT_NE(VerifyLeaf(node, "-purpose sslclient").rc, 0) << "another root";
}

TEST_F(OpensslCommand, ReadsKeysPinsAndSerials) {
  const PrivateKey key = NewKey();
  const Secret pem = Must(key.ToPem());
  const Ran ran = Openssl("pkey -in " + Put("key.pem", pem.Reveal()) + " -check -noout");
  EXPECT_EQ(ran.rc, 0) << ran.said;
  const std::string der = Put("key.der", key.public_key().der());
  EXPECT_NE(Openssl("dgst -sha256 -r " + der).said.find(key.public_key().pin().Text().substr(7)),
            std::string::npos);
  const Certificate leaf = NodeLeaf();
  std::string serial = Openssl("x509 -noout -serial -in " + Put("leaf.pem", leaf.ToPem())).said;
  for (char& c : serial) c = static_cast<char>(std::tolower(c));
  EXPECT_EQ(serial, "serial=" + leaf.serial() + "\n");
}

TEST_F(OpensslCommand, VerifiesAnEnvelopesSignature) {
  const PrivateKey key = NewKey(KeyKind::kEd25519);
  const std::string statement = Must(Statement{.cluster = Cluster(),
                                               .audience = Audience::Node(Uuid()),
                                               .line = key.public_key().pin(),
                                               .generation = 7,
                                               .not_before = Noon(),
                                               .not_after = Noon() + std::chrono::hours(1),
                                               .created_by = "ada",
                                               .payload_bytes = 1}
                                         .Encode());
  const StatementSignature signature = Must(SignStatement(statement, key));
  const std::string prefix("railwright desired-state statement v1\0", 38);
  const auto judge = [&](const std::string& message) {
    return Openssl("pkeyutl -verify -pubin -inkey " + Put("public.pem", key.public_key().ToPem()) +
                   " -rawin -in " + Put("message", message) + " -sigfile " +
                   Put("signature", signature.bytes));
  };
  const Ran ran = judge(prefix + statement);
  EXPECT_EQ(ran.rc, 0) << ran.said;
  EXPECT_NE(judge(statement).rc, 0) << "the signature means nothing without its domain";
}

}  // namespace
}  // namespace railwright::identity
