// A whole controller in the test's process, with a store of its own: a Unix socket for orders, TCP for
// agents.
#pragma once

#include "controller/rpc/rpc_server.h"
#include "tests/enrol/memory_identity_store.h"
#include "tests/rpc/fake_agent.h"
#include "tests/store/temp_dir.h"
#include "tests/support/at_once.h"
#include "tests/support/test_endorser.h"

namespace railwright {

class RunningController {
 public:
  static FleetOptions Options() {
    FleetOptions options;
    options.built_in = AtOnce();
    return options;
  }
  explicit RunningController(const std::string& directory, FleetOptions options = Options(),
                             DoorOptions door_options = {.node = {1e4, 1e4}, .operators = {1e4, 1e4}})
      : directory_(directory) {
    auto opened = OpenSqliteStore(directory);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = std::move(*opened);
    if (options.endorser == nullptr) options.endorser = endorser_.get();
    core_ = std::make_unique<FleetCore>(*store_, clock_, catalog_, options);
    const Status loaded = core_->Load();
    EXPECT_TRUE(loaded.ok()) << loaded.ToString();
    desk_ = std::make_unique<AdminDesk>(*core_, *store_, catalog_, clock_, options.built_in);
    const TestCa& ca = FleetPki::Get().ca();
    members_ = std::make_unique<Members>(registry_,
                                         MembersOptions{"127.0.0.1:1", ca.roots()[0].pin(), ca.roots_pem()});
    door_ = std::make_unique<Door>(
        ca.issuer().cluster(), [&ca] { return ca.roots(); },
        [](const identity::Peer& peer) { return FleetPki::Get().Judge(peer); }, clock_, door_options);
    server_ = std::make_unique<RpcServer>(*core_, *desk_, *members_, *door_);
    for (const std::string& where : {address(), std::string("127.0.0.1:0")}) {
      const auto bound = server_->Listen(*ParseAddress(where));
      EXPECT_TRUE(bound.ok()) << bound.status().ToString();
      if (bound.ok() && bound->kind == Address::Kind::kTcp) agents_ = bound->ToString();
    }
    core_->Start();
    EXPECT_TRUE(server_->Start(ca.Files(ca.Server(), directory)).ok());
  }
  ~RunningController() { Stop(); }
  // In the program's order: who answers from a thread of its own ends before the server does.
  void Stop() {
    members_->Stop();
    server_->Stop();
  }
  std::string address() const { return "unix:" + directory_ + "/controller.sock"; }
  /// Where certificates are wanted.
  const std::string& agents() const { return agents_; }
  RpcServer& server() { return *server_; }
  Door& door() { return *door_; }
  FleetCore& core() { return *core_; }
  Store& store() { return *store_; }

 private:
  const std::string directory_;
  const SystemClock clock_;
  const CatalogDeclarations catalog_;
  TestEndorser endorser_{clock_};
  std::unique_ptr<Store> store_;
  std::unique_ptr<FleetCore> core_;
  std::unique_ptr<AdminDesk> desk_;
  MemoryIdentityStore members_store_;
  Registry registry_{members_store_, FleetPki::Get().ca().issuer(), clock_};
  std::unique_ptr<Members> members_;
  std::unique_ptr<Door> door_;
  std::string agents_;
  std::unique_ptr<RpcServer> server_;
};

class ControllerTest : public testing::Test {
 protected:
  void SetUp() override { Start(); }
  void Start(FleetOptions options = RunningController::Options()) {
    controller_ = std::make_unique<RunningController>(directory_.path(), options);
  }
  void Restart() {
    controller_.reset();
    Start();
  }
  std::string address() const { return controller_->address(); }
  std::unique_ptr<FakeAgent> Agent(const std::string& node) {
    return std::make_unique<FakeAgent>(controller_->agents(), node);
  }
  FakeAdmin Admin() { return FakeAdmin(address()); }

  TempDir directory_;
  std::unique_ptr<RunningController> controller_;
};

}  // namespace railwright
