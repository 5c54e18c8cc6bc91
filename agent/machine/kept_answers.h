// What a slow program said of a device, kept until it is old: a query of a card's firmware takes a second or
// two.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "railwright/result.h"

namespace railwright::machine {

/// Runs what it is given, one thing after the other, in one thread that is started by the first. What has not
/// begun when it is destroyed never runs; what has is waited for, and the program that it runs asked to end.
class AskingThread {
 public:
  AskingThread() = default;
  AskingThread(const AskingThread&) = delete;
  AskingThread& operator=(const AskingThread&) = delete;
  ~AskingThread();
  void Post(std::function<void()> task);

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false, busy_ = false;
  std::thread thread_;
};

/// Answers by device. Not for several threads: only the asking itself happens in another one.
template <class Answer>
class KeptAnswers {
 public:
  /// An answer counts for `kept`; a failure for `failure_kept`, doubled with each one after another up to
  /// `kept`. `thread` (may be null, outlives this) asks while the caller goes on.
  KeptAnswers(std::chrono::seconds kept, std::chrono::seconds failure_kept, AskingThread* thread)
      : kept_(kept), failure_kept_(failure_kept), thread_(thread) {}

  using Ask = std::function<Result<Answer>()>;
  /// `presence` changes when the device went and came, and what was kept of the one before counts no more.
  /// With a thread: Unavailable until the first answer is there; an answer that has become old is given once
  /// more while the next is awaited. Without, and after Expect, the caller waits. `ask` may run later and
  /// elsewhere, so it owns what it uses. The answer stays valid until the next call.
  Result<const Answer*> Of(std::string_view device, const std::string& presence, Ask ask) {
    Kept& kept = all_[std::string(device)];
    if (kept.presence != presence) kept = Kept{presence, nullptr, {}, 0, {}, kept.wait};
    const auto now = Clock::now();
    if (kept.answer != nullptr && now < kept.until) return Told(kept);
    if (thread_ == nullptr || std::exchange(kept.wait, false)) {
      kept.asked = {};
      Take(kept, ask());
      return Told(kept);
    }
    if (!kept.asked.valid()) {
      auto task = std::make_shared<std::packaged_task<Result<Answer>()>>(std::move(ask));
      kept.asked = task->get_future();
      thread_->Post([task] { (*task)(); });
    }
    if (kept.asked.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
      Take(kept, kept.asked.get());
    if (kept.answer != nullptr) return Told(kept);
    return Status(Code::kUnavailable, "the card is being asked, which takes some seconds; look again");
  }

  /// Something was just written: what is kept counts no more, and the next Of waits for what is there now.
  void Expect(std::string_view device) {
    Kept& kept = all_[std::string(device)];
    kept = Kept{};
    kept.wait = true;
  }
  void Forget(std::string_view device) { all_.erase(std::string(device)); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Kept {
    std::string presence;
    std::unique_ptr<Result<Answer>> answer;
    Clock::time_point until{};
    int failures = 0;  ///< one after another, this one included
    std::future<Result<Answer>> asked;
    bool wait = false;
  };

  void Take(Kept& kept, Result<Answer> answer) {
    constexpr int kDoublings = 5;
    kept.failures = answer.ok() ? 0 : std::min(kept.failures + 1, kDoublings);
    kept.until =
        Clock::now() + (answer.ok() ? kept_ : std::min(kept_, failure_kept_ * (1 << (kept.failures - 1))));
    kept.answer = std::make_unique<Result<Answer>>(std::move(answer));
    kept.wait = false;
  }
  static Result<const Answer*> Told(const Kept& kept) {
    if (!kept.answer->ok()) return kept.answer->status();
    return &**kept.answer;
  }

  const std::chrono::seconds kept_, failure_kept_;
  AskingThread* const thread_;
  std::map<std::string, Kept, std::less<>> all_;
};

}  // namespace railwright::machine
