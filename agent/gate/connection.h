// Connection: one connected socket between the two halves, on either side. Never blocks.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "agent/gate/frame.h"
#include "core/files/descriptor.h"
#include "railwright/result.h"

namespace railwright::gate {

/// One thread uses it, which polls fd(). Holds at most one frame that comes and one that goes.
class Connection {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `other`: who is at the other end. The socket becomes non-blocking.
  Connection(Descriptor socket, Side other);

  int fd() const { return socket_.get(); }
  /// Reads what has come, 256 KiB at most. Unavailable when the other end has closed; else as
  /// FrameReader::Feed.
  Status Read(Time now, const std::function<Status(Frame)>& take);
  /// A frame is on its way: wait for POLLOUT, then call Write.
  bool writing() const { return !out_.empty(); }
  /// A frame has begun to come.
  bool reading() const { return reader_.within(); }
  /// Begins an encoded frame; to be called when none is under way.
  Status Begin(std::string bytes, Time now);
  Status Write(Time now);
  /// Nothing more will be written; what comes is still read.
  void EndWriting();

  /// DeadlineExceeded when a frame that has begun to come or to go has not moved for `patience`.
  Status Stuck(Time now, std::chrono::milliseconds patience) const;

 private:
  Descriptor socket_;
  FrameReader reader_;
  std::string out_;
  std::size_t written_ = 0;
  Time came_{}, went_{};  // when a byte last did
};

}  // namespace railwright::gate
