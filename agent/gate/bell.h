// Bell: wakes a loop that waits in poll(2).
#pragma once

#include "railwright/result.h"

namespace railwright {

/// An eventfd: Ring wakes the loop from any thread and never blocks.
class Bell {
 public:
  static Result<Bell> Make();
  ~Bell();
  Bell(Bell&& other) noexcept;
  Bell& operator=(Bell&&) = delete;
  void Ring() const;
  void Clear() const;
  int fd() const { return fd_; }

 private:
  explicit Bell(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace railwright
