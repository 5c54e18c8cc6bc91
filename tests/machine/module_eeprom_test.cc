// /ethtool/<if>/module over a kernel that is played, since no device of a test's network namespace has a
// cage.
#include "agent/machine/module_eeprom.h"

#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <cerrno>
#include <map>

#include "agent/machine/netlink_conversation.h"

namespace railwright::machine {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// net/ethtool/eeprom.c over one port, rail0.
class ModuleKernel final : public NetlinkChannel {
 public:
  Bytes eeprom{0x19, 0x52, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00};
  int error = 0;
  std::string sentence;  ///< extended acknowledgement of the error
  int reads = 0;
  std::map<int, std::uint32_t> asked;  ///< the numbers of the last request, by attribute

  Status Send(std::span<const std::uint8_t> message, std::string_view) override {
    std::memcpy(&request_, message.data(), sizeof request_);
    const NetlinkReply request{request_.nlmsg_type, 0, message.subspan(sizeof request_)};
    std::string name;
    asked.clear();
    ForEachAttribute(request.AfterHeader(sizeof(genlmsghdr)), [&](const NetlinkAttribute& attribute) {
      if (attribute.type == ETHTOOL_A_MODULE_EEPROM_HEADER)
        ForEachAttribute(attribute.value, [&](const NetlinkAttribute& inner) {
          if (inner.type == ETHTOOL_A_HEADER_DEV_NAME) name = inner.Text();
        });
      else
        asked[attribute.type] = attribute.value.size() == 1 ? attribute.As<std::uint8_t>() : attribute.U32();
    });
    command_ = request.Header<genlmsghdr>().cmd;
    ++reads;
    if (command_ != ETHTOOL_MSG_MODULE_EEPROM_GET)
      Error(EOPNOTSUPP, "");
    else if (name != "rail0")
      Error(ENODEV, "no device matches name");
    else if (error != 0)
      Error(error, sentence);
    else
      Answer();
    return Ok();
  }
  Result<std::span<const std::uint8_t>> Receive(std::string_view) override {
    return std::span<const std::uint8_t>(reply_);
  }
  void Abandon() override {}

 private:
  void Answer() {
    NetlinkMessage reply(request_.nlmsg_type, 0);
    reply.Header(genlmsghdr{ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY, ETHTOOL_GENL_VERSION, 0});
    const std::size_t head = reply.Begin(ETHTOOL_A_MODULE_EEPROM_HEADER);
    reply.PutText(ETHTOOL_A_HEADER_DEV_NAME, "rail0").End(head);
    reply.Put(ETHTOOL_A_MODULE_EEPROM_DATA, eeprom);
    Keep(reply);
  }
  void Error(int number, const std::string& text) {
    nlmsgerr body{};
    body.error = -number;
    body.msg = request_;
    NetlinkMessage reply(NLMSG_ERROR, NLM_F_CAPPED | NLM_F_ACK_TLVS);
    reply.Header(body);
    if (!text.empty()) reply.PutText(NLMSGERR_ATTR_MSG, text);
    Keep(reply);
  }
  void Keep(NetlinkMessage& reply) {
    reply.header().nlmsg_seq = request_.nlmsg_seq;
    const auto bytes = reply.Bytes();
    reply_.assign(bytes.begin(), bytes.end());
  }

  nlmsghdr request_{};
  std::uint8_t command_ = 0;
  Bytes reply_;
};

class ModuleEepromTest : public testing::Test {
 protected:
  Result<std::string> Get(const std::string& interface = "rail0") {
    return module_.Get(interface, "/ethtool/" + interface + "/module");
  }
  std::string Said(const std::string& interface = "rail0") {
    const auto text = Get(interface);
    return text.ok() ? *text : text.status().message();
  }

