// What the tests of a session share: its options, waiting for its text, waiting for a message.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "agent/session/session.h"
#include "tests/session/fake_controller.h"

namespace railwright {

using namespace std::chrono_literals;

/// A way without certificates, to a fake that is in this process. The programs have none like it.
inline std::function<Result<Way>()> To(const std::string& address) {
  return [address]() -> Result<Way> {
    return Way{.controller = address, .credentials = grpc::InsecureChannelCredentials(), .node = {}};
  };
}

inline SessionOptions Options(const FakeController& controller) {
  SessionOptions options;
  options.way = To(controller.Address());
  options.node = "gpu-001";
  options.version = "0.1.0";
  options.backoff_first = 5ms;
  options.backoff_max = 40ms;
  options.refusal_first = 10ms;
  options.seed = 7;
  return options;
}

inline v1::Hello State() {
  v1::Hello hello;
  hello.set_boot_id("b00t");
  hello.set_state_hash("5747e");
  hello.set_generation(4);
  return hello;
}

// Waits for a text; the session says by on_state when to look.
class Told {
 public:
  std::function<void()> Bell() {
    return [this] {
      const std::lock_guard lock(mutex_);
      ++rung_;
      changed_.notify_all();
    };
  }
  bool Until(const Session& session, const std::string& part) {
    const auto patience = std::chrono::steady_clock::now() + 10s;
    std::unique_lock lock(mutex_);
    while (std::chrono::steady_clock::now() < patience) {
      lock.unlock();
      if (session.StateText().find(part) != std::string::npos) return true;
      lock.lock();
      changed_.wait_for(lock, 50ms);
    }
    ADD_FAILURE() << "state is \"" << session.StateText() << "\", not " << part;
    return false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int rung_ = 0;
};

template <class Body>
std::optional<FromController> Next(Queue<FromController>& inbox) {
  for (int i = 0; i < 100; ++i)
    for (FromController& message : inbox.WaitAllFor(100ms))
      if (std::holds_alternative<Body>(message.body)) return std::move(message);
  return std::nullopt;
}

}  // namespace railwright
