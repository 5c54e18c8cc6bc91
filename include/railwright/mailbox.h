// Mailboxes: the only way that values travel between threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace railwright {

/// Latest-wins slot: a writer never blocks and replaces what was not yet taken.
template <class T>
class Slot {
 public:
  /// `on_post` runs in the writer's thread after each post (to wake a poll loop); may be empty.
  explicit Slot(std::function<void()> on_post = {}) : on_post_(std::move(on_post)) {}
  void Post(T value) {
    {
      std::lock_guard lock(mutex_);
      value_ = std::move(value);
    }
    if (on_post_) on_post_();
  }
  std::optional<T> Take() {
    std::lock_guard lock(mutex_);
    return std::exchange(value_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::optional<T> value_;
  std::function<void()> on_post_;
};

/// Unbounded FIFO with close; the reader may wait. For messages that must all arrive (commands, changes).
template <class T>
class Queue {
 public:
  explicit Queue(std::function<void()> on_post = {}) : on_post_(std::move(on_post)) {}
  /// False when the queue is closed; the value is dropped then.
  bool Post(T value) {
    {
      std::lock_guard lock(mutex_);
      if (closed_) return false;
      items_.push_back(std::move(value));
    }
    ready_.notify_one();
    if (on_post_) on_post_();
    return true;
  }
  /// Everything that waits; empty when nothing does.
  std::deque<T> TakeAll() {
    std::lock_guard lock(mutex_);
    return std::exchange(items_, {});
  }
  /// Blocks until something waits or the queue is closed; then everything that waits (empty: closed).
  std::deque<T> WaitAll() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return closed_ || !items_.empty(); });
    return std::exchange(items_, {});
  }
  /// The same, but no longer than `timeout`; empty: nothing came, or closed.
  std::deque<T> WaitAllFor(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, timeout, [&] { return closed_ || !items_.empty(); });
    return std::exchange(items_, {});
  }
  bool closed() const {
    std::lock_guard lock(mutex_);
    return closed_;
  }
  void Close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
    if (on_post_) on_post_();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> items_;
  bool closed_ = false;
  std::function<void()> on_post_;
};

}  // namespace railwright
