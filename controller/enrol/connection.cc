#include "controller/enrol/connection.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "controller/enrol/answers.h"

namespace railwright {

EnrolmentConnection::EnrolmentConnection(int fd, ssl_ctx_st* tls, std::string address, std::string peer,
                                         Time accepted, Time deadline_in)
    : deadline(deadline_in),
      fd_(fd),
      tls_(SSL_new(tls), &SSL_free),
      address_(std::move(address)),
      peer_(std::move(peer)),
      accepted_(accepted) {
  if (tls_ == nullptr || SSL_set_fd(tls_.get(), fd_) != 1) state_ = State::kEnded;
}

EnrolmentConnection::~EnrolmentConnection() {
  tls_.reset();
  ::close(fd_);
}

short EnrolmentConnection::events() const {
  switch (state_) {
    case State::kReading:
    case State::kWriting: return wants_write_ ? POLLOUT : POLLIN;
    case State::kLingering: return POLLIN;
    case State::kAsked:
    case State::kWorking:
    case State::kEnded: return 0;
  }
  return 0;
}

bool EnrolmentConnection::Waits(int result) {
  const int error = SSL_get_error(tls_.get(), result);
  ERR_clear_error();  // the queue is the thread's, not this connection's
  wants_write_ = error == SSL_ERROR_WANT_WRITE;
  if (wants_write_ || error == SSL_ERROR_WANT_READ) return true;
  state_ = State::kEnded;
  return false;
}

void EnrolmentConnection::Go() {
  if (state_ == State::kReading) Read();
  if (state_ == State::kWriting) Write();
  if (state_ != State::kLingering) return;
  char dropped[512];
  while (true) {
    const auto got = ::recv(fd_, dropped, sizeof dropped, MSG_DONTWAIT);
    if (got > 0) continue;
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) state_ = State::kEnded;
    return;
  }
}

void EnrolmentConnection::Read() {
  if (!handshaken_) {
    const int done = SSL_accept(tls_.get());
    if (done != 1) {
      (void)Waits(done);
      return;
    }
    handshaken_ = true;
    wants_write_ = false;
  }
  while (state_ == State::kReading) {
    const bool head = read_ < head_.size();
    char* to = head ? head_.data() + read_ : body_.Writable().data() + (read_ - head_.size());
    const std::size_t wanted = head ? head_.size() - read_ : head_.size() + body_.size() - read_;
    const int got = SSL_read(tls_.get(), to, static_cast<int>(wanted));
    if (got <= 0) {
      (void)Waits(got);
      return;
    }
    read_ += static_cast<std::size_t>(got);
    if (read_ == head_.size()) {
      const auto size = identity::BodyBytes({head_.data(), head_.size()});
      if (!size.ok()) {
        malformed_ = true;
        Answer(RefusedFrame(size.status()));
        return;
      }
      body_ = identity::Secret(*size);
    } else if (read_ == head_.size() + body_.size()) {
      state_ = State::kAsked;
    }
  }
}

identity::Secret EnrolmentConnection::TakeRequest() {
  state_ = State::kWorking;
  return std::move(body_);
}

void EnrolmentConnection::Answer(std::string frame) {
  out_ = std::move(frame);
  state_ = State::kWriting;
  wants_write_ = true;
}

void EnrolmentConnection::Write() {
  while (written_ < out_.size()) {
    const int put = SSL_write(tls_.get(), out_.data() + written_, static_cast<int>(out_.size() - written_));
    if (put <= 0) {
      (void)Waits(put);
      return;
    }
    written_ += static_cast<std::size_t>(put);
  }
  SSL_shutdown(tls_.get());
  ERR_clear_error();
  // A socket that is closed with something unread would take the answer back (RST).
  ::shutdown(fd_, SHUT_WR);
  state_ = State::kLingering;
}

}  // namespace railwright
