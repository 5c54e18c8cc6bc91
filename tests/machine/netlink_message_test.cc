#include "agent/machine/netlink_message.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <random>

#include "agent/machine/netlink_socket.h"

namespace railwright::machine {
namespace {

std::vector<std::uint8_t> Error(int code, std::string_view sentence, bool capped) {
  nlmsgerr error{};
  error.error = -code;
  error.msg.nlmsg_len = capped ? sizeof(nlmsghdr) : sizeof(nlmsghdr) + 8;
  std::vector<std::uint8_t> bytes(sizeof error);
  std::memcpy(bytes.data(), &error, sizeof error);
  if (!capped) bytes.resize(bytes.size() + 8);
  NetlinkMessage attributes(0, 0);
  attributes.PutText(NLMSGERR_ATTR_MSG, sentence);
  auto all = attributes.Bytes().subspan(sizeof(nlmsghdr));
  bytes.insert(bytes.end(), all.begin(), all.end());
  return bytes;
}

TEST(NetlinkErrorTest, TheKernelsSentenceIsFoundBehindACappedAndAWholeRequest) {
  nlmsghdr head{};
  head.nlmsg_type = NLMSG_ERROR;
  for (const bool capped : {true, false}) {
    head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_ACK_TLVS | (capped ? NLM_F_CAPPED : 0));
    Status status = NetlinkError(head, Error(EINVAL, "mtu less than device minimum", capped), "set");
    EXPECT_EQ(status.message(), "set: Invalid argument: mtu less than device minimum");
    EXPECT_EQ(status.error_number(), EINVAL);
  }
  head.nlmsg_flags = 0;
  EXPECT_EQ(NetlinkError(head, Error(ENODEV, "unused", true), "get").message(), "get: No such device");
  EXPECT_TRUE(NetlinkError(head, Error(0, "", true), "get").ok());
}

TEST(NetlinkErrorTest, DamagedErrorsStayErrorsAndNeverReadBeyondTheirEnd) {
  std::mt19937 random(9);
  nlmsghdr head{};
  for (int round = 0; round < 20'000; ++round) {
    head.nlmsg_type = round % 2 == 0 ? NLMSG_ERROR : NLMSG_DONE;
    head.nlmsg_flags = static_cast<std::uint16_t>(random());
    auto bytes = Error(EINVAL, "some words", round % 3 == 0);
    for (int i = 0; i < 4; ++i)
      bytes[4 + random() % (bytes.size() - 4)] = static_cast<std::uint8_t>(random());
    bytes.resize(4 + random() % (bytes.size() - 3));
    // An exact copy on the heap, so that a read beyond the end is caught by the sanitizer.
    const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
    EXPECT_EQ(NetlinkError(head, exact, "x").error_number(), EINVAL);
  }
  EXPECT_TRUE(NetlinkError(head, {}, "x").ok());
}

TEST(NetlinkMessageTest, AttributesAndNestsRoundTrip) {
  NetlinkMessage message(7, NLM_F_DUMP);
  const std::size_t nest = message.Begin(3);
  message.PutU32(1, 0xdeadbeef).PutText(2, "rail0").PutU8(4, 9).End(nest).PutU16(5, 77);
  auto bytes = message.Bytes();
  EXPECT_EQ(message.header().nlmsg_len, bytes.size());
  int seen = 0;
  ForEachAttribute(bytes.subspan(sizeof(nlmsghdr)), [&](const NetlinkAttribute& outer) {
    if (outer.type == 5) seen += outer.As<std::uint16_t>() == 77;
    if (outer.type != 3) return;
    ForEachAttribute(outer.value, [&](const NetlinkAttribute& inner) {
      if (inner.type == 1) seen += inner.U32() == 0xdeadbeef;
      if (inner.type == 2) seen += inner.Text() == "rail0";
      if (inner.type == 4) seen += inner.As<std::uint8_t>() == 9;
    });
  });
  EXPECT_EQ(seen, 4);
}

TEST(NetlinkMessageTest, ShortAttributesReadAsZero) {
  const std::uint8_t byte = 1;
  EXPECT_EQ((NetlinkAttribute{1, {&byte, 1}}.U32()), 0u);
  EXPECT_EQ((NetlinkAttribute{1, {}}.Text()), "");
}

TEST(NetlinkMessageTest, DamagedAttributesEndTheWalk) {
  std::mt19937 random(8);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::uint8_t> bytes(random() % 64);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() % 12);
    std::size_t total = 0;
    ForEachAttribute(std::span<const std::uint8_t>(bytes), [&](const NetlinkAttribute& attribute) {
      for (std::uint8_t byte : attribute.value) total += byte;
      ASSERT_LE(attribute.value.size(), bytes.size());
    });
    EXPECT_LE(total, 64u * 12);
  }
}

TEST(InterfaceNameTest, OnlyWhatTheKernelTakes) {
  for (const char* name : {"rail0", "eth0.100", "a", "fifteen-chars-x"})
    EXPECT_TRUE(IsInterfaceName(name)) << name;
  for (const char* name : {"", ".", "..", "a/b", "a b", "sixteen-chars-xy", "a:b", "a\nb"})
    EXPECT_FALSE(IsInterfaceName(name)) << name;
}

}  // namespace
}  // namespace railwright::machine
