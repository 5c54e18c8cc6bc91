// ecn.np and ecn.rp: eight files that are one set.
#include <cerrno>

#include "tests/settings/congested_port.h"

namespace railwright {
namespace {

using Writes = std::vector<std::pair<std::string, std::string>>;

struct Switched : CongestedPort {
  explicit Switched(const std::string& key, const std::string& bits) : CongestedPort(key) {
    for (std::size_t i = 0; i < bits.size(); ++i) machine.Put(Enable(i), bits.substr(i, 1));
  }
  std::string Enable(std::size_t priority) const {
    const std::string path = "enable/" + std::to_string(priority);
    return subject.setting->info().key == "ecn.np" ? Np(path) : Rp(path);
  }
};

TEST(EcnTest, SetsHaveOneSpelling) {
  const Subject ecn("ecn.rp");
  EXPECT_EQ(ecn.Said("3"), "3");
  EXPECT_EQ(ecn.Said("5,3, 3"), "3,5");
  EXPECT_EQ(ecn.Said("0,1,2,3,4,5,6,7"), "all");
  EXPECT_EQ(ecn.Said("none"), "none");
  EXPECT_EQ(ecn.Said("8"), "\"8\" is too large; allowed: a list of priorities 0…7, `none` or `all`");
  for (const char* bad : {"", "3,none", "all,3", "on", "03", "-1", "3-5"})
    EXPECT_FALSE(ecn.Canonical(bad).ok()) << bad;
}

TEST(EcnTest, EightFilesAreOneValue) {
  EXPECT_EQ(Switched("ecn.np", "00010000").Seen(), "3");
  EXPECT_EQ(Switched("ecn.rp", "11111111").Seen(), "all");
  EXPECT_EQ(Switched("ecn.rp", "00000000").Seen(), "none");
}

TEST(EcnTest, OnlyWhatDiffersIsWritten) {
  Switched port("ecn.np", "11111111");
  ASSERT_TRUE(port.Apply("all").ok());
  EXPECT_TRUE(port.machine.Writes().empty());
  Switched two("ecn.rp", "10010000");
  ASSERT_TRUE(two.Apply("3,5").ok());
  EXPECT_EQ(two.machine.Writes(), (Writes{{two.Enable(0), "0"}, {two.Enable(5), "1"}}));
  EXPECT_EQ(two.Seen(), "3,5");
}

TEST(EcnTest, AnEmptyFileIsAFirmwareThatDidNotAnswer) {
  Switched port("ecn.rp", "11111111");
  port.machine.Put(port.Enable(6), "");
  EXPECT_NE(port.Seen().find("the firmware did not answer"), std::string::npos) << port.Seen();
  EXPECT_FALSE(port.Apply("3").ok()) << "what is on now is not known";
  EXPECT_TRUE(port.machine.Writes().empty());
}

TEST(EcnTest, OneMissingFileIsAnErrorNotAnOff) {
  Switched port("ecn.rp", "1111111");
  EXPECT_EQ(port.Observe().status().code(), Code::kNotFound);
}

TEST(EcnTest, ARefusalInTheMiddlePutsTheRestBack) {
  Switched port("ecn.rp", "11111111");
  port.machine.FailWrites(port.Enable(2), FromErrno(EIO, port.Enable(2)));
  EXPECT_EQ(port.Apply("3").error_number(), EIO);
  EXPECT_EQ(port.Seen(), "all");
}

TEST(EcnTest, AVirtualFunctionSaysSo) {
  Switched port("ecn.rp", "11111111");
  port.machine.FailWrites(port.Enable(0), FromErrno(EACCES, port.Enable(0)));
  const Status refused = port.Apply("3");
  EXPECT_EQ(refused.code(), Code::kPermissionDenied);
  EXPECT_NE(refused.message().find("virtual function"), std::string::npos);
}

TEST(EcnTest, TheInboxDriverHasNoSuchSwitch) {
  CongestedPort port("ecn.np");
  port.machine.Put(port.Inbox("np_cnp_dscp"), "48");
  EXPECT_EQ(port.Seen(), "[NoEcnSwitch]");
  EXPECT_NE(port.Observe()->message.find("MLNX_OFED"), std::string::npos);
  EXPECT_EQ(port.Apply("3").code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace railwright
