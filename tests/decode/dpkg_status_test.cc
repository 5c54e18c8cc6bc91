#include "core/decode/dpkg_status.h"

#include <gtest/gtest.h>

#include <random>

namespace railwright {
namespace {

constexpr std::string_view kStatus = R"(Package: dpkg
Status: install ok installed
Architecture: amd64
Version: 1.21.22
Description: the package system
 goes on here
 .
 Status: hold ok installed

Package: libc6
Status: install ok installed
Architecture: i386
Version: 2.36-8

Package: libc6
Status: hold ok installed
Architecture: amd64
Version: 2.36-9

Package: old
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: broken
Status: install ok half-configured
Architecture: all
Version: 2:3~rc1-4
)";

TEST(DpkgStatusTest, VersionHoldAndStateAreRead) {
  auto status = DpkgStatus::Decode(kStatus);
  ASSERT_TRUE(status.ok());
  ASSERT_NE(status->Find("dpkg"), nullptr);
  EXPECT_EQ(status->Find("dpkg")->version, "1.21.22");
  EXPECT_FALSE(status->Find("dpkg")->hold) << "a description's text is no field";
  EXPECT_EQ(status->Find("broken")->state, "half-configured");
}

TEST(DpkgStatusTest, TheHostsOwnArchitectureComesFirst) {
  auto status = DpkgStatus::Decode(kStatus);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->Find("libc6")->version, "2.36-9");
  EXPECT_TRUE(status->Find("libc6")->hold);
  EXPECT_EQ(status->Find("libc6:i386")->version, "2.36-8");
  EXPECT_EQ(status->Find("libc6:arm64"), nullptr);
  EXPECT_EQ(status->Names(), (std::vector<std::string>{"broken", "dpkg", "libc6:amd64", "libc6:i386"}));
}

TEST(DpkgStatusTest, LeftOverConfigurationIsNotInstalled) {
  EXPECT_EQ(DpkgStatus::Decode(kStatus)->Find("old"), nullptr);
}

TEST(DpkgStatusTest, TextThatIsNoDatabaseNamesTheLine) {
  auto status = DpkgStatus::Decode("Package: a\nnonsense\n");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.status().code(), Code::kDataLoss);
  EXPECT_NE(status.status().message().find("line 2"), std::string::npos);
  EXPECT_EQ(DpkgStatus::Decode(" x\n").status().code(), Code::kDataLoss);
  EXPECT_TRUE(DpkgStatus::Decode("").ok());
}

TEST(DpkgStatusTest, AnIndexIsReadBackAsItWas) {
  const auto status = DpkgStatus::Decode(kStatus);
  ASSERT_TRUE(status.ok());
  const std::string index = status->Index();
  const auto again = DpkgStatus::DecodeIndex(index);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->Names(), status->Names());
  EXPECT_EQ(again->Index(), index);
  for (const std::string& name : status->Names()) {
    EXPECT_EQ(again->Find(name)->version, status->Find(name)->version) << name;
    EXPECT_EQ(again->Find(name)->hold, status->Find(name)->hold) << name;
  }
}

TEST(DpkgStatusTest, AnIndexThatIsCutOrOutOfOrderIsNone) {
  const std::string index = "a\tamd64\t1\tinstalled\t0\nb\tamd64\t1\tinstalled\t1\n";
  ASSERT_TRUE(DpkgStatus::DecodeIndex(index).ok());
  // Whole lines are an index of fewer packages; anything else is none.
  for (std::size_t cut = 1; cut < index.size(); ++cut) {
    const bool whole = index[cut] == '\n' || index[cut - 1] == '\n';
    EXPECT_EQ(DpkgStatus::DecodeIndex(index.substr(0, cut)).ok(), whole) << cut;
  }
  EXPECT_FALSE(DpkgStatus::DecodeIndex("b\tamd64\t1\tinstalled\t0\na\tamd64\t1\tinstalled\t0\n").ok());
  EXPECT_FALSE(DpkgStatus::DecodeIndex("a\tamd64\t1\tinstalled\t2\n").ok());
}

TEST(DpkgStatusTest, DamagedTextNeverCrashes) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text(kStatus);
    for (int i = 0; i < 5; ++i) text[random() % text.size()] = static_cast<char>(random());
    text.resize(random() % (text.size() + 1));
    auto status = DpkgStatus::Decode(text);
    if (status.ok()) (void)status->Names();
  }
}

// deb-version(7), and cases that go wrong in naive comparisons.
TEST(DebianVersionTest, VersionsAreOrdered) {
  struct Case {
    const char* a;
    const char* b;
    int order;
  };
  constexpr Case kCases[] = {{"1.0", "1.0", 0},
                             {"1.0-1", "1.0-2", -1},
                             {"1.0~rc1", "1.0", -1},
                             {"1.0", "1.0a", -1},
                             {"1.10", "1.9", 1},
                             {"1:0.1", "9.9", 1},
                             {"0:1", "1", 0},
                             {"1.0", "1.0-0", 0},
                             {"1.0+b1", "1.0", 1},
                             {"1.01", "1.1", 0},
                             {"a", "1", 1},
                             {"1.0~~", "1.0~", -1},
                             {"2.36-9+deb12u10", "2.36-9+deb12u9", 1},
                             {"", "1", -1}};
  for (const Case& one : kCases) {
    int order = CompareDebianVersions(one.a, one.b);
    EXPECT_EQ((order > 0) - (order < 0), one.order) << one.a << " against " << one.b;
    int reverse = CompareDebianVersions(one.b, one.a);
    EXPECT_EQ((reverse > 0) - (reverse < 0), -one.order) << one.b << " against " << one.a;
  }
  // A NUL is a character like others, not the end.
  EXPECT_GT(CompareDebianVersions(std::string_view("1\0a", 3), "1"), 0);
  EXPECT_LT(CompareDebianVersions("1", std::string_view("1\0", 2)), 0);
}

}  // namespace
}  // namespace railwright
