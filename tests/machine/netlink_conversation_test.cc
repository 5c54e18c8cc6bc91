#include "agent/machine/netlink_conversation.h"

#include <gtest/gtest.h>
#include <linux/rtnetlink.h>

#include <cerrno>
#include <deque>
#include <functional>
#include <variant>

namespace railwright::machine {
namespace {

/// One message of the kernel; `stale` belongs to the request before this one.
struct Said {
  std::uint16_t type = RTM_NEWLINK;
  std::uint16_t flags = NLM_F_MULTI;
  std::vector<std::uint8_t> payload{};
  bool stale = false;
};
std::vector<std::uint8_t> Number(std::int32_t number) {
  std::vector<std::uint8_t> bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}
Said Link(std::uint8_t mark, std::uint16_t flags = NLM_F_MULTI) {
  return {RTM_NEWLINK, flags, {mark, 1, 2, 3, 4}};
}
Said Done(std::uint16_t flags = NLM_F_MULTI) { return {NLMSG_DONE, flags, Number(0)}; }
Said Error(int number) { return {NLMSG_ERROR, 0, Number(-number)}; }

using Datagram = std::vector<Said>;
/// What Receive gives: a datagram, bytes as they are, or an error.
using Turn = std::variant<Datagram, std::vector<std::uint8_t>, Status>;

/// Plays the kernel: each request is answered by the next list of turns; the last list answers all further
/// ones.
class ScriptedKernel final : public NetlinkChannel {
 public:
  explicit ScriptedKernel(std::vector<std::vector<Turn>> answers) : answers_(std::move(answers)) {}

  Status Send(std::span<const std::uint8_t> message, std::string_view) override {
    nlmsghdr head{};
    std::memcpy(&head, message.data(), sizeof head);
    sequence_ = head.nlmsg_seq;
    const std::size_t which = std::min<std::size_t>(static_cast<std::size_t>(sent), answers_.size() - 1);
    ++sent;
    coming_.insert(coming_.end(), answers_[which].begin(), answers_[which].end());
    return Ok();
  }

  Result<std::span<const std::uint8_t>> Receive(std::string_view what) override {
    if (coming_.empty()) return Status(Code::kDeadlineExceeded, std::string(what) + ": silence");
    const Turn turn = std::move(coming_.front());
    coming_.pop_front();
    if (const auto* error = std::get_if<Status>(&turn)) return *error;
    const auto* datagram = std::get_if<Datagram>(&turn);
    std::vector<std::uint8_t> bytes = datagram ? Bytes(*datagram) : std::get<std::vector<std::uint8_t>>(turn);
    // An exact copy on the heap, so that a read beyond the end is caught by the sanitizer.
    bytes_ = std::vector<std::uint8_t>(bytes.begin(), bytes.end());
    return std::span<const std::uint8_t>(bytes_);
  }

  void Abandon() override {
    ++abandoned;
    coming_.clear();
  }

  std::vector<std::uint8_t> Bytes(const Datagram& datagram) const {
    std::vector<std::uint8_t> bytes;
    for (const Said& said : datagram) {
      nlmsghdr head{};
      head.nlmsg_len = static_cast<std::uint32_t>(sizeof head + said.payload.size());
      head.nlmsg_type = said.type;
      head.nlmsg_flags = said.flags;
      head.nlmsg_seq = said.stale ? sequence_ - 1 : sequence_;
      const auto* raw = reinterpret_cast<const std::uint8_t*>(&head);
      bytes.insert(bytes.end(), raw, raw + sizeof head);
      bytes.insert(bytes.end(), said.payload.begin(), said.payload.end());
      bytes.resize(NLMSG_ALIGN(bytes.size()));
    }
    return bytes;
  }

  int sent = 0;
  int abandoned = 0;

