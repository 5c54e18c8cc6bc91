// Worker: a thread that does one job after the other, so that gRPC's threads need not.
#pragma once

#include <functional>
#include <thread>

#include "railwright/mailbox.h"

namespace railwright {

class Worker {
 public:
  Worker() : thread_([this] { Run(); }) {}
  ~Worker() { Stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// False: it has stopped, and the job was dropped.
  bool Post(std::function<void()> job) { return jobs_.Post(std::move(job)); }
  /// Does what waits, then ends.
  void Stop() {
    jobs_.Close();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Run() {
    while (true) {
      auto jobs = jobs_.WaitAll();
      if (jobs.empty()) return;
      for (auto& job : jobs) job();
    }
  }
  Queue<std::function<void()>> jobs_;
  std::thread thread_;
};

}  // namespace railwright
