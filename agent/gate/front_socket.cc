#include "agent/gate/front_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace railwright::gate {
namespace {

using std::chrono::milliseconds;

class FrontSocket final : public Door {
 public:
  FrontSocket(Descriptor socket, std::string path, FrontUser user, Waits waits,
              std::function<void(const std::string&)> told)
      : socket_(std::move(socket)),
        path_(std::move(path)),
        user_(std::move(user)),
        waits_(waits),
        backoff_(waits),
        told_(std::move(told)) {}
  ~FrontSocket() override { Close(milliseconds(0)); }

  int fd() const override { return closed_until_ ? -1 : socket_.get(); }
  std::optional<Time> due() const override { return closed_until_; }

  std::optional<Descriptor> Look(Time now) override {
    if (closed_until_ && now < *closed_until_) return std::nullopt;
    closed_until_.reset();
    Descriptor front(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!front) return std::nullopt;
    ucred who{};
    socklen_t size = sizeof who;
    if (::getsockopt(front.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 ||
        (who.uid != 0 && who.uid != ::geteuid() && who.uid != user_.uid)) {
      if (told_)
        told_(path_ + ": user " + std::to_string(who.uid) + " is not the front's, and was sent away");
      closed_until_ = now + waits_.first;
      return std::nullopt;
    }
    backoff_.Began(now);
    text_.clear();
    return front;
  }

  void Lost(bool misbehaved, Time now) override {
    text_ = "it is gone; waiting for it at " + path_;
    if (!misbehaved) return;
    const milliseconds wait = backoff_.Failed(now);
    closed_until_ = now + wait;
    text_ = "it was cut off; it may come again in " + std::to_string(wait.count()) + " ms";
  }

  std::string text() const override { return text_; }

  void Close(milliseconds /*patience*/) override {
    if (!socket_) return;
    ::unlink(path_.c_str());
    socket_.Close();
  }

 private:
  Descriptor socket_;
  const std::string path_;
  const FrontUser user_;
  const Waits waits_;
  Backoff backoff_;
  const std::function<void(const std::string&)> told_;
  std::optional<Time> closed_until_;
  std::string text_ = "it has not come yet";
};

}  // namespace

Result<std::unique_ptr<Door>> ListenForFront(const std::string& path, const FrontUser& user, Waits waits,
                                             std::function<void(const std::string&)> told) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path[0] != '/' || path.size() >= sizeof address.sun_path)
    return Status(Code::kInvalidArgument, "--front-socket " + path + ": an absolute path of at most " +
                                              std::to_string(sizeof address.sun_path - 1) +
                                              " bytes is needed");
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return FromErrno(errno, "socket");
  // One of a life before; that no other agent lives is known by the lock of the state directory.
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode)) ::unlink(path.c_str());
  const mode_t before = ::umask(0177);  // nobody else's from its first moment
  const int bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(before);
  if (bound != 0) return FromErrno(error, path);
  if (user.gid != ::getegid() && ::chown(path.c_str(), static_cast<uid_t>(-1), user.gid) != 0)
    return FromErrno(errno, path + ": giving it to the group of " + user.name);
  if (::chmod(path.c_str(), 0660) != 0) return FromErrno(errno, path);
  if (::listen(socket.get(), 4) != 0) return FromErrno(errno, path);
  return std::unique_ptr<Door>(
      std::make_unique<FrontSocket>(std::move(socket), path, user, waits, std::move(told)));
}

}  // namespace railwright::gate
