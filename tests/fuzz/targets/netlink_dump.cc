// Answers of netlink: put together out of datagrams, then read as links, addresses, routes and rules.
//
// The input is flags (bit 0: a dump), then datagrams, each behind its length in two bytes (little-endian;
// with the high bit one was lost before it). A message of sequence 1 belongs to the request that is open.
#include <cerrno>
#include <cstring>

#include "agent/machine/netlink_conversation.h"
#include "agent/machine/rtnl_decode.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;
using namespace railwright::machine;

namespace {

class FuzzedKernel final : public NetlinkChannel {
 public:
  explicit FuzzedKernel(fuzz::Input input) : input_(input) {}

  Status Send(std::span<const std::uint8_t> message, std::string_view) override {
    nlmsghdr head{};
    std::memcpy(&head, message.data(), sizeof head);
    sequence_ = head.nlmsg_seq;
    ++sent;
    return Ok();
  }

  Result<std::span<const std::uint8_t>> Receive(std::string_view what) override {
    if (input_.empty()) return Status(Code::kDeadlineExceeded, std::string(what));
    if (pending_ == 0) {
      const unsigned low = input_.Byte();
      pending_ = low | static_cast<unsigned>(input_.Byte()) << 8 | 0x10000;
      if ((pending_ & 0x8000) != 0) return FromErrno(ENOBUFS, what);
    }
    const std::size_t size = pending_ & 0x7fff;
    pending_ = 0;
    std::string bytes;
    while (bytes.size() < size && !input_.empty()) bytes += static_cast<char>(input_.Byte());
    datagram_.assign(bytes.begin(), bytes.end());
    for (std::size_t at = 0; at + sizeof(nlmsghdr) <= datagram_.size();) {
      nlmsghdr head{};
      std::memcpy(&head, datagram_.data() + at, sizeof head);
      if (head.nlmsg_seq == 1) head.nlmsg_seq = sequence_;
      std::memcpy(datagram_.data() + at, &head, sizeof head);
      if (head.nlmsg_len < sizeof head || head.nlmsg_len > datagram_.size() - at) break;
      at += NLMSG_ALIGN(head.nlmsg_len);
    }
    received += datagram_.size();
    return std::span<const std::uint8_t>(datagram_);
  }

  void Abandon() override { abandoned = true; }

  int sent = 0;
  std::size_t received = 0;
  bool abandoned = false;

 private:
  fuzz::Input input_;
  unsigned pending_ = 0;
  std::uint32_t sequence_ = 0;
  std::vector<std::uint8_t> datagram_;
};

std::string NameOf(std::uint32_t index) { return index == 0 ? "" : "rail" + std::to_string(index % 4); }

bool OneLine(std::string_view text) {
  return text.find('\n') == std::string_view::npos && text.find('\0') == std::string_view::npos;
}

// What the kernel shows may be written back, and then reads the same.
void Check(const NetlinkReply& reply) {
  const LinkFacts link = DecodeLink(reply);
  ALWAYS(OneLine(link.address) && link.address.size() <= 3 * reply.payload.size(), link.address);
  for (const std::uint32_t index : {1U, 2U}) {
    const auto address = DecodeAddress(reply, index);
    if (!address) continue;
    ALWAYS(OneLine(address->Text()), address->Text());
    if (address->local.address.IsZero() || address->local.address.bytes[0] == 0xfe) continue;
    const auto again = Address::Parse(address->Text());
    ALWAYS(again.ok(), address->Text(), again.status().message());
    ALWAYS(address->failed || again->Text() == address->Text(), again->Text(), address->Text());
  }
  std::uint32_t table = 0;
  if (const auto route = DecodeRoute(reply, NameOf, table)) {
    const std::string text = route->Text();
    ALWAYS(OneLine(text), text);
    bool whole = route->beyond.empty() && !route->destination.HasHostBits();
    for (const NextHop& hop : route->hops) whole = whole && !hop.dev.empty();
    if (whole) {
      const auto again = Route::Parse(text);
      ALWAYS(again.ok(), text, again.status().message());
      ALWAYS(again->Text() == text, again->Text(), text);
    }
  }
  if (const auto rule = DecodeRule(reply)) {
    const std::string text = rule->rule.Text();
    ALWAYS(OneLine(text), text);
    // "goto", "nop" and bits beyond a prefix are shown, and cannot be wished for.
    if (rule->rule.beyond.empty() && !rule->rule.action.starts_with("action-") &&
        !rule->rule.from.HasHostBits() && !rule->rule.to.HasHostBits()) {
      const auto again = Rule::Parse(text);
      ALWAYS(again.ok(), text, again.status().message());
      ALWAYS(again->Text() == text, again->Text(), text);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const bool dump = (input.Byte() & 1) != 0;
  FuzzedKernel kernel(input);
  NetlinkConversation conversation(kernel);
  NetlinkMessage message(0, dump ? NLM_F_DUMP : 0);
  const auto answer = conversation.Ask(message, "question");
  ALWAYS(kernel.sent <= NetlinkConversation::kAttempts, std::to_string(kernel.sent));
  if (!answer.ok()) return 0;
  ALWAYS(!kernel.abandoned, "an answer after damage");
  ALWAYS(dump || answer->size() <= 1, std::to_string(answer->size()));
  std::size_t bytes = 0;
  for (const NetlinkReply& reply : *answer) {
    bytes += reply.payload.size();
    ALWAYS(reply.type != NLMSG_ERROR && reply.type != NLMSG_DONE, std::to_string(reply.type));
    ALWAYS((reply.flags & NLM_F_DUMP_INTR) == 0, std::to_string(reply.flags));
    Check(reply);
  }
  ALWAYS(bytes <= kernel.received, std::to_string(bytes));
  return 0;
}
