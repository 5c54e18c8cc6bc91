#include "agent/gate/connection.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace railwright::gate {
namespace {

Status Closed() { return Status(Code::kUnavailable, "it has closed the connection"); }

}  // namespace

Connection::Connection(Descriptor socket, Side other) : socket_(std::move(socket)), reader_(other) {
  ::fcntl(socket_.get(), F_SETFL, ::fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
}

Status Connection::Read(Time now, const std::function<Status(Frame)>& take) {
  // A bounded bite: an end that writes faster than this reads must not keep the thread from all else.
  constexpr int kBites = 4;
  static thread_local std::array<char, 65536> buffer;
  for (int bite = 0; bite < kBites; ++bite) {
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN ? Ok() : errno == ECONNRESET ? Closed() : FromErrno(errno, "recv");
    if (got == 0) return Closed();
    came_ = now;
    RW_RETURN_IF_ERROR(reader_.Feed({buffer.data(), static_cast<std::size_t>(got)}, take));
  }
  return Ok();
}

Status Connection::Begin(std::string bytes, Time now) {
  out_ = std::move(bytes);
  written_ = 0;
  went_ = now;
  return Write(now);
}

Status Connection::Write(Time now) {
  while (written_ < out_.size()) {
    const ssize_t put =
        ::send(socket_.get(), out_.data() + written_, out_.size() - written_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0)
      return errno == EAGAIN                         ? Ok()
             : errno == EPIPE || errno == ECONNRESET ? Closed()
                                                     : FromErrno(errno, "send");
    written_ += static_cast<std::size_t>(put);
    went_ = now;
  }
  out_ = {};
  return Ok();
}

void Connection::EndWriting() { ::shutdown(socket_.get(), SHUT_WR); }

Status Connection::Stuck(Time now, std::chrono::milliseconds patience) const {
  const std::string within = " for " + std::to_string(patience.count()) + " ms";
  if (writing() && now - went_ >= patience)
    return Status(Code::kDeadlineExceeded, "it has not read" + within);
  if (reader_.within() && now - came_ >= patience)
    return Status(Code::kDeadlineExceeded, "half a frame has come, and nothing more" + within);
  return Ok();
}

}  // namespace railwright::gate