  ModuleKernel kernel_;
  NetlinkConversation conversation_{kernel_};
  ModuleEeprom::Time now_{std::chrono::hours(1)};
  ModuleEeprom module_{
      [this](NetlinkMessage& message, std::string_view what) { return conversation_.Ask(message, what); },
      [this] { return now_; }};
};

TEST_F(ModuleEepromTest, TheFirstBytesOfTheLowerPageAreAskedFor) {
  EXPECT_EQ(Said(), "id=0x19 form=OSFP interface=CMIS revision=5.2 flat=0 state=ready");
  EXPECT_EQ(kernel_.asked, (std::map<int, std::uint32_t>{{ETHTOOL_A_MODULE_EEPROM_OFFSET, 0},
                                                         {ETHTOOL_A_MODULE_EEPROM_LENGTH, 16},
                                                         {ETHTOOL_A_MODULE_EEPROM_PAGE, 0},
                                                         {ETHTOOL_A_MODULE_EEPROM_BANK, 0},
                                                         {ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, 0x50}}));
}

TEST_F(ModuleEepromTest, AnErrorKeepsItsErrnoAndTheDriversSentenceAndSaysWhatItMeans) {
  struct {
    int error;
    const char* sentence;
    Code code;
    const char* said;
  } cases[] = {
      {EOPNOTSUPP, "", Code::kUnimplemented, "Operation not supported; its driver shows no module"},
      {EIO, "", Code::kInternal, "Input/output error; no module is plugged in, or it does not answer"},
      {EINVAL, "length must be 128", Code::kInvalidArgument,
       "Invalid argument: length must be 128; its driver refuses a read of the first bytes"},
      {EBUSY, "", Code::kUnavailable,
       "Device or resource busy; the module's firmware is being written, or its bus is in use"},
      {EPERM, "", Code::kPermissionDenied, "Operation not permitted; reading it needs CAP_NET_ADMIN"},
      {ENODEV, "", Code::kNotFound, "No such device; no such interface, or no module in it"},
      {ETIMEDOUT, "", Code::kDeadlineExceeded, "Connection timed out"},
  };
  for (const auto& one : cases) {
    kernel_.error = one.error;
    kernel_.sentence = one.sentence;
    const Status status = Get().status();
    EXPECT_EQ(status.message(), std::string("/ethtool/rail0/module: ") + one.said);
    EXPECT_EQ(status.code(), one.code) << one.error;
    EXPECT_EQ(status.error_number(), one.error);
    now_ += std::chrono::hours(1);
  }
}

TEST_F(ModuleEepromTest, AReadThatBroughtNothingIsDataLossOfItsPath) {
  for (const Bytes& bytes : {Bytes{}, Bytes{0x19, 0x52}, Bytes(16, 0xff), Bytes(16, 0x00)}) {
    kernel_.eeprom = bytes;
    const Status status = Get().status();
    EXPECT_EQ(status.code(), Code::kDataLoss) << bytes.size();
    EXPECT_TRUE(status.message().starts_with("/ethtool/rail0/module: ")) << status.message();
    now_ += std::chrono::hours(1);
  }
}

// What ice gives: the last block of eight is never filled.
TEST_F(ModuleEepromTest, AnEmptyLastBlockDoesNoHarm) {
  kernel_.eeprom = {0x11, 0x08, 0x04, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(Said(), "id=0x11 form=QSFP28 interface=SFF-8636 revision=2.8 flat=1 data_not_ready=0");
}

TEST_F(ModuleEepromTest, AnAnswerCountsForASecond) {
  const std::string ready = Said();
  kernel_.eeprom[3] = 5 << 1;
  now_ += std::chrono::milliseconds(999);
  EXPECT_EQ(Said(), ready);
  EXPECT_EQ(kernel_.reads, 1);
  now_ += std::chrono::milliseconds(1);
  EXPECT_TRUE(Said().ends_with("state=fault")) << Said();
  EXPECT_EQ(kernel_.reads, 2);
}

TEST_F(ModuleEepromTest, AFailureCountsTwiceAsLongAsTheOneBeforeItUpToFiveMinutes) {
  kernel_.error = EIO;
  for (const int seconds : {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}) {
    EXPECT_FALSE(Get().ok());
    const int reads = kernel_.reads;
    now_ += std::chrono::seconds(seconds) - std::chrono::milliseconds(1);
    EXPECT_EQ(Get().status().error_number(), EIO);
    EXPECT_EQ(kernel_.reads, reads) << seconds;
    now_ += std::chrono::milliseconds(1);
  }
  kernel_.error = 0;
  EXPECT_TRUE(Get().ok());
  now_ += std::chrono::seconds(1);
  kernel_.error = EIO;
  EXPECT_FALSE(Get().ok());
  kernel_.error = 0;
  now_ += std::chrono::seconds(1);
  EXPECT_TRUE(Get().ok()) << "an answer in between begins anew";
}

TEST_F(ModuleEepromTest, AnInterfaceThatIsNotThereIsAskedForEachTime) {
  EXPECT_EQ(Get("rail1").status().error_number(), ENODEV);
  EXPECT_EQ(kernel_.reads, 1);
  const std::string said = Said("rail1");
  EXPECT_NE(said.find("no device matches name"), std::string::npos) << said;
  EXPECT_EQ(kernel_.reads, 2);
  EXPECT_EQ(Get("a name that is none").status().code(), Code::kNotFound);
  EXPECT_EQ(kernel_.reads, 2) << "the kernel is not bothered with it";
}

}  // namespace
}  // namespace railwright::machine
