#include "agent/machine/netlink_conversation.h"

#include <algorithm>
#include <cerrno>

namespace railwright::machine {
namespace {

Status Damaged(std::string_view what) {
  return Status(Code::kInternal, std::string(what) + ": the kernel's answer is damaged");
}

}  // namespace

Status NetlinkError(const nlmsghdr& head, std::span<const std::uint8_t> payload, std::string_view what) {
  if (payload.size() < sizeof(int))  // NLMSG_DONE of old kernels carries nothing
    return head.nlmsg_type == NLMSG_DONE ? Status() : Damaged(what);
  int code = 0;
  std::memcpy(&code, payload.data(), sizeof code);
  if (code >= 0) return Status();
  // MAX_ERRNO of the kernel; beyond it lies no error number, and the smallest integer has no negative.
  if (code < -4095) return Damaged(what);
  std::span<const std::uint8_t> attributes;
  if (head.nlmsg_type == NLMSG_DONE) {
    attributes = payload.subspan(std::min<std::size_t>(payload.size(), NLMSG_ALIGN(sizeof code)));
  } else if (payload.size() >= sizeof(nlmsgerr)) {
    // The request follows the error, only its header when capped; the kernel's attributes come after that.
    nlmsgerr error{};
    std::memcpy(&error, payload.data(), sizeof error);
    std::size_t skip = sizeof error;
    const std::size_t request = std::min<std::size_t>(error.msg.nlmsg_len, payload.size());
    if ((head.nlmsg_flags & NLM_F_CAPPED) == 0 && request > sizeof(nlmsghdr))
      skip += NLMSG_ALIGN(request) - sizeof(nlmsghdr);
    attributes = payload.subspan(std::min(payload.size(), skip));
  }
  std::string_view sentence;
  if ((head.nlmsg_flags & NLM_F_ACK_TLVS) != 0)
    ForEachAttribute(attributes, [&](const NetlinkAttribute& attribute) {
      if (attribute.type == NLMSGERR_ATTR_MSG) sentence = attribute.Text();
    });
  return FromErrno(-code, what, sentence);
}

Status NetlinkConversation::Send(NetlinkMessage& message, std::string_view what) {
  if (++sequence_ == 0) ++sequence_;  // 0 marks notifications
  message.header().nlmsg_seq = sequence_;
  replies_.clear();
  reply_at_.clear();
  interrupted_ = lost_ = false;
  return channel_.Send(message.Bytes(), what);
}

NetlinkConversation::Step NetlinkConversation::TakeDatagram(std::span<const std::uint8_t> rest,
                                                            bool one_reply, std::string_view what) {
  const Step damaged{.ended = true, .astray = true, .error = Damaged(what)};
  if (rest.empty()) return damaged;
  while (!rest.empty()) {
    if (rest.size() < sizeof(nlmsghdr)) return damaged;
    nlmsghdr head{};
    std::memcpy(&head, rest.data(), sizeof head);
    if (head.nlmsg_len < sizeof head || head.nlmsg_len > rest.size()) return damaged;
    std::span<const std::uint8_t> payload = rest.subspan(sizeof head, head.nlmsg_len - sizeof head);
    rest = rest.subspan(std::min<std::size_t>(rest.size(), NLMSG_ALIGN(head.nlmsg_len)));
    if (head.nlmsg_seq != sequence_) continue;
    if ((head.nlmsg_flags & NLM_F_DUMP_INTR) != 0) interrupted_ = true;
    if (head.nlmsg_type == NLMSG_NOOP) continue;
    if (head.nlmsg_type == NLMSG_ERROR || head.nlmsg_type == NLMSG_DONE)
      return {.ended = true, .astray = false, .error = NetlinkError(head, payload, what)};
    reply_at_.push_back(replies_.size());
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&head);
    replies_.insert(replies_.end(), bytes, bytes + sizeof head);
    replies_.insert(replies_.end(), payload.begin(), payload.end());
    replies_.resize(NLMSG_ALIGN(replies_.size()));
    if (one_reply) return {.ended = true, .astray = false, .error = {}};
  }
  return {};
}

Status NetlinkConversation::Receive(bool one_reply, std::string_view what) {
  for (;;) {
    const Result<std::span<const std::uint8_t>> datagram = channel_.Receive(what);
    if (!datagram.ok() && datagram.status().error_number() == ENOBUFS) {
      // A dump goes on all the same and must be read to its end, since the kernel refuses to begin another
      // one before that.
      lost_ = true;
      if (one_reply) return Ok();
      continue;
    }
    const Step step =
        datagram.ok() ? TakeDatagram(*datagram, one_reply, what) : Step{true, true, datagram.status()};
    if (!step.ended) continue;
    if (step.astray) channel_.Abandon();
    return step.error;
  }
}

Result<std::vector<NetlinkReply>> NetlinkConversation::Ask(NetlinkMessage& message, std::string_view what) {
  const bool dump = (message.header().nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    RW_RETURN_IF_ERROR(Send(message, what));
    RW_RETURN_IF_ERROR(Receive(!dump, what));
    if (interrupted_ || lost_) continue;
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
                std::string(what) +
                    (lost_ ? ": parts of the kernel's answer were lost, each of "
                           : ": the kernel's table kept changing while it was read, ") +
                    std::to_string(kAttempts) + " times",
                EAGAIN);
}

Status NetlinkConversation::Do(NetlinkMessage& message, std::string_view what) {
  message.header().nlmsg_flags |= NLM_F_ACK;
  RW_RETURN_IF_ERROR(Send(message, what));
  RW_RETURN_IF_ERROR(Receive(false, what));
  // The change may or may not have been made; only reading back tells.
  if (lost_)
    return Status(Code::kUnavailable, std::string(what) + ": the kernel's acknowledgement was lost", ENOBUFS);
  return Ok();
}

}  // namespace railwright::machine
