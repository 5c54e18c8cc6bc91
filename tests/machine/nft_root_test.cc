#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "agent/machine/linux_machine.h"
#include "agent/tools/tools.h"
#include "core/decode/nft_ruleset.h"
#include "tests/machine/network_namespace.h"
#include "tests/machine/temporary_directory.h"

namespace railwright::machine {
namespace {

constexpr std::string_view kOurs = R"({"nftables":[
  {"add":{"table":{"family":"inet","name":"ours"}}},{"flush":{"table":{"family":"inet","name":"ours"}}},
  {"add":{"set":{"family":"inet","table":"ours","name":"fabric4","type":"ipv4_addr","flags":["interval"],
    "elem":[{"prefix":{"addr":"10.10.0.0","len":16}}]}}},
  {"add":{"chain":{"family":"inet","table":"ours","name":"input","type":"filter","hook":"input","prio":-10,"policy":"accept"}}},
  {"add":{"rule":{"family":"inet","table":"ours","chain":"input","comment":"rocev2","expr":[
    {"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":"@fabric4"}},
    {"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":4791}},
    {"counter":null},{"accept":null}]}}}]})";

class NftTest : public NetworkNamespaceTest {
 protected:
  void SetUp() override {
    NetworkNamespaceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    machine_ = MakeLinuxMachine();
  }
  std::uint64_t Generation() { return std::stoull(machine_->Get("/nft/generation").value()); }
  /// Another program changes the ruleset, unknown to the machine under test.
  static void Foreign(const std::string& text) {
    auto result = RunTool({"/usr/sbin/nft", "-f", "-"}, text, std::chrono::seconds(20));
    ASSERT_TRUE(result.ok() && result->exit_code == 0)
        << (result.ok() ? result->err : result.status().ToString());
  }
  std::unique_ptr<Machine> machine_;
};

TEST_F(NftTest, ATableIsMadeReadAndDeleted) {
  EXPECT_EQ(machine_->Get("/nft/table/inet/ours").status().code(), Code::kNotFound);
  Status status = machine_->Set("/nft/table/inet/ours", kOurs);
  ASSERT_TRUE(status.ok()) << status.ToString();
  auto text = machine_->Get("/nft/table/inet/ours");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->find("handle"), std::string::npos);
  EXPECT_EQ(text->find("packets"), std::string::npos);
  auto ruleset = nft::DecodeRuleset(*text);
  ASSERT_TRUE(ruleset.ok()) << ruleset.status().ToString();
  const nft::Table* table = ruleset->FindTable("inet", "ours");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(nft::Text(table->FindChain("input")->rules.at(0)), "ip saddr @fabric4 udp dport 4791 accept");
  // What was asked for and what is there decode to the same rules.
  auto asked = nft::DecodeRuleset(kOurs);
  EXPECT_EQ(nft::Text(asked->FindTable("inet", "ours")->FindChain("input")->rules.at(0)),
            nft::Text(table->FindChain("input")->rules.at(0)));
  EXPECT_EQ(machine_->List("/nft/table").value(), std::vector<std::string>{"inet"});
  EXPECT_EQ(machine_->List("/nft/table/inet").value(), std::vector<std::string>{"ours"});
  ASSERT_TRUE(machine_->Set("/nft/table/inet/ours", "").ok());
  EXPECT_EQ(machine_->Get("/nft/table/inet/ours").status().code(), Code::kNotFound);
  EXPECT_TRUE(machine_->Set("/nft/table/inet/ours", "").ok()) << "removing what is not there is done";
}

TEST_F(NftTest, WhatWasReadPutsTheTableBack) {
  ASSERT_TRUE(machine_->Set("/nft/table/inet/ours", kOurs).ok());
  const std::string original = machine_->Get("/nft/table/inet/ours").value();
  Foreign("flush chain inet ours input\nadd rule inet ours input udp dport 4791 drop\n");
  EXPECT_NE(machine_->Get("/nft/table/inet/ours").value(), original);
  Status status = machine_->Set("/nft/table/inet/ours", original);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(machine_->Get("/nft/table/inet/ours").value(), original);
}

