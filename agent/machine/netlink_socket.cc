#include "agent/machine/netlink_socket.h"

#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace railwright::machine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{5};
constexpr int kAttempts = 8;
/// The kernel fills dumps in pieces of at most 32 KiB (netlink_dump, since 4.x); larger single messages make
/// the buffer grow.
constexpr std::size_t kDatagram = 32768;
/// For dumps of full routing tables; without privilege the kernel gives what its limit allows.
constexpr int kReceiveBuffer = 1 << 20;

}  // namespace

bool IsInterfaceName(std::string_view name) {
  if (name.empty() || name.size() >= IFNAMSIZ || name == "." || name == "..") return false;
  return name.find_first_of("/ \t\n:") == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

Status NoSuchInterface(std::string_view path) { return FromErrno(ENODEV, path); }

Status NetlinkError(const nlmsghdr& head, std::span<const std::uint8_t> payload, std::string_view what) {
  if (payload.size() < sizeof(int)) return Status();  // NLMSG_DONE of old kernels carries nothing
  int code = 0;
  std::memcpy(&code, payload.data(), sizeof code);
  if (code >= 0) return Status();
  std::span<const std::uint8_t> attributes;
  if (head.nlmsg_type == NLMSG_DONE) {
    attributes = payload.subspan(std::min<std::size_t>(payload.size(), NLMSG_ALIGN(sizeof code)));
  } else if (payload.size() >= sizeof(nlmsgerr)) {
    // The request follows the error, only its header when capped; the kernel's attributes come after that.
    nlmsgerr error{};
    std::memcpy(&error, payload.data(), sizeof error);
    std::size_t skip = sizeof error;
    if ((head.nlmsg_flags & NLM_F_CAPPED) == 0 && error.msg.nlmsg_len > sizeof(nlmsghdr))
      skip += NLMSG_ALIGN(error.msg.nlmsg_len) - sizeof(nlmsghdr);
    attributes = payload.subspan(std::min(payload.size(), skip));
  }
  std::string_view sentence;
  if ((head.nlmsg_flags & NLM_F_ACK_TLVS) != 0)
    ForEachAttribute(attributes, [&](const NetlinkAttribute& attribute) {
      if (attribute.type == NLMSGERR_ATTR_MSG) sentence = attribute.Text();
    });
  return FromErrno(-code, what, sentence);
}

Status NetlinkSocket::Open() {
  if (fd_) return Ok();
  Descriptor fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, family_));
  if (!fd) return FromErrno(errno, "netlink socket");
  // Sentences with errors, short acknowledgements, filters honoured in dumps: each may be missing in an old
  // kernel, and then costs detail or time, not correctness; callers filter again.
  const int on = 1;
  (void)::setsockopt(fd.get(), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  (void)::setsockopt(fd.get(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  (void)::setsockopt(fd.get(), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
  sockaddr_nl self{};
  self.nl_family = AF_NETLINK;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&self), sizeof self) != 0)
    return FromErrno(errno, "netlink bind");
  datagram_.resize(kDatagram);
  fd_ = std::move(fd);
  return Ok();
}

Status NetlinkSocket::Send(NetlinkMessage& message, std::string_view what) {
  RW_RETURN_IF_ERROR(Open());
  if (++sequence_ == 0) ++sequence_;  // 0 marks notifications
  message.header().nlmsg_seq = sequence_;
  replies_.clear();
  reply_at_.clear();
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  std::span<const std::uint8_t> bytes = message.Bytes();
  ssize_t sent = 0;
  do
    sent = ::sendto(fd_.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&kernel),
                    sizeof kernel);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? FromErrno(errno, what) : Ok();
}

Result<std::size_t> NetlinkSocket::ReceiveDatagram(std::string_view what) {
  const Clock::time_point until = Clock::now() + kPatience;
  for (;;) {
    sockaddr_nl from{};
    iovec part{datagram_.data(), datagram_.size()};
    msghdr head{};
    head.msg_name = &from;
    head.msg_namelen = sizeof from;
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    // With MSG_TRUNC the size of the whole datagram is returned, also when it did not fit.
    ssize_t size = ::recvmsg(fd_.get(), &head, MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0)
        return Status(Code::kDeadlineExceeded, std::string(what) + ": no answer from the kernel within " +
                                                   std::to_string(kPatience.count()) + " s");
      pollfd wait{fd_.get(), POLLIN, 0};
      (void)::poll(&wait, 1, static_cast<int>(left));
      continue;
    }
    if (size < 0) return FromErrno(errno, what);
    if (from.nl_pid != 0) continue;  // any process may send to us; only the kernel is believed
    if (static_cast<std::size_t>(size) > datagram_.size()) {
      datagram_.resize(static_cast<std::size_t>(size));
      return FromErrno(ENOBUFS, what);  // lost, and asked for again with room for it
    }
    return static_cast<std::size_t>(size);
  }
}

