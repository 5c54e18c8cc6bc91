#include "tests/session/fake_controller.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

namespace railwright {

using namespace std::chrono_literals;

FakeController::FakeController() {
  char name[] = "/tmp/railwright-session-XXXXXX";
  directory_ = mkdtemp(name);
  path_ = directory_ + "/agent.sock";
}

FakeController::~FakeController() {
  Stop();
  unlink(path_.c_str());
  rmdir(directory_.c_str());
}

void FakeController::Listen() {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(Address(), grpc::InsecureServerCredentials());
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  // An agent's front has no privilege.
  chmod(directory_.c_str(), 0711);
  chmod(path_.c_str(), 0666);
}

bool FakeController::ListenOn(const std::string& host,
                              const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(host + ":0", credentials, &port);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  tcp_ = host + ":" + std::to_string(port);
  return server_ != nullptr && port != 0;
}

void FakeController::Stop() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_.reset();
}

void FakeController::SetScript(Script script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
}

std::vector<v1::Hello> FakeController::Hellos() const {
  const std::lock_guard lock(mutex_);
  return hellos_;
}

std::vector<v1::AgentMessage> FakeController::Received() const {
  const std::lock_guard lock(mutex_);
  return received_;
}

bool FakeController::WaitReceived(std::size_t count) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, 10s, [&] { return received_.size() >= count; });
}

bool FakeController::WaitHellos(std::size_t count) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, 10s, [&] { return hellos_.size() >= count; });
}

v1::ControllerMessage FakeController::Welcome() {
  v1::ControllerMessage message;
  message.mutable_welcome()->set_wire(1);
  message.mutable_welcome()->set_version("0.1.0");
  return message;
}

bool FakeController::ReadOne(AgentStream& stream) {
  v1::AgentMessage message;
  if (!stream.Read(&message)) return false;
  const std::lock_guard lock(mutex_);
  received_.push_back(message);
  changed_.notify_all();
  return true;
}

grpc::Status FakeController::ReadAll(AgentStream& stream) {
  while (ReadOne(stream)) {
  }
  return grpc::Status::OK;
}

grpc::Status FakeController::Connect(grpc::ServerContext*, AgentStream* stream) {
  v1::AgentMessage first;
  if (!stream->Read(&first) || !first.has_hello()) return {grpc::StatusCode::INVALID_ARGUMENT, "no Hello"};
  Script script;
  {
    const std::lock_guard lock(mutex_);
    hellos_.push_back(first.hello());
    script = script_;
    changed_.notify_all();
  }
  if (script) return script(*stream, first.hello());
  stream->Write(Welcome());
  return ReadAll(*stream);
}

}  // namespace railwright
