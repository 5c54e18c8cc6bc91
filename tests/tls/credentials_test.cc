// The two ends over real sockets: who gets in, who does not, and whether the true reason is told.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>

#include "core/tls/credentials.h"
#include "railwright/v1/admin.grpc.pb.h"
#include "tests/store/temp_dir.h"
#include "tests/support/test_ca.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

constexpr const char* kUuid = "0f2a7c1e-6b1d-4c55-9a57-2f1f6d8a9b01";

class Service final : public v1::AdminService::Service {
  grpc::Status Version(grpc::ServerContext* context, const v1::VersionRequest*,
                       v1::VersionResponse* answer) override {
    ++calls;
    const auto certificates = context->auth_context()->FindPropertyValues("x509_pem_cert");
    answer->set_version(certificates.empty() ? ""
                                             : std::string(certificates[0].data(), certificates[0].size()));
    return grpc::Status::OK;
  }

 public:
  std::atomic<int> calls{0};
};

class ServerTest : public testing::Test {
 protected:
  void Serve(const Shown& server, const std::string& roots) {
    tls::ServerFiles files = ca_.Files(server, directory_.path());
    if (!roots.empty()) std::ofstream(files.roots) << roots;
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    builder.AddListeningPort(
        "127.0.0.1:0",
        tls::ServerCredentials(files,
                               [this](const auto& chain) {
                                 const auto peer = identity::Verify(
                                     chain, ca_.roots(), {ca_.issuer().cluster(), identity::Purpose::kClient},
                                     std::chrono::system_clock::now());
                                 if (!peer.ok()) return peer.status();
                                 if (denied_) return Status(Code::kUnauthenticated, "revoked");
                                 return Ok();
                               }),
        &port_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  void TearDown() override {
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
  }
  grpc::Status Call(tls::ClientTerms terms, v1::VersionResponse* answer = nullptr) {
    verdict_ = std::make_shared<tls::Verdict>();
    return CallWith(Must(tls::ClientCredentials(std::move(terms), verdict_)), answer);
  }
  grpc::Status CallWith(const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                        v1::VersionResponse* answer = nullptr) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    auto stub = v1::AdminService::NewStub(
        grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port_), credentials, arguments));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 10s);
    v1::VersionResponse ignored;
    return stub->Version(&context, {}, answer != nullptr ? answer : &ignored);
  }

  TempDir directory_;
  TestCa ca_;
  Service service_;
  std::atomic<bool> denied_{false};
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<tls::Verdict> verdict_;
};

TEST_F(ServerTest, ANodeOfTheClusterGetsInAndTheHandlerSeesItsCertificate) {
  Serve(ca_.Server(), "");
  const Shown node = ca_.Node(kUuid);
  v1::VersionResponse answer;
  const grpc::Status status = Call(ca_.Terms(node), &answer);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(answer.version(), node.chain);
}

TEST_F(ServerTest, WhoIsDeniedByTheJudgeReachesNoHandler) {
  Serve(ca_.Server(), "");
  const Shown node = ca_.Node(kUuid);
  EXPECT_TRUE(Call(ca_.Terms(node)).ok());
  denied_ = true;
  EXPECT_EQ(Call(ca_.Terms(node)).error_code(), grpc::StatusCode::UNAVAILABLE);
  denied_ = false;
  EXPECT_TRUE(Call(ca_.Terms(node)).ok());
  EXPECT_EQ(service_.calls, 2);
}

TEST_F(ServerTest, StrangersReachNoHandler) {
  Serve(ca_.Server(), "");
  const auto now = std::chrono::system_clock::now();
  const TestCa other("pod-a");
  EXPECT_FALSE(CallWith(grpc::InsecureChannelCredentials()).ok());
  grpc::SslCredentialsOptions without_certificate;
  without_certificate.pem_root_certs = ca_.roots_pem();
  EXPECT_FALSE(CallWith(grpc::SslCredentials(without_certificate)).ok());
  EXPECT_FALSE(Call(ca_.Terms(ca_.Node(kUuid, now - 48h))).ok()) << "expired";
  EXPECT_FALSE(Call(ca_.Terms(ca_.Node(kUuid, now + 48h))).ok()) << "not valid yet";
  EXPECT_FALSE(Call(ca_.Terms(other.Node(kUuid))).ok()) << "another CA of the same name";
  EXPECT_FALSE(Call(ca_.Terms(ca_.Server())).ok()) << "a server's certificate";
  EXPECT_EQ(service_.calls, 0);
}

struct WrongServer {
  const char* name;
  std::function<Shown(const TestCa&, const TestCa& other)> shown;
  const char* reason;
};

class WrongServerTest : public ServerTest, public testing::WithParamInterface<WrongServer> {};

TEST_P(WrongServerTest, IsHungUpOnAndTheReasonIsTold) {
  const TestCa other("pod-a");
  // The server trusts both, so that it is the dialler who refuses.
  Serve(GetParam().shown(ca_, other), ca_.roots_pem() + other.roots_pem());
  const grpc::Status status = Call(ca_.Terms(ca_.Node(kUuid)));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(service_.calls, 0);
  EXPECT_EQ(verdict_->Last().code(), Code::kUnauthenticated);
  EXPECT_NE(verdict_->Last().message().find(GetParam().reason), std::string::npos)
      << verdict_->Last().message();
}

INSTANTIATE_TEST_SUITE_P(
    Each, WrongServerTest,
    testing::Values(
        WrongServer{"OfAnotherCa", [](const TestCa&, const TestCa& other) { return other.Server(); }, "CA"},
        WrongServer{"OfAnotherName", [](const TestCa& ca, const TestCa&) { return ca.Server({"10.0.0.9"}); },
                    "wrong name: it is not for 127.0.0.1"},
        WrongServer{"Expired",
                    [](const TestCa& ca, const TestCa&) {
                      return ca.Server({"127.0.0.1"}, std::chrono::system_clock::now() - 48h, 1h);
                    },
                    "expired"},
        WrongServer{"NotValidYet",
                    [](const TestCa& ca, const TestCa&) {
                      return ca.Server({"127.0.0.1"}, std::chrono::system_clock::now() + 48h);
                    },
                    "clock"},
        WrongServer{"ThatIsANode", [](const TestCa& ca, const TestCa&) { return ca.Node(kUuid); }, "purpose"},
        WrongServer{"ThatIsAnOperator",
                    [](const TestCa& ca, const TestCa&) { return ca.Operator("ann", {"admin"}); },
                    "purpose"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(ClientCredentials, WithoutANameOrARootAreRefused) {
  const TestCa ca;
  const Shown node = ca.Node(kUuid);
  tls::ClientTerms terms = ca.Terms(node);
  terms.roots.clear();
  EXPECT_EQ(tls::ClientCredentials(terms, std::make_shared<tls::Verdict>()).status().code(),
            Code::kInvalidArgument);
  terms = ca.Terms(node);
  terms.expected.dialled.reset();
  EXPECT_EQ(tls::ClientCredentials(terms, std::make_shared<tls::Verdict>()).status().code(),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace railwright
