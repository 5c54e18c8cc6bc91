#include "agent/machine/kept_answers.h"

#include <signal.h>

namespace railwright::machine {

AskingThread::~AskingThread() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
    tasks_.clear();
  }
  ready_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void AskingThread::Post(std::function<void()> task) {
  std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
  ready_.notify_one();
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
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

}  // namespace railwright::machine
