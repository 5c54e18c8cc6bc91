// /dcb over a kernel that is played, since no device of a test's network namespace has data center bridging.
#include <gtest/gtest.h>

#include <algorithm>

#include "agent/machine/backend.h"
#include "tests/machine/dcb_kernel.h"

namespace railwright::machine {
namespace {

class DcbBackendTest : public testing::Test {
 protected:
  std::string Read(const std::string& leaf) {
    const auto text = dcb_->Get("/dcb/rail0/" + leaf);
    return text.ok() ? *text : text.status().ToString();
  }
  Status Write(const std::string& leaf, std::string_view value) {
    return dcb_->Set("/dcb/rail0/" + leaf, value);
  }

  DcbKernel kernel_;
  NetlinkConversation conversation_{kernel_};
  std::unique_ptr<Backend> dcb_ = MakeDcb(conversation_, [] {
    return Result<std::vector<std::string>>(std::vector<std::string>{"eth0", "lo", "rail0"});
  });
};

bool Says(const Status& status, std::string_view words) {
  return status.message().find(words) != std::string::npos;
}

TEST_F(DcbBackendTest, AFactoryCardReadsAsItIs) {
  EXPECT_EQ(Read("dcbx"), "host=1 lld_managed=0 cee=1 ieee=1 static=0");
  EXPECT_EQ(Read("pfc"), "cap=8 enabled=none mbc=0 delay=7");
  EXPECT_EQ(Read("pfc_counters"), "requests=0,0,0,0,0,0,0,0 indications=0,0,0,0,0,0,0,0");
  EXPECT_EQ(Read("maxrate"), "kbit=0,0,0,0,0,0,0,0");
  EXPECT_EQ(Read("buffer"), "prio_buffer=0,0,0,0,0,0,0,0 size=20016,156096,0,0,0,0,0,0 total=1027728");
  EXPECT_EQ(Read("app"), "");
  EXPECT_TRUE(Read("ets").starts_with("cap=8 willing=0 cbs=0 prio_tc=1,0,2,3,4,5,6,7 tsa=vendor,"))
      << Read("ets");
  EXPECT_EQ(dcb_->List("/dcb").value(), std::vector<std::string>{"rail0"});
  EXPECT_EQ(dcb_->List("/dcb/rail0").value(),
            (std::vector<std::string>{"app", "buffer", "dcbx", "ets", "maxrate", "pfc", "pfc_counters"}));
}

TEST_F(DcbBackendTest, NamedFieldsAreWrittenOverWhatIsThereInOneMessage) {
  ASSERT_TRUE(Write("pfc", "enabled=0,3").ok());
  ASSERT_TRUE(Write("pfc", "delay=100").ok());
  EXPECT_EQ(Read("pfc"), "cap=8 enabled=0,3 mbc=0 delay=100");
  EXPECT_EQ(kernel_.done.size(), 2U);
  ASSERT_TRUE(
      Write("ets", "tsa=strict,strict,strict,ets,strict,strict,strict,strict bw=0,0,0,100,0,0,0,0").ok());
  EXPECT_EQ(kernel_.port.ets.traffic_class[0], 1) << "what is not named stays";
  EXPECT_EQ(kernel_.port.ets.tx_bandwidth[3], 100);
  ASSERT_TRUE(Write("maxrate", "kbit=0,0,0,100000,0,0,0,0").ok());
  EXPECT_EQ(kernel_.port.maxrate.rates[3], 100000U);
  ASSERT_TRUE(Write("buffer", "prio_buffer=0,0,0,1,0,0,0,0").ok());
  EXPECT_EQ(kernel_.port.buffer.of_priority[3], 1);
}

TEST_F(DcbBackendTest, WhatWasReadMayBeWrittenBack) {
  for (const char* leaf : {"dcbx", "pfc", "ets", "maxrate", "buffer", "app"}) {
    const std::string before = Read(leaf);
    const Status status = Write(leaf, before);
    EXPECT_TRUE(status.ok()) << leaf << ": " << status.ToString();
    EXPECT_EQ(Read(leaf), before);
  }
  EXPECT_EQ(kernel_.port.link_flaps, 0);
}

TEST_F(DcbBackendTest, ARefusalInThePayloadIsAnErrorWithItsErrno) {
  const Status shaper = Write("ets", "tsa=cb_shaper,ets,ets,ets,ets,ets,ets,ets");
  EXPECT_EQ(shaper.code(), Code::kUnimplemented);
  EXPECT_EQ(shaper.error_number(), EOPNOTSUPP);
  EXPECT_TRUE(Says(shaper, "answered in the payload")) << shaper.message();
  EXPECT_TRUE(Says(shaper, "read back: cap=8")) << shaper.message();
  const Status sum = Write("ets", "tsa=ets,ets,ets,ets,ets,ets,ets,ets bw=1,1,1,1,1,1,1,1");
  EXPECT_EQ(sum.code(), Code::kInvalidArgument);
  EXPECT_EQ(sum.error_number(), EINVAL);
  const Status app = Write("app", "dgram 4791 prio 3");
  EXPECT_EQ(app.error_number(), EINVAL);
  EXPECT_TRUE(Says(app, "adding dgram 4791 prio 3")) << app.message();
}

TEST_F(DcbBackendTest, AnErrorAlthoughTheValueChangedTellsWhatIsThere) {
  kernel_.port.pfc_error = -ENOMEM;
  const Status status = Write("pfc", "enabled=3");
  EXPECT_EQ(status.error_number(), ENOMEM);
  EXPECT_TRUE(Says(status, "answered in the payload; the headroom does not fit")) << status.message();
  EXPECT_TRUE(Says(status, "read back: cap=8 enabled=3")) << status.message();
}

TEST_F(DcbBackendTest, ADcbxModeThatIsRefusedIsAFailedPrecondition) {
  const Status managed = Write("dcbx", "lld_managed=1");
  EXPECT_EQ(managed.code(), Code::kFailedPrecondition);
  EXPECT_TRUE(Says(managed, "refused by the driver (1 answered in the payload)")) << managed.message();
  ASSERT_TRUE(Write("dcbx", "cee=0").ok());
  EXPECT_EQ(kernel_.port.mode.bits, 9);
  ASSERT_TRUE(Write("dcbx", "host=0 lld_managed=0 cee=0 ieee=0 static=0").ok());
  EXPECT_FALSE(kernel_.port.mode.host());
}

TEST_F(DcbBackendTest, AReplyWithoutAnOutcomeIsNoSuccess) {
  kernel_.tells = false;
  EXPECT_EQ(Write("pfc", "enabled=3").code(), Code::kInternal);
  EXPECT_EQ(Write("dcbx", "cee=0").code(), Code::kInternal);
  EXPECT_EQ(Write("app", "dscp 26 prio 3").code(), Code::kInternal);
}

TEST_F(DcbBackendTest, WithoutPrivilegeTheErrorSaysWhich) {
  kernel_.privileged = false;
  EXPECT_EQ(Read("pfc"), "cap=8 enabled=none mbc=0 delay=7") << "reading needs none";
  for (const auto& [leaf, value] :
       {std::pair("pfc", "enabled=3"), std::pair("app", "dscp 26 prio 3"), std::pair("dcbx", "cee=0")}) {
    const Status status = Write(leaf, value);
    EXPECT_EQ(status.code(), Code::kPermissionDenied);
    EXPECT_EQ(status.error_number(), EPERM);
    EXPECT_TRUE(Says(status, "CAP_NET_ADMIN in the first user namespace")) << status.message();
    EXPECT_FALSE(Says(status, "payload")) << "the kernel's own refusal";
  }
}

TEST_F(DcbBackendTest, APartThatTheDriverDidNotGiveIsNoProofOfAbsence) {
  kernel_.shows_pfc = false;
  const Status status = dcb_->Get("/dcb/rail0/pfc").status();
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_EQ(status.error_number(), 0);
  EXPECT_EQ(Write("pfc", "enabled=3").error_number(), 0);
  EXPECT_TRUE(kernel_.done.empty());
  EXPECT_EQ(dcb_->List("/dcb/rail0").value(),
            (std::vector<std::string>{"app", "buffer", "dcbx", "ets", "maxrate"}));
  kernel_.shows_apps = false;
  EXPECT_FALSE(dcb_->Get("/dcb/rail0/app").ok()) << "no table is not an empty one";
  EXPECT_FALSE(Write("app", "dscp 26 prio 3").ok());
  EXPECT_TRUE(kernel_.done.empty());
}

TEST_F(DcbBackendTest, WhereTheDriverReplacesNothingIsRemoved) {
  ASSERT_TRUE(Write("app", "dscp 26 prio 3\ndscp 48 prio 6").ok());
  kernel_.done.clear();
  ASSERT_TRUE(Write("app", "dscp 26 prio 4\ndscp 48 prio 6").ok());
  EXPECT_EQ(kernel_.done, std::vector<std::string>{"set dscp 26 prio 4"});
  EXPECT_EQ(Read("app"), "dscp 26 prio 4\ndscp 48 prio 6");
  EXPECT_TRUE(kernel_.port.trusts_dscp);
}

TEST_F(DcbBackendTest, WhereTheKernelAddsTheOldEntryIsRemovedLast) {
  kernel_.port.adds_entries = true;
  ASSERT_TRUE(Write("app", "dscp 26 prio 3\ndgram 4791 prio 3").ok());
  kernel_.done.clear();
  ASSERT_TRUE(Write("app", "dscp 26 prio 4\ndgram 4791 prio 3").ok());
  EXPECT_EQ(kernel_.done, (std::vector<std::string>{"set dscp 26 prio 4", "del dscp 26 prio 3"}));
  EXPECT_EQ(Read("app"), "dgram 4791 prio 3\ndscp 26 prio 4");
}

TEST_F(DcbBackendTest, TheLastDscpIsRemovedOnlyWhenAsked) {
  ASSERT_TRUE(Write("app", "dscp 26 prio 3\ndscp 48 prio 6").ok());
  ASSERT_TRUE(Write("app", "dscp 10 prio 1").ok());
  EXPECT_TRUE(kernel_.port.trusts_dscp);
  EXPECT_EQ(kernel_.done[2], "set dscp 10 prio 1") << "additions come first, so trust never flips";
  ASSERT_TRUE(Write("app", "").ok());
  EXPECT_FALSE(kernel_.port.trusts_dscp);
  EXPECT_EQ(Read("app"), "");
}

TEST_F(DcbBackendTest, AFailureInTheMiddleTellsWhatIsListed) {
  kernel_.port.refused_dscp = 27;
  const Status status = Write("app", "dscp 26 prio 4\ndscp 27 prio 5\ndscp 28 prio 5");
  EXPECT_EQ(status.error_number(), EIO);
  EXPECT_TRUE(Says(status, "adding dscp 27 prio 5")) << status.message();
  EXPECT_TRUE(Says(status, "read back: dscp 26 prio 4")) << status.message();
  EXPECT_EQ(kernel_.done.size(), 2U) << "the first failure ends it";
}

TEST_F(DcbBackendTest, WhatDoesNotParseIsRefusedBeforeAnythingIsWritten) {
  for (const auto& [leaf, value] :
       {std::pair("pfc", ""), std::pair("pfc", "enabled=8"), std::pair("pfc", "prio=3"),
        std::pair("pfc", "cap=8"), std::pair("ets", "bw=1"), std::pair("dcbx", "host=2"),
        std::pair("app", "dscp 26 prio 8"), std::pair("app", "dscp 26"), std::pair("buffer", "total=5"),
        std::pair("maxrate", "kbit=1,2,3")})
    EXPECT_EQ(Write(leaf, value).code(), Code::kInvalidArgument) << leaf << " " << value;
  EXPECT_TRUE(kernel_.done.empty());
}

}  // namespace
}  // namespace railwright::machine
