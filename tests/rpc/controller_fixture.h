// A whole controller in the test's process, on a Unix socket and a store of its own.
#pragma once

#include "controller/rpc/rpc_server.h"
#include "tests/rpc/fake_agent.h"
#include "tests/store/temp_dir.h"
#include "tests/support/test_endorser.h"

namespace railwright {

class RunningController {
 public:
  explicit RunningController(const std::string& directory, FleetOptions options = {})
      : directory_(directory) {
    auto opened = OpenSqliteStore(directory);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = std::move(*opened);
    if (options.endorser == nullptr) options.endorser = endorser_.get();
    core_ = std::make_unique<FleetCore>(*store_, clock_, catalog_, options);
    const Status loaded = core_->Load();
    EXPECT_TRUE(loaded.ok()) << loaded.ToString();
    desk_ = std::make_unique<AdminDesk>(*core_, *store_, catalog_, clock_);
    server_ = std::make_unique<RpcServer>(*core_, *desk_);
    const auto bound = server_->Listen(*ParseAddress(address()));
    EXPECT_TRUE(bound.ok()) << bound.status().ToString();
    core_->Start();
    EXPECT_TRUE(server_->Start().ok());
  }
  ~RunningController() { Stop(); }
  void Stop() { server_->Stop(); }
  std::string address() const { return "unix:" + directory_ + "/controller.sock"; }
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
  std::unique_ptr<RpcServer> server_;
};

class ControllerTest : public testing::Test {
 protected:
  void SetUp() override { Start(); }
  void Start(FleetOptions options = {}) {
    controller_ = std::make_unique<RunningController>(directory_.path(), options);
  }
  void Restart() {
    controller_.reset();
    Start();
  }
  std::string address() const { return controller_->address(); }
  std::unique_ptr<FakeAgent> Agent(const std::string& node) {
    return std::make_unique<FakeAgent>(address(), node);
  }
  FakeAdmin Admin() { return FakeAdmin(address()); }

  TempDir directory_;
  std::unique_ptr<RunningController> controller_;
};

}  // namespace railwright
