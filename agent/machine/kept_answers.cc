#include "agent/machine/kept_answers.h"

#include <signal.h>

#include "agent/tools/tools.h"

namespace railwright::machine {

AskingThread::~AskingThread() {
  {
    std::unique_lock lock(mutex_);
    ending_ = true;
    tasks_.clear();
    ready_.notify_all();
    // A task that is about to start its program has none to end yet.
    while (!ready_.wait_for(lock, std::chrono::milliseconds(20), [this] { return !busy_; }))
      EndRunningTools();
  }
  if (thread_.joinable()) thread_.join();
}

void AskingThread::Post(std::function<void()> task) {
  std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
  ready_.notify_all();
}

void AskingThread::Work() {
  // Signals are the main thread's.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (ending_) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    busy_ = true;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    busy_ = false;
    ready_.notify_all();
  }
}

}  // namespace railwright::machine
