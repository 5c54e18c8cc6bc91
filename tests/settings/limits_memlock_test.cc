#include <cerrno>

#include "core/decode/memlock.h"
#include "tests/settings/subject.h"
#include "tests/support/fake_machine.h"

namespace railwright {
namespace {

constexpr const char* kPam = "/file/etc/security/limits.d/95-railwright-memlock.conf";
constexpr const char* kSystemd = "/file/etc/systemd/system.conf.d/95-railwright-memlock.conf";

TEST(MemlockTest, LimitsHaveOneSpelling) {
  const Subject memlock("limits.memlock");
  EXPECT_EQ(memlock.Said("unlimited"), "unlimited");
  EXPECT_EQ(memlock.Said("infinity"), "unlimited");
  EXPECT_EQ(memlock.Said("-1"), "unlimited");
  EXPECT_EQ(memlock.Said(" 65536 "), "65536");
  EXPECT_EQ(memlock.Said("64G"), "\"64G\" is no whole number; allowed: unlimited, or a number of KiB");
  for (const char* bad : {"", "-2", "01", "18014398509481984", "unlimited\nroot"})
    EXPECT_FALSE(memlock.Canonical(bad).ok()) << bad;
}

TEST(MemlockTest, ItWritesBothFilesAndRemovesBoth) {
  Subject memlock("limits.memlock");
  FakeMachine machine;
  const Observation before = memlock.See(machine);
  EXPECT_EQ(before.value, "soft=unset hard=unset systemd=unset own=none");
  memlock.Wish("unlimited");
  EXPECT_FALSE(memlock.Satisfied(machine));
  ASSERT_TRUE(memlock.Apply(machine, "unlimited").ok());
  EXPECT_NE(machine.Value(kPam).find("\n* soft memlock unlimited\n* hard memlock unlimited\n"),
            std::string::npos);
  EXPECT_NE(machine.Value(kSystemd).find("[Manager]\nDefaultLimitMEMLOCK=infinity\n"), std::string::npos);
  EXPECT_EQ(memlock.See(machine).value, "unlimited");
  EXPECT_TRUE(memlock.Satisfied(machine));
  machine.ClearLog();
  ASSERT_TRUE(memlock.Apply(machine, "unlimited").ok());
  EXPECT_TRUE(machine.Writes().empty()) << "what is right already is not written";

  ASSERT_TRUE(memlock.Apply(machine, before.value).ok());
  EXPECT_FALSE(machine.Exists(kPam));
  EXPECT_FALSE(machine.Exists(kSystemd));
  EXPECT_EQ(memlock.See(machine).value, before.value);
}

TEST(MemlockTest, ANumberReadsBackFromBothFiles) {
  Subject memlock("limits.memlock");
  FakeMachine machine;
  ASSERT_TRUE(memlock.Apply(machine, "65536").ok());
  EXPECT_NE(machine.Value(kSystemd).find("DefaultLimitMEMLOCK=65536K"), std::string::npos);
  EXPECT_EQ(memlock.See(machine).value, "65536");
}

TEST(MemlockTest, TheLastLineForEverybodyCountsAndIsNamed) {
  Subject memlock("limits.memlock");
  FakeMachine machine;
  machine.Put("/file/etc/security/limits.conf", "* soft memlock 64\n");
  ASSERT_TRUE(memlock.Apply(machine, "unlimited").ok());
  memlock.Wish("unlimited");
  EXPECT_TRUE(memlock.Satisfied(machine)) << "limits.d is read after limits.conf";
  machine.Put("/file/etc/security/limits.d/99-site.conf", "# site\n\n*  -  memlock  64 # small\n");
  const Observation observed = memlock.See(machine);
  EXPECT_EQ(observed.value, "soft=64 hard=64 systemd=unlimited own=unlimited");
  EXPECT_NE(
      observed.message.find("the hard limit of sessions comes from /etc/security/limits.d/99-site.conf:3"),
      std::string::npos)
      << observed.message;
  EXPECT_FALSE(memlock.Satisfied(machine));
  machine.Put("/file/etc/security/limits.d/99-site.conf",
              "@hpc hard memlock 64\n* soft nofile 1\n* soft memlock x\n");
  EXPECT_TRUE(memlock.Satisfied(machine)) << "everybody else has what is wished";
  EXPECT_NE(memlock.See(machine).message.find("99-site.conf:1: @hpc hard 64"), std::string::npos);
}

TEST(MemlockTest, FilesOfTheSiteThatSayTheSameAreEnough) {
  Subject memlock("limits.memlock");
  FakeMachine machine;
  machine.Put("/file/etc/security/limits.d/10-rdma.conf", "* - memlock unlimited\n");
  machine.Put("/file/etc/systemd/system.conf",
              "[Manager]\n#DefaultLimitMEMLOCK=8M\nDefaultLimitMEMLOCK=infinity\n");
  memlock.Wish("unlimited");
  EXPECT_TRUE(memlock.Satisfied(machine));
  EXPECT_EQ(memlock.See(machine).value, "soft=unlimited hard=unlimited systemd=unlimited own=none");
}

TEST(MemlockTest, SystemdsFilesAreReadAsSystemdDoes) {
  struct {
    const char* text;
    const char* soft;
    const char* hard;
  } cases[] = {
      {"[Manager]\nDefaultLimitMEMLOCK=8M\n", "8192", "8192"},
      {"[Manager]\nDefaultLimitMEMLOCK = 64K:infinity\n", "64", "unlimited"},
      {"[Manager]\nDefaultLimitMEMLOCK=1025\n", "2", "2"},
      {"[Manager]\nDefaultLimitMEMLOCK=1M\nDefaultLimitMEMLOCK=\n", "", ""},
      {"[Manager]\nDefaultLimitMEMLOCK=1M\nDefaultLimitMEMLOCK=much\n", "1024", "1024"},
      {"DefaultLimitMEMLOCK=1M\n[Service]\nDefaultLimitMEMLOCK=2M\n", "", ""},
      {"[Manager]\n; DefaultLimitMEMLOCK=1M\nDefaultLimitNOFILE=1\n", "", ""},
  };
  for (const auto& one : cases) {
    const SystemdMemlock limits = ReadSystemdMemlock({{"f", one.text}});
    EXPECT_EQ(limits.soft, one.soft) << one.text;
    EXPECT_EQ(limits.hard, one.hard) << one.text;
  }
}

TEST(MemlockTest, ADropInOfEtcHidesThatOfUsrLib) {
  Subject memlock("limits.memlock");
  FakeMachine machine;
  machine.Put("/file/usr/lib/systemd/system.conf.d/50-x.conf", "[Manager]\nDefaultLimitMEMLOCK=1M\n");
  EXPECT_NE(memlock.See(machine).value.find("systemd=1024"), std::string::npos);
  machine.Put("/file/etc/systemd/system.conf.d/50-x.conf", "[Manager]\nDefaultLimitMEMLOCK=2M\n");
  EXPECT_NE(memlock.See(machine).value.find("systemd=2048"), std::string::npos);
  machine.Put("/file/run/systemd/system.conf.d/60-y.conf", "[Manager]\nDefaultLimitMEMLOCK=3M\n");
  EXPECT_NE(memlock.See(machine).value.find("systemd=3072"), std::string::npos);
}

TEST(MemlockTest, OneOfOurFilesGoneIsSeenAndRestorable) {
  Subject memlock("limits.memlock");
  FakeMachine machine;
  ASSERT_TRUE(memlock.Apply(machine, "unlimited").ok());
  machine.Remove(kSystemd);
  const std::string half = memlock.See(machine).value;
  EXPECT_EQ(half, "soft=unlimited hard=unlimited systemd=unset own=unlimited/none");
  ASSERT_TRUE(memlock.Apply(machine, "unlimited").ok());
  ASSERT_TRUE(memlock.Apply(machine, half).ok());
  EXPECT_EQ(memlock.See(machine).value, half);
}

TEST(MemlockTest, AFileOfOurNameThatWeDidNotWriteIsReplacedByAWishButNotInvented) {
  Subject memlock("limits.memlock");
  FakeMachine machine;
  machine.Put(kPam, "* hard memlock 64\n");
  const std::string original = memlock.See(machine).value;
  EXPECT_EQ(original, "soft=unset hard=64 systemd=unset own=other/none");
  ASSERT_TRUE(memlock.Apply(machine, "unlimited").ok());
  EXPECT_EQ(memlock.Apply(machine, original).code(), Code::kFailedPrecondition) << "its text is not known";
}

TEST(MemlockTest, AnyUnreadableFileIsAnError) {
  Subject memlock("limits.memlock");
  for (const char* path : {"/file/etc/security/limits.conf", "/file/etc/security/limits.d", kPam, kSystemd,
                           "/file/etc/systemd/system.conf", "/file/run/systemd/system.conf.d"}) {
    FakeMachine machine;
    ASSERT_TRUE(memlock.Apply(machine, "unlimited").ok());
    machine.FailReads(path, FromErrno(EIO, path));
    EXPECT_FALSE(memlock.setting->Observe(machine, memlock.target).ok()) << path;
  }
}

}  // namespace
}  // namespace railwright