 private:
  std::vector<std::vector<Turn>> answers_;
  std::deque<Turn> coming_;
  std::uint32_t sequence_ = 0;
  std::vector<std::uint8_t> bytes_;
};

const Status kLost = FromErrno(ENOBUFS, "recv");

Result<std::vector<NetlinkReply>> Dump(NetlinkConversation& conversation) {
  NetlinkMessage message(RTM_GETLINK, NLM_F_DUMP);
  message.Header(ifinfomsg{});
  return conversation.Ask(message, "links");
}

/// The marks of the replies, in order.
std::string Marks(const Result<std::vector<NetlinkReply>>& answer) {
  std::string marks;
  if (!answer.ok()) return answer.status().ToString();
  for (const NetlinkReply& reply : *answer) {
    EXPECT_EQ(reply.payload.size(), 5u);
    marks += static_cast<char>(reply.payload[0]);
  }
  return marks;
}

TEST(NetlinkConversationTest, ADumpOfSeveralDatagramsIsOneAnswer) {
  ScriptedKernel kernel({{Datagram{Link('a'), Link('b')}, Datagram{Link('c')}, Datagram{Done()}}});
  NetlinkConversation conversation(kernel);
  EXPECT_EQ(Marks(Dump(conversation)), "abc");
  EXPECT_EQ(kernel.sent, 1);
  EXPECT_EQ(kernel.abandoned, 0);
}

TEST(NetlinkConversationTest, AnInterruptedDumpIsAskedAgainAndItsHalfPictureDropped) {
  ScriptedKernel kernel(
      {{Datagram{Link('a')}, Datagram{Link('b', NLM_F_MULTI | NLM_F_DUMP_INTR), Link('c')}, Datagram{Done()}},
       {Datagram{Link('x'), Done(NLM_F_MULTI | NLM_F_DUMP_INTR)}},
       {Datagram{Link('d'), Link('e')}, Datagram{Done()}}});
  NetlinkConversation conversation(kernel);
  EXPECT_EQ(Marks(Dump(conversation)), "de");
  EXPECT_EQ(kernel.sent, 3) << "the word may stand on any message, also on the last";
  EXPECT_EQ(Marks(Dump(conversation)), "de") << "the next question begins anew";
}

TEST(NetlinkConversationTest, ADumpInterruptedEachTimeEndsAfterEightTriesAndSaysSo) {
  ScriptedKernel kernel({{Datagram{Link('a', NLM_F_MULTI | NLM_F_DUMP_INTR), Done()}}});
  NetlinkConversation conversation(kernel);
  const auto answer = Dump(conversation);
  EXPECT_EQ(kernel.sent, NetlinkConversation::kAttempts);
  EXPECT_EQ(answer.status().code(), Code::kUnavailable);
  EXPECT_EQ(answer.status().error_number(), EAGAIN);
  EXPECT_EQ(answer.status().message(), "links: the kernel's table kept changing while it was read, 8 times");
}

TEST(NetlinkConversationTest, AnErrorInTheMiddleOfADumpIsTheAnswer) {
  ScriptedKernel kernel(
      {{Datagram{Link('a'), Link('b')}, Datagram{Link('c'), Error(ENOMEM)}}, {Datagram{Link('d'), Done()}}});
  NetlinkConversation conversation(kernel);
  const auto answer = Dump(conversation);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.status().error_number(), ENOMEM);
  EXPECT_EQ(kernel.abandoned, 0) << "the kernel has ended this dump itself";
  EXPECT_EQ(Marks(Dump(conversation)), "d") << "nothing of the failed answer is left";
}

TEST(NetlinkConversationTest, AnEndThatCarriesAnErrorIsAnError) {
  ScriptedKernel kernel({{Datagram{Link('a')}, Datagram{{NLMSG_DONE, NLM_F_MULTI, Number(-EOPNOTSUPP)}}}});
  NetlinkConversation conversation(kernel);
  EXPECT_EQ(Dump(conversation).status().code(), Code::kUnimplemented);
}

TEST(NetlinkConversationTest, AnErrorWithoutItsNumberIsDamageNotSuccess) {
  for (const std::vector<std::uint8_t>& payload :
       {std::vector<std::uint8_t>{}, {1, 2, 3}, Number(INT32_MIN)}) {
    ScriptedKernel kernel({{Datagram{Link('a'), {NLMSG_ERROR, 0, payload}}}});
    NetlinkConversation conversation(kernel);
    EXPECT_EQ(Dump(conversation).status().code(), Code::kInternal);
  }
}

TEST(NetlinkConversationTest, ACutDatagramIsAnErrorAndNeverHalfAnAnswer) {
  const Datagram whole{Link('a'), Link('b')};
  const std::vector<std::uint8_t> bytes = ScriptedKernel(std::vector<std::vector<Turn>>{}).Bytes(whole);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    // The sequence number of the first request is 1; the cut bytes carry it.
    std::vector<std::uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const std::uint32_t first = 1;
    for (const std::size_t at : {std::size_t{0}, bytes.size() / 2})
      if (at + sizeof(nlmsghdr) <= cut.size())
        std::memcpy(cut.data() + at + offsetof(nlmsghdr, nlmsg_seq), &first, sizeof first);
    ScriptedKernel kernel({{cut, Datagram{Done()}}, {Datagram{Link('z'), Done()}}});
    NetlinkConversation conversation(kernel);
    const auto answer = Dump(conversation);
    // Cut between two messages it is whole, and cut within the padding nothing is missing.
    const std::size_t half = bytes.size() / 2;
    const bool between = size == half || size == half - 1 || size == half - 2 || size == half - 3;
    const bool padding = size > bytes.size() - 4;
    if (between || padding) {
      EXPECT_EQ(Marks(answer), padding ? "ab" : "a") << size;
      continue;
    }
    EXPECT_EQ(answer.status().code(), Code::kInternal) << size << ": " << Marks(answer);
    EXPECT_EQ(kernel.abandoned, 1) << size;
    EXPECT_EQ(Marks(Dump(conversation)), "z") << size;
  }
}