NetlinkSocket::Step NetlinkSocket::TakeDatagram(std::size_t size, bool one_reply, std::string_view what) {
  std::span<const std::uint8_t> rest(datagram_.data(), size);
  while (rest.size() >= sizeof(nlmsghdr)) {
    nlmsghdr head{};
    std::memcpy(&head, rest.data(), sizeof head);
    if (head.nlmsg_len < sizeof head || head.nlmsg_len > rest.size())
      return {.ended = true,
              .lost = true,
              .error = Status(Code::kInternal, std::string(what) + ": the kernel's answer is damaged")};
    std::span<const std::uint8_t> payload = rest.subspan(sizeof head, head.nlmsg_len - sizeof head);
    rest = rest.subspan(std::min<std::size_t>(rest.size(), NLMSG_ALIGN(head.nlmsg_len)));
    if (head.nlmsg_seq != sequence_) continue;
    if ((head.nlmsg_flags & NLM_F_DUMP_INTR) != 0) interrupted_ = true;
    if (head.nlmsg_type == NLMSG_NOOP) continue;
    if (head.nlmsg_type == NLMSG_ERROR || head.nlmsg_type == NLMSG_DONE)
      return {.ended = true, .lost = false, .error = NetlinkError(head, payload, what)};
    reply_at_.push_back(replies_.size());
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&head);
    replies_.insert(replies_.end(), bytes, bytes + sizeof head);
    replies_.insert(replies_.end(), payload.begin(), payload.end());
    replies_.resize(NLMSG_ALIGN(replies_.size()));
    if (one_reply) return {.ended = true, .lost = false, .error = {}};
  }
  return {};
}

Status NetlinkSocket::Receive(bool one_reply, std::string_view what) {
  interrupted_ = false;
  for (;;) {
    Result<std::size_t> size = ReceiveDatagram(what);
    if (!size.ok() && size.status().error_number() == ENOBUFS) {
      // Something was dropped. A dump goes on all the same and must be read to its end, since the kernel
      // refuses to begin another one before that.
      interrupted_ = true;
      if (one_reply) return Ok();
      continue;
    }
    Step step = size.ok() ? TakeDatagram(*size, one_reply, what) : Step{true, true, size.status()};
    if (!step.ended) continue;
    if (step.lost) fd_.Close();  // where the conversation stands is unknown: begin anew next time
    return step.error;
  }
}

Result<std::vector<NetlinkReply>> NetlinkSocket::Ask(NetlinkMessage& message, std::string_view what) {
  const bool dump = (message.header().nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    RW_RETURN_IF_ERROR(Send(message, what));
    RW_RETURN_IF_ERROR(Receive(!dump, what));
    if (interrupted_) continue;
    std::vector<NetlinkReply> answer;
    answer.reserve(reply_at_.size());
    for (std::size_t at : reply_at_) {
      nlmsghdr head{};
      std::memcpy(&head, replies_.data() + at, sizeof head);
      answer.push_back({head.nlmsg_type,
                        head.nlmsg_flags,
                        {replies_.data() + at + sizeof head, head.nlmsg_len - sizeof head}});
    }
    return answer;
  }
  return Status(Code::kUnavailable,
                std::string(what) + ": the kernel's table kept changing while it was read", EAGAIN);
}

Status NetlinkSocket::Do(NetlinkMessage& message, std::string_view what) {
  message.header().nlmsg_flags |= NLM_F_ACK;
  RW_RETURN_IF_ERROR(Send(message, what));
  RW_RETURN_IF_ERROR(Receive(false, what));
  // The change may or may not have been made; only reading back tells.
  if (interrupted_)
    return Status(Code::kUnavailable, std::string(what) + ": the kernel's acknowledgement was lost", ENOBUFS);
  return Ok();
}

std::string NetlinkSocket::InterfaceName(std::uint32_t index) {
  if (!Open().ok()) return {};
  ifreq request{};
  request.ifr_ifindex = static_cast<int>(index);
  if (::ioctl(fd_.get(), SIOCGIFNAME, &request) != 0) return {};
  return request.ifr_name;
}

Result<std::uint32_t> NetlinkSocket::InterfaceIndex(std::string_view name) {
  RW_RETURN_IF_ERROR(Open());
  if (!IsInterfaceName(name)) return NoSuchInterface(name);
  ifreq request{};
  std::memcpy(request.ifr_name, name.data(), name.size());
  if (::ioctl(fd_.get(), SIOCGIFINDEX, &request) != 0) return FromErrno(errno, name);
  return static_cast<std::uint32_t>(request.ifr_ifindex);
}

}  // namespace railwright::machine
