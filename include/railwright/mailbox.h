// Mailboxes: the only way that values travel between threads.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
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

/// How much may wait in a Queue at most; by default anything.
template <class T>
struct QueueBound {
  std::size_t values = SIZE_MAX;
  std::size_t bytes = SIZE_MAX;
  std::function<std::size_t(const T&)> bytes_of{};  ///< of one value; empty: 0
};

/// FIFO with close and a bound; the reader may wait. For messages that must all arrive (commands, changes): a
/// writer that gets false has to say so to whom it speaks for.
template <class T>
class Queue {
 public:
  explicit Queue(std::function<void()> on_post = {}, QueueBound<T> bound = {})
      : on_post_(std::move(on_post)), bound_(std::move(bound)) {}
  /// False when the queue is full or closed; the value is dropped then.
  bool Post(T value) {
    {
      std::lock_guard lock(mutex_);
      const std::size_t bytes = BytesOf(value);
      if (closed_ || items_.size() >= bound_.values || bytes > bound_.bytes - std::min(bound_.bytes, bytes_))
        return false;
      bytes_ += bytes;
      items_.push_back(std::move(value));
    }
    Told();
    return true;
  }
  /// For a value that is whole by itself and makes older ones worthless: takes the place of the first that
  /// `supersedes(older)` names, the others go. Taken also when the queue is full; false when it is closed.
  template <class Supersedes>
  bool PostNewest(T value, Supersedes supersedes) {
    {
      std::lock_guard lock(mutex_);
      if (closed_) return false;
      bytes_ += BytesOf(value);
      std::deque<T> kept;
      bool placed = false;
      for (T& older : items_) {
        if (!supersedes(std::as_const(older))) {
          kept.push_back(std::move(older));
          continue;
        }
        bytes_ -= BytesOf(older);
        if (!std::exchange(placed, true)) kept.push_back(std::move(value));
      }
      if (!placed) kept.push_back(std::move(value));
      items_ = std::move(kept);
    }
    Told();
    return true;
  }
  /// Everything that waits; empty when nothing does.
  std::deque<T> TakeAll() {
    std::lock_guard lock(mutex_);
    return Taken();
  }
  /// Blocks until something waits or the queue is closed; then everything that waits (empty: closed).
  std::deque<T> WaitAll() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return closed_ || !items_.empty(); });
    return Taken();
  }
  /// The same, but no longer than `timeout`; empty: nothing came, or closed.
  std::deque<T> WaitAllFor(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, timeout, [&] { return closed_ || !items_.empty(); });
    return Taken();
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
  std::size_t BytesOf(const T& value) const { return bound_.bytes_of ? bound_.bytes_of(value) : 0; }
  std::deque<T> Taken() {  // with mutex_
    bytes_ = 0;
    return std::exchange(items_, {});
  }
  void Told() {
    ready_.notify_one();
    if (on_post_) on_post_();
  }

  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> items_;
  std::size_t bytes_ = 0;  // of items_
  bool closed_ = false;
  std::function<void()> on_post_;
  const QueueBound<T> bound_;
};

}  // namespace railwright