TEST(NetlinkConversationTest, ADumpThatNeverEndsIsAnError) {
  ScriptedKernel kernel({{Datagram{Link('a'), Link('b')}}});
  NetlinkConversation conversation(kernel);
  EXPECT_EQ(Dump(conversation).status().code(), Code::kDeadlineExceeded);
  EXPECT_EQ(kernel.abandoned, 1);
}

TEST(NetlinkConversationTest, ALossIsReadToTheEndAndAskedAgain) {
  ScriptedKernel kernel({{Datagram{Link('a')}, kLost, Datagram{Link('c'), Done()}},
                         {Datagram{Link('a'), Link('b'), Link('c'), Done()}}});
  NetlinkConversation conversation(kernel);
  EXPECT_EQ(Marks(Dump(conversation)), "abc");
  EXPECT_EQ(kernel.sent, 2);
  EXPECT_EQ(kernel.abandoned, 0);
}

TEST(NetlinkConversationTest, ALossEachTimeEndsAfterEightTriesAndSaysSo) {
  ScriptedKernel kernel({{Datagram{Link('a')}, kLost, Datagram{Done()}}});
  NetlinkConversation conversation(kernel);
  const auto answer = Dump(conversation);
  EXPECT_EQ(kernel.sent, NetlinkConversation::kAttempts);
  EXPECT_EQ(answer.status().code(), Code::kUnavailable);
  EXPECT_EQ(answer.status().message(), "links: parts of the kernel's answer were lost, each of 8 times");
}

TEST(NetlinkConversationTest, ALostAnswerToOneQuestionIsAskedForAtOnce) {
  ScriptedKernel kernel({{kLost}, {Datagram{Link('a', 0)}}});
  NetlinkConversation conversation(kernel);
  NetlinkMessage message(RTM_GETLINK, 0);
  EXPECT_EQ(Marks(conversation.Ask(message, "link")), "a");
  EXPECT_EQ(kernel.sent, 2);
}

TEST(NetlinkConversationTest, AnswersToAnEarlierRequestAreSkipped) {
  Said stale = Link('o', NLM_F_MULTI | NLM_F_DUMP_INTR);
  stale.stale = true;
  Said stale_error = Error(EBUSY);
  stale_error.stale = true;
  ScriptedKernel kernel({{Datagram{stale, stale_error}, Datagram{Link('a'), stale, Done()}}});
  NetlinkConversation conversation(kernel);
  EXPECT_EQ(Marks(Dump(conversation)), "a");
  EXPECT_EQ(kernel.sent, 1) << "an interruption of the earlier dump is none of this one";
}

TEST(NetlinkConversationTest, AChangeIsDoneOnlyWhenItsAcknowledgementCame) {
  const auto change = [](std::vector<Turn> answer) {
    ScriptedKernel kernel({std::move(answer)});
    NetlinkConversation conversation(kernel);
    NetlinkMessage message(RTM_NEWLINK, 0);
    return conversation.Do(message, "set");
  };
  EXPECT_TRUE(change({Datagram{Error(0)}}).ok());
  EXPECT_EQ(change({Datagram{Error(EPERM)}}).code(), Code::kPermissionDenied);
  EXPECT_EQ(change({Datagram{Link('a')}}).code(), Code::kDeadlineExceeded) << "a notification is no answer";
  const Status lost = change({kLost, Datagram{Error(0)}});
  EXPECT_EQ(lost.code(), Code::kUnavailable);
  EXPECT_EQ(lost.error_number(), ENOBUFS);
  EXPECT_EQ(change({FromErrno(EBADF, "recv")}).error_number(), EBADF);
}

}  // namespace
}  // namespace railwright::machine
