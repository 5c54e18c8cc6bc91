// Who may call what: every method of every service, by everybody, over the real server; and what becomes of
// somebody whose word counts no more.
#include <gtest/gtest.h>

#include <grpcpp/generic/generic_stub.h>

#include "railwright/v1/access.pb.h"
#include "tests/rpc/controller_fixture.h"

namespace railwright {
namespace {

using namespace std::chrono_literals;

/// Everybody who may stand before the door.
struct Who {
  std::string name;
  std::shared_ptr<grpc::ChannelCredentials> credentials;  // null: the Unix socket
  std::set<v1::Role> roles;                               // that are his, written out
};

std::vector<Who> Everybody() {
  const TestCa& ca = FleetPki::Get().ca();
  const auto person = [&](const std::string& name, std::vector<std::string> roles) {
    return ca.Credentials(ca.Operator(name, std::move(roles)));
  };
  return {
      {"a node", ca.Credentials(FleetPki::Get().Node("gpu-001")), {v1::ROLE_NODE}},
      {"a viewer", person("vera", {"viewer"}), {v1::ROLE_VIEWER}},
      {"an operator", person("olga", {"operator"}), {v1::ROLE_VIEWER, v1::ROLE_OPERATOR}},
      {"an approver", person("anna", {"approver"}), {v1::ROLE_VIEWER, v1::ROLE_APPROVER}},
      {"both",
       person("boris", {"approver", "operator"}),
       {v1::ROLE_VIEWER, v1::ROLE_OPERATOR, v1::ROLE_APPROVER}},
      {"an administrator",
       person("ada", {"admin"}),
       {v1::ROLE_VIEWER, v1::ROLE_OPERATOR, v1::ROLE_APPROVER, v1::ROLE_ADMIN}},
      {"one with a role that is none", person("nemo", {"superuser"}), {}},
      {"one who calls himself a node", person("ned", {"node"}), {}},
      {"root, here", nullptr, {v1::ROLE_VIEWER, v1::ROLE_OPERATOR, v1::ROLE_APPROVER, v1::ROLE_ADMIN}},
  };
}

std::vector<const google::protobuf::MethodDescriptor*> Methods() {
  std::vector<const google::protobuf::MethodDescriptor*> methods;
  for (const auto* file : {v1::VersionRequest::descriptor()->file(), v1::Hello::descriptor()->file()})
    for (int s = 0; s < file->service_count(); ++s)
      for (int m = 0; m < file->service(s)->method_count(); ++m)
        methods.push_back(file->service(s)->method(m));
  return methods;
}

class AccessTest : public ControllerTest {
 protected:
  std::shared_ptr<grpc::Channel> Dial(const Who& who) {
    return who.credentials ? DialTest(controller_->agents(), who.credentials) : DialTest(address());
  }
  /// What a call with an empty request ends with.
  grpc::Status Call(const Who& who, const google::protobuf::MethodDescriptor& method) {
    grpc::GenericStub stub(Dial(who));
    grpc::ClientContext context;
    FakeAdmin::Prepare(context);
    context.set_wait_for_ready(false);
    grpc::CompletionQueue queue;
    const std::string path = "/" + method.service()->full_name() + "/" + method.name();
    auto call = stub.PrepareCall(&context, path, &queue);
    const auto await = [&] {
      void* tag = nullptr;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    grpc::Status status(grpc::StatusCode::UNKNOWN, "it never ended");
    call->StartCall(this);
    await();
    const grpc::Slice nothing;
    call->WriteLast(grpc::ByteBuffer(&nothing, 1), grpc::WriteOptions(), this);
    await();
    // A stream that goes on for ever without a word, or whose answer has come, was let in.
    grpc::ByteBuffer answer;
    call->Read(&answer, this);
    void* tag = nullptr;
    bool ok = false;
    if (queue.AsyncNext(&tag, &ok, std::chrono::system_clock::now() + 1s) == grpc::CompletionQueue::TIMEOUT) {
      context.TryCancel();
      await();
    } else if (ok) {
      context.TryCancel();
    }
    call->Finish(&status, this);
    await();
    queue.Shutdown();
    return status;
  }
  /// A method's own refusal (no such member …) comes from behind the door.
  static bool LetIn(const grpc::Status& status) {
    const bool turned_away = status.error_code() == grpc::StatusCode::PERMISSION_DENIED &&
                             status.error_message().find("it needs the role") != std::string::npos;
    return !turned_away && status.error_code() != grpc::StatusCode::UNAUTHENTICATED &&
           status.error_code() != grpc::StatusCode::UNAVAILABLE &&
           status.error_code() != grpc::StatusCode::RESOURCE_EXHAUSTED &&
           status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED;
  }
};

TEST_F(AccessTest, EveryMethodHasARole) {
  ASSERT_GE(Methods().size(), 20u);
  for (const auto* method : Methods())
    EXPECT_NE(method->options().GetExtension(v1::required_role), v1::ROLE_UNSPECIFIED) << method->full_name();
}

TEST_F(AccessTest, EveryMethodIsForThoseWithItsRoleAndForNobodyElse) {
  for (const auto* method : Methods())
    for (const Who& who : Everybody()) {
      const v1::Role role = method->options().GetExtension(v1::required_role);
      const grpc::Status status = Call(who, *method);
      const bool expected = who.roles.contains(role);
      EXPECT_EQ(LetIn(status), expected) << method->full_name() << " by " << who.name << ": "
                                         << status.error_code() << " " << status.error_message();
      if (!expected) {
        EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << method->full_name();
        EXPECT_NE(status.error_message().find("it needs the role " +
                                              std::string(v1::Role_Name(role) == "ROLE_NODE" ? "node" : "")),
                  std::string::npos)
            << status.error_message();
      }
    }
}

TEST_F(AccessTest, WhoHasNoCertificateReachesNoMethod) {
  const TestCa other;
  grpc::SslCredentialsOptions bare;
  bare.pem_root_certs = FleetPki::Get().ca().roots_pem();
  for (const Who& who : {Who{"plaintext over TCP", grpc::InsecureChannelCredentials(), {}},
                         Who{"TLS without a certificate", grpc::SslCredentials(bare), {}},
                         Who{"another CA's administrator",
                             FleetPki::Get().ca().Credentials(other.Operator("ada", {"admin"})),
                             {}},
                         Who{"a node that never joined",
                             FleetPki::Get().ca().Credentials(
                                 FleetPki::Get().ca().Node("0f2a7c1e-6b1d-4c55-9a57-2f1f6d8a9bff")),
                             {}}})
    for (const auto* method : Methods())
      EXPECT_EQ(Call(who, *method).error_code(), grpc::StatusCode::UNAVAILABLE)
          << method->full_name() << " by " << who.name;
}

TEST_F(AccessTest, AMethodThatNobodyDeclaredIsForNobody) {
  Caller root;
  root.kind = Caller::Kind::kLocal;
  EXPECT_EQ(controller_->door().Admit(root, "railwright.v1.AdminService/Selfdestruct").code(),
            Code::kPermissionDenied);
  EXPECT_EQ(Door::RoleFor("railwright.v1.AdminService/Apply"), Role::kOperator);
}

TEST_F(AccessTest, ANodeMaySpeakForItselfAlone) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  FakeAgent liar(controller_->agents(), "gpu-002", 30s, "gpu-001");
  ASSERT_TRUE(liar.Hello());
  const auto refusal = liar.Await(v1::ControllerMessage::kRefusal).refusal();
  EXPECT_EQ(refusal.reason(), v1::Refusal::REASON_NOT_ITSELF);
  EXPECT_NE(refusal.message().find("node gpu-001"), std::string::npos) << refusal.message();
  EXPECT_FALSE(Admin().Node("gpu-002").connected());
}

TEST_F(AccessTest, WhoIsCutLosesHisStreamsWithinASecondAndKeepsHisReason) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  const auto victim = Agent("gpu-001"), neighbour = Agent("gpu-002");
  ASSERT_TRUE(victim->Join());
  ASSERT_TRUE(neighbour->Join());
  // A Welcome is on its way before everybody is shown the connection.
  ASSERT_TRUE(Eventually([&] { return Admin().Node("gpu-002").connected(); }));
  const auto begin = std::chrono::steady_clock::now();
  controller_->server().Cut(MemberKind::kNode, "gpu-001", "revoked by ada: stolen");
  const grpc::Status status = victim->Finish();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(status.error_message(), "revoked by ada: stolen");
  EXPECT_TRUE(Admin().Node("gpu-002").connected());
}

TEST_F(AccessTest, AnOperatorsScopeBoundsHisOrders) {
  ASSERT_TRUE(Admin().Apply(SiteYaml()).status.ok());
  const TestCa& ca = FleetPki::Get().ca();
  const auto stub = v1::AdminService::NewStub(
      DialTest(controller_->agents(), ca.Credentials(ca.Operator("olga", {"operator"}, "gpu-001"))));
  const auto pause = [&](const std::string& node) {
    grpc::ClientContext context;
    FakeAdmin::Prepare(context);
    v1::SetPauseRequest request;
    request.mutable_pause()->set_node(node);
    request.mutable_pause()->set_by("ada");
    v1::SetPauseResponse response;
    const grpc::Status status = stub->SetPause(&context, request, &response);
    if (status.ok()) {
      EXPECT_EQ(response.pauses(0).by(), "olga") << "whatever she claims";
    }
    return status;
  };
  EXPECT_TRUE(pause("gpu-001").ok());
  EXPECT_EQ(pause("gpu-002").error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(pause("").error_code(), grpc::StatusCode::PERMISSION_DENIED) << "all nodes are more than hers";
  grpc::ClientContext context;
  FakeAdmin::Prepare(context);
  v1::ApplyRequest request;
  auto* file = request.add_files();
  file->set_name("site.yaml");
  file->set_text(SiteYaml(9000));
  auto reader = stub->Apply(&context, request);
  v1::ApplyEvent event;
  while (reader->Read(&event)) {
  }
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_NE(status.error_message().find("gpu-002"), std::string::npos) << status.error_message();
  EXPECT_EQ(Admin().Status().generation(), 1u) << "nothing was stored";
}

TEST_F(AccessTest, WhoAsksTooOftenIsToldToWaitAndOthersAreNot) {
  controller_.reset();
  controller_ = std::make_unique<RunningController>(directory_.path(), RunningController::Options(),
                                                    DoorOptions{.node = {1, 20}, .operators = {1, 5}});
  const TestCa& ca = FleetPki::Get().ca();
  const auto ask = [&](v1::AdminService::Stub& stub) {
    grpc::ClientContext context;
    FakeAdmin::Prepare(context);
    v1::VersionResponse response;
    return stub.Version(&context, {}, &response).error_code();
  };
  const auto busy = v1::AdminService::NewStub(
      DialTest(controller_->agents(), ca.Credentials(ca.Operator("vera", {"viewer"}))));
  int refused = 0;
  for (int i = 0; i < 20; ++i) refused += ask(*busy) == grpc::StatusCode::RESOURCE_EXHAUSTED;
  EXPECT_GE(refused, 10);
  const auto other = v1::AdminService::NewStub(
      DialTest(controller_->agents(), ca.Credentials(ca.Operator("ada", {"admin"}))));
  EXPECT_EQ(ask(*other), grpc::StatusCode::OK);
}

}  // namespace
}  // namespace railwright