TEST_F(NftTest, NoProgramRunsWhileTheRulesetIsStill) {
  ASSERT_TRUE(machine_->Set("/nft/table/inet/ours", kOurs).ok());
  ASSERT_TRUE(machine_->Get("/nft/ruleset").ok());
  const auto before = ProgramsSpawned();
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(machine_->Get("/nft/ruleset").ok());
    ASSERT_TRUE(machine_->Get("/nft/table/inet/ours").ok());
    ASSERT_TRUE(machine_->Get("/nft/generation").ok());
    ASSERT_TRUE(machine_->List("/nft/table").ok());
  }
  EXPECT_EQ(ProgramsSpawned(), before);
}

/// What the next program makes of a listing that the last one has kept.
class KeptListingTest : public NftTest {
 protected:
  void SetUp() override {
    NftTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_TRUE(machine_->Set("/nft/table/inet/ours", kOurs).ok());
    ASSERT_TRUE(Ask().ran);
  }
  struct Answer {
    std::string listing;
    bool ran = false;  // nft
  };
  /// A program of its own, as far as the machine's memory goes.
  Answer Ask() const {
    const auto before = ProgramsSpawned();
    const auto listing = MakeLinuxMachine({.ruleset_file = file_})->Get("/nft/ruleset");
    EXPECT_TRUE(listing.ok()) << listing.status().ToString();
    return {listing.ok() ? *listing : "", ProgramsSpawned() != before};
  }
  std::string Kept() const {
    std::ifstream in(file_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void Write(const std::string& text) const { std::ofstream(file_) << text; }

  TemporaryDirectory folder_;
  const std::string file_ = folder_.path() + "/made/nft-ruleset";
};

TEST_F(KeptListingTest, TheNextProgramRunsNoneWhileTheRulesetIsStill) {
  const std::string listing = machine_->Get("/nft/ruleset").value();
  const Answer answer = Ask();
  EXPECT_FALSE(answer.ran);
  EXPECT_EQ(answer.listing, listing);
}

TEST_F(KeptListingTest, AChangeOfTheRulesetIsListedAnew) {
  Foreign("add table ip site\n");
  const Answer answer = Ask();
  EXPECT_TRUE(answer.ran);
  EXPECT_NE(answer.listing.find("site"), std::string::npos);
  EXPECT_FALSE(Ask().ran);
}

TEST_F(KeptListingTest, AnotherNamespaceHasAnotherRulesetAtTheSameGeneration) {
  const auto generation = Generation();
  ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
  machine_ = MakeLinuxMachine();
  ASSERT_TRUE(machine_->Set("/nft/table/inet/ours", kOurs).ok());
  while (Generation() < generation) Foreign("add table ip a\ndelete table ip a\n");
  ASSERT_EQ(Generation(), generation);
  EXPECT_TRUE(Ask().ran);
}

TEST_F(KeptListingTest, AFileThatOthersMayWriteIsNoListing) {
  ASSERT_EQ(::chmod(file_.c_str(), 0666), 0);
  EXPECT_TRUE(Ask().ran);
  EXPECT_FALSE(Ask().ran) << "replaced by one of our own";
  ASSERT_EQ(::chown(file_.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(Ask().ran);
}

TEST_F(KeptListingTest, ACutOrStrangeFileIsNoListing) {
  const std::string whole = Kept();
  for (const std::string& text : {std::string(), whole.substr(0, 20), whole.substr(0, whole.size() - 1),
                                  whole.substr(0, whole.find('\n') + 1), "x" + whole}) {
    Write(text);
    EXPECT_TRUE(Ask().ran) << text;
    EXPECT_EQ(Kept(), whole);
  }
}

TEST_F(KeptListingTest, ALinkIsNotFollowed) {
  const std::string elsewhere = folder_.path() + "/elsewhere";
  std::filesystem::rename(file_, elsewhere);
  std::filesystem::create_symlink(elsewhere, file_);
  EXPECT_TRUE(Ask().ran);
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(file_)));
}

TEST_F(NftTest, AChangeOfAnotherProgramIsSeenAtTheNextRead) {
  const std::string empty = machine_->Get("/nft/ruleset").value();
  const auto generation = Generation();
  Foreign(
      "add table ip site\nadd chain ip site in { type filter hook input priority 0; }\n"
      "add rule ip site in udp dport 4791 drop\n");
  EXPECT_GT(Generation(), generation);
  const std::string listed = machine_->Get("/nft/ruleset").value();
  EXPECT_NE(listed, empty);
  EXPECT_NE(listed.back(), '\n');
  auto ruleset = nft::DecodeRuleset(listed);
  const nft::Table* table = ruleset->FindTable("ip", "site");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(nft::Describe(*table, table->chains[0], table->chains[0].rules[0]),
            "table ip site chain in handle 2: udp dport 4791 drop");
}

TEST_F(NftTest, OnePathIsOneTable) {
  Foreign("table ip site { }\n");
  for (
      const char* text :
      {R"({"nftables":[{"flush":{"ruleset":null}}]})",
       R"({"nftables":[{"delete":{"table":{"family":"ip","name":"site"}}}]})",
       R"({"nftables":[{"add":{"rule":{"family":"ip","table":"site","chain":"c","expr":[{"drop":null}]}}}]})",
       R"([{"table":{"family":"ip","name":"site"}}])",
       R"({"nftables":[{"table":{"family":"ip","name":"site"}}]})", R"({"nftables":{}})",
       R"({"nftables":[1]})", "{", "42", "table inet ours { }"})
    EXPECT_EQ(machine_->Set("/nft/table/inet/ours", text).code(), Code::kInvalidArgument) << text;
  EXPECT_TRUE(machine_->Get("/nft/table/ip/site").ok());
}

TEST_F(NftTest, ARefusedTransactionLeavesEverythingAndSaysWhy) {
  ASSERT_TRUE(machine_->Set("/nft/table/inet/ours", kOurs).ok());
  const std::string before = machine_->Get("/nft/table/inet/ours").value();
  Status status = machine_->Set("/nft/table/inet/ours", R"({"nftables":[
      {"flush":{"table":{"family":"inet","name":"ours"}}},
      {"add":{"rule":{"family":"inet","table":"ours","chain":"nope","expr":[{"drop":null}]}}}]})");
  EXPECT_EQ(status.code(), Code::kNotFound) << status.ToString();
  EXPECT_NE(status.message().find("No such file or directory"), std::string::npos) << status.message();
  EXPECT_EQ(machine_->Get("/nft/table/inet/ours").value(), before);
  EXPECT_EQ(machine_
                ->Set("/nft/table/inet/ours", R"({"nftables":[
      {"add":{"chain":{"family":"inet","table":"ours","name":"x","type":"filter","hook":"bogus","prio":0}}}]})")
                .code(),
            Code::kInvalidArgument);
}

TEST_F(NftTest, WithoutTheNftProgramReadsSayThatItIsNotInstalled) {
  // An empty folder over /usr/sbin, in this test's mount namespace only.
  ASSERT_EQ(::mount("none", "/usr/sbin", "tmpfs", 0, nullptr), 0);
  auto text = machine_->Get("/nft/ruleset");
  EXPECT_EQ(text.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(text.status().message().find("/usr/sbin/nft is not installed"), std::string::npos);
  EXPECT_NE(machine_->Get("/nft/table/inet/ours").status().code(), Code::kNotFound)
      << "that nobody could look does not prove that there is no such table";
  EXPECT_TRUE(machine_->Get("/nft/generation").ok()) << "the kernel is asked directly";
}

}  // namespace
}  // namespace railwright::machine
