#include <gtest/gtest.h>

#include <cerrno>

#include "agent/machine/linux_machine.h"
#include "agent/machine/snapshot_tree.h"
#include "core/decode/nft_ruleset.h"
#include "tests/machine/temporary_directory.h"
#include "tests/support/fake_machine.h"

namespace railwright::machine {
namespace {

class SnapshotTest : public testing::Test {
 protected:
  std::string Directory() const { return folder_.path() + "/snapshot"; }
  /// Records what `read` reads, and opens the recording.
  template <class Read>
  std::unique_ptr<Machine> Recorded(Machine& from, bool redact, Read read) {
    {
      auto recorder = MakeRecordingMachine(from, Directory(), redact);
      EXPECT_TRUE(recorder.ok()) << recorder.status().ToString();
      read(**recorder);
    }
    auto opened = OpenSnapshotMachine(Directory());
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return std::move(*opened);
  }
  TemporaryDirectory folder_;
};

TEST_F(SnapshotTest, EveryAnswerComesBackAsItWasErrorsIncluded) {
  FakeMachine host;
  host.Put("/sys/class/net/rail0/mtu", "1500").Put("/sys/class/net/rail0/statistics/rx", "5");
  host.Put("/file/etc/.hidden", "\n a\0b \n\n")
      .Put("/file/etc/100%", "x")
      .Put("/sys/empty", "")
      .Put("/sys/@", "at");
  host.Put("/sys/two", "a\nb");
  host.FailReads("/sys/broken", FromErrno(EIO, "/sys/broken", "firmware said no"));
  host.FailReads("/sys/closed", Status(Code::kPermissionDenied, "no"));
  const std::vector<std::string> paths = {"/sys/class/net/rail0/mtu",
                                          "/sys/class/net/rail0/statistics/rx",
                                          "/file/etc/.hidden",
                                          "/file/etc/100%",
                                          "/sys/empty",
                                          "/sys/@",
                                          "/sys/two",
                                          "/sys/broken",
                                          "/sys/closed",
                                          "/sys/missing"};
  const std::vector<std::string> lists = {"/sys", "/file/etc", "/sys/class/net", "/sys/nothing",
                                          "/sys/broken"};
  auto snapshot = Recorded(host, false, [&](Machine& machine) {
    for (const auto& path : paths) (void)machine.Get(path);
    for (const auto& path : lists) (void)machine.List(path);
  });
  for (const auto& path : paths) {
    auto live = host.Get(path), recorded = snapshot->Get(path);
    ASSERT_EQ(live.ok(), recorded.ok()) << path << " " << recorded.status().ToString();
    if (live.ok())
      EXPECT_EQ(*live, *recorded) << path;
    else
      EXPECT_EQ(live.status(), recorded.status()) << path;
  }
  for (const auto& path : lists) {
    auto live = host.List(path), recorded = snapshot->List(path);
    ASSERT_EQ(live.ok(), recorded.ok()) << path << " " << recorded.status().ToString();
    if (live.ok())
      EXPECT_EQ(*live, *recorded) << path;
    else
      EXPECT_EQ(live.status(), recorded.status()) << path;
  }
}

TEST_F(SnapshotTest, WhatWasNotReadIsUnknownUnlessSomethingRecordedProvesItMissing) {
  FakeMachine host;
  host.Put("/sys/class/net/rail0/mtu", "1500")
      .Put("/rtnl/route/101", "x")
      .Put("/rtnl/link/rail0", "mtu=1500 state=up");
  auto snapshot = Recorded(host, false, [](Machine& machine) {
    (void)machine.List("/sys/class/net");
    (void)machine.List("/sys/class/infiniband");
    (void)machine.List("/rtnl/route");
    (void)machine.Get("/rtnl/link/rail9");
    (void)machine.Get("/rtnl/link/rail0");
  });
  EXPECT_EQ(snapshot->Get("/sys/class/net/rail0/mtu").status().code(), Code::kUnknown)
      << "listed, never read";
  EXPECT_EQ(snapshot->Get("/sys/class/net/rail1/mtu").status().code(), Code::kNotFound) << "not in the list";
  EXPECT_EQ(snapshot->Get("/sys/class/infiniband/mlx5_0/node_guid").status().code(), Code::kNotFound);
  EXPECT_EQ(snapshot->List("/sys/class/infiniband/mlx5_0/ports").status().code(), Code::kNotFound);
  EXPECT_EQ(snapshot->Get("/sys/other").status().code(), Code::kUnknown);
  EXPECT_NE(snapshot->Get("/sys/other").status().message().find("not recorded"), std::string::npos);
  EXPECT_EQ(snapshot->Get("/rtnl/route/102").status().code(), Code::kUnknown)
      << "a table that is not listed is empty, not absent";
  EXPECT_EQ(snapshot->Get("/rtnl/link/rail9/mtu").status().code(), Code::kNotFound);
  EXPECT_EQ(snapshot->Get("/rtnl/link/rail0/mtu").value(), "1500") << "held by what was read";
  EXPECT_EQ(snapshot->Get("/rtnl/link/rail0/state").value(), "up");
}

TEST_F(SnapshotTest, AFolderThatWasNotThereIsListedOnceSomethingIsMadeInIt) {
  FakeMachine host;
  auto snapshot = Recorded(host, false, [](Machine& machine) { (void)machine.List("/file/etc/x.d"); });
  EXPECT_EQ(snapshot->List("/file/etc/x.d").status().code(), Code::kNotFound);
  ASSERT_TRUE(snapshot->Set("/file/etc/x.d/a.conf", "1\n").ok());
  EXPECT_EQ(snapshot->List("/file/etc/x.d").value(), std::vector<std::string>{"a.conf"});
  ASSERT_TRUE(snapshot->Set("/file/etc/x.d/a.conf", "").ok());
  EXPECT_EQ(snapshot->List("/file/etc/x.d").status().code(), Code::kNotFound);
}

TEST_F(SnapshotTest, ASnapshotMayBeWrittenByHand) {
  folder_.Write("/snapshot/get/sys/class/net/rail0/mtu", "4200\n");
  folder_.Write("/snapshot/get/rtnl/link/rail0/@", "mtu=4200 min_mtu=68 max_mtu=9978 state=up\n");
  folder_.Write("/snapshot/get/rtnl/link/rail0/mtu/@", "4200\n");
  folder_.Write("/snapshot/err/ethtool/rail0/pause", "Unimplemented 95 Operation not supported\n");
  folder_.Write("/snapshot/list/rtnl/link/@", "rail0\nlo\n");
  auto snapshot = OpenSnapshotMachine(Directory()).value();
  EXPECT_EQ(snapshot->Get("/sys/class/net/rail0/mtu").value(), "4200");
  EXPECT_EQ(snapshot->Get("/rtnl/link/rail0/mtu").value(), "4200");
  Status error = snapshot->Get("/ethtool/rail0/pause").status();
  EXPECT_EQ(error, Status(Code::kUnimplemented, "Operation not supported", EOPNOTSUPP));
  EXPECT_EQ(snapshot->List("/rtnl/link").value(), (std::vector<std::string>{"lo", "rail0"}));
}

TEST_F(SnapshotTest, WhatIsNoSnapshotIsRefused) {
  EXPECT_EQ(OpenSnapshotMachine("/nonexistent").status().code(), Code::kNotFound);
  EXPECT_EQ(OpenSnapshotMachine(folder_.path()).status().code(), Code::kInvalidArgument);
  folder_.Write("/half/get/sys/x", "1");
  folder_.Write("/half/INCOMPLETE", "");
  EXPECT_EQ(OpenSnapshotMachine(folder_.path() + "/half").status().code(), Code::kDataLoss);
}

TEST_F(SnapshotTest, RecordingRefusesAFolderInUseAndEveryWrite) {
  FakeMachine host;
  host.Put("/sys/x", "1");
  folder_.Write("/used/file", "x");
  EXPECT_EQ(MakeRecordingMachine(host, folder_.path() + "/used", false).status().code(),
            Code::kAlreadyExists);
  EXPECT_FALSE(MakeRecordingMachine(host, "/proc/nowhere", false).ok());
  auto recorder = MakeRecordingMachine(host, Directory(), false).value();
  EXPECT_EQ(recorder->Set("/sys/x", "2").code(), Code::kFailedPrecondition);
  EXPECT_TRUE(host.Writes().empty());
  EXPECT_EQ(OpenSnapshotMachine(Directory()).status().code(), Code::kDataLoss)
      << "while it is being recorded";
}

TEST_F(SnapshotTest, ARedactedRecordingNamesNothingOfTheSiteAndStaysConsistent) {
  FakeMachine host;
  host.Put("/rtnl/addr/rail0", "10.77.3.1/24")
      .Put("/rtnl/route/101", "10.77.3.0/24 dev rail0 scope link src 10.77.3.1");
  host.Put("/rtnl/link/enx506b4bc51234", "ifindex=2 address=50:6b:4b:c5:12:34");
  host.Put("/sys/class/dmi/id/product_serial", "J1234567")
      .Put("/file/etc/motd", "serial J1234567 at 10.77.3.1\n");
  host.Put("/file/etc/x.conf", "password=hunter2\n").Put("/proc/sys/kernel/hostname", "gpu-secret-9");
  host.FailReads("/rtnl/addr/rail1", Status(Code::kInternal, "10.77.3.9 is odd"));
  auto snapshot = Recorded(host, true, [](Machine& machine) {
    for (const char* path : {"/rtnl/addr/rail0", "/rtnl/route/101", "/rtnl/link/enx506b4bc51234",
                             "/sys/class/dmi/id/product_serial", "/file/etc/motd", "/file/etc/x.conf",
                             "/proc/sys/kernel/hostname", "/rtnl/addr/rail1"})
      (void)machine.Get(path);
    (void)machine.List("/rtnl/link");
  });
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Directory())) {
    all += entry.path().string() + "\n";
    if (entry.is_regular_file()) all += folder_.Read(entry.path().string().substr(folder_.path().size()));
  }
  for (const char* word : {"10.77.", "506b4b", "50:6b", "J1234567", "hunter2", "gpu-secret-9"})
    EXPECT_EQ(all.find(word), std::string::npos) << word;
  const std::string address = snapshot->Get("/rtnl/addr/rail0").value();
  const std::string plain = address.substr(0, address.find('/'));
  EXPECT_EQ(snapshot->Get("/rtnl/route/101").value(),
            plain.substr(0, plain.rfind('.')) + ".0/24 dev rail0 scope link src " + plain);
  EXPECT_EQ(snapshot->Get("/file/etc/motd").value(), "serial serial-1 at " + plain + "\n");
  EXPECT_EQ(snapshot->List("/rtnl/link").value(), std::vector<std::string>{"enx020000000001"});
  EXPECT_TRUE(snapshot->Get("/rtnl/link/enx020000000001").ok());
}

/// Set on a snapshot: the plan can be tried, the files stay.
class SnapshotSetTest : public SnapshotTest {
 protected:
  void SetUp() override {
    folder_.Write("/snapshot/get/rtnl/link/rail0/@", "ifindex=2 mtu=1500 min_mtu=68 max_mtu=9978 state=up\n");
    folder_.Write("/snapshot/get/rtnl/addr/rail0/@", "\n");
    folder_.Write("/snapshot/get/rtnl/route/101/@", "\n");
    folder_.Write("/snapshot/get/rtnl/rule/1101/@", "\n");
    folder_.Write("/snapshot/get/ethtool/rail0/channels/@", "combined=8 combined_max=63\n");
    folder_.Write("/snapshot/get/ethtool/rail0/pfc_storm_prevention/@", "8000\n");
    folder_.Write("/snapshot/get/dcb/rail0/pfc/@", "cap=8 enabled=none mbc=0 delay=7\n");
    folder_.Write("/snapshot/get/dcb/rail0/app/@", "\n");
    folder_.Write("/snapshot/get/proc/sys/net/x/@", "0\n");
    folder_.Write("/snapshot/get/sys/class/infiniband/mlx5_0/tc/1/traffic_class/@",
                  "Global tclass=106\nsrc_ip=10.0.0.1,tclass=104\n");
    folder_.Write("/snapshot/get/kmod/nvidia_peermem/@", "absent\n");
    folder_.Write("/snapshot/get/kmod/configfs/@", "builtin\n");
    folder_.Write("/snapshot/get/file/etc/x/@", "old");
    folder_.Write("/snapshot/get/pkg/a/@", "version=1 hold=0\n");
    folder_.Write("/snapshot/list/file/etc/@", "x\n");
    folder_.Write("/snapshot/list/sys/kernel/config/rdma_cm/@", "");
    folder_.Write("/snapshot/get/nft/generation/@", "7\n");
    folder_.Write("/snapshot/get/nft/ruleset/@", R"({"nftables":[{"metainfo":{"version":"1.0.6"}},
      {"table":{"family":"ip","name":"site","handle":1}},{"chain":{"family":"ip","table":"site","name":"c","handle":1}}]})");
    machine_ = OpenSnapshotMachine(Directory()).value();
  }
  std::unique_ptr<Machine> machine_;
};

TEST_F(SnapshotSetTest, AnMtuShowsWhereverTheKernelShowsItAndIsBounded) {
  ASSERT_TRUE(machine_->Set("/rtnl/link/rail0/mtu", "4200").ok());
  EXPECT_EQ(machine_->Get("/rtnl/link/rail0/mtu").value(), "4200");
  EXPECT_EQ(machine_->Get("/rtnl/link/rail0").value(), "ifindex=2 mtu=4200 min_mtu=68 max_mtu=9978 state=up");
  EXPECT_EQ(machine_->Set("/rtnl/link/rail0/mtu", "9979").code(), Code::kInvalidArgument);
  EXPECT_FALSE(machine_->Set("/rtnl/link/rail9/mtu", "1500").ok());
  EXPECT_EQ(OpenSnapshotMachine(Directory()).value()->Get("/rtnl/link/rail0/mtu").value(), "1500")
      << "files are untouched";
}

TEST_F(SnapshotSetTest, SetsAreReadBackInTheKernelsSpelling) {
  ASSERT_TRUE(machine_->Set("/rtnl/addr/rail0", "FD00::1/64\n10.0.0.1/24\n").ok());
  EXPECT_EQ(machine_->Get("/rtnl/addr/rail0").value(), "10.0.0.1/24\nfd00::1/64");
  ASSERT_TRUE(machine_->Set("/rtnl/route/101", "10.0.0.0/24 dev rail0").ok());
  EXPECT_EQ(machine_->Get("/rtnl/route/101").value(), "10.0.0.0/24 dev rail0 scope link");
  ASSERT_TRUE(machine_->Set("/rtnl/rule/1101", "from 10.0.0.1/32 table 101").ok());
  EXPECT_EQ(machine_->Get("/rtnl/rule/1101").value(), "from 10.0.0.1 lookup 101");
  ASSERT_TRUE(machine_->Set("/rtnl/rule/1101", "").ok());
  EXPECT_EQ(machine_->Get("/rtnl/rule/1101").value(), "");
  EXPECT_EQ(machine_->Set("/rtnl/addr/rail0", "nonsense").code(), Code::kInvalidArgument);
}

TEST_F(SnapshotSetTest, FieldsModulesAndFilesChangeAsTheyWould) {
  ASSERT_TRUE(machine_->Set("/ethtool/rail0/channels", "combined=4").ok());
  EXPECT_EQ(machine_->Get("/ethtool/rail0/channels").value(), "combined=4 combined_max=63");
  EXPECT_EQ(machine_->Set("/ethtool/rail0/channels", "rx=4").code(), Code::kInvalidArgument);
  ASSERT_TRUE(machine_->Set("/proc/sys/net/x", "1").ok());
  EXPECT_EQ(machine_->Get("/proc/sys/net/x").value(), "1");
  EXPECT_FALSE(machine_->Set("/proc/sys/net/y", "1").ok());
  ASSERT_TRUE(machine_->Set("/kmod/nvidia_peermem", "live").ok());
  EXPECT_EQ(machine_->Get("/kmod/nvidia_peermem").value(), "live");
  EXPECT_EQ(machine_->Set("/kmod/configfs", "").code(), Code::kFailedPrecondition);
  ASSERT_TRUE(machine_->Set("/file/etc/y", "new").ok());
  ASSERT_TRUE(machine_->Set("/file/etc/x", "").ok());
  EXPECT_EQ(machine_->Get("/file/etc/x").status().code(), Code::kNotFound);
  EXPECT_EQ(machine_->List("/file/etc").value(), std::vector<std::string>{"y"});
  EXPECT_EQ(machine_->Set("/pkg/a", "version=2").code(), Code::kUnimplemented);
}

TEST_F(SnapshotSetTest, ATrafficClassReadsAsItsDriverShowsIt) {
  const char* path = "/sys/class/infiniband/mlx5_0/tc/1/traffic_class";
  ASSERT_TRUE(machine_->Set(path, "104").ok());
  EXPECT_EQ(machine_->Get(path).value(), "Global tclass=104\nsrc_ip=10.0.0.1,tclass=104");
  ASSERT_TRUE(machine_->Set(path, "-1").ok());
  EXPECT_EQ(machine_->Get(path).value(), "src_ip=10.0.0.1,tclass=104") << "rules for some addresses stay";
}

TEST_F(SnapshotSetTest, DataCenterBridgingChangesAsItWould) {
  ASSERT_TRUE(machine_->Set("/dcb/rail0/pfc", "enabled=3,0 cap=2").ok());
  EXPECT_EQ(machine_->Get("/dcb/rail0/pfc").value(), "cap=8 enabled=0,3 mbc=0 delay=7");
  EXPECT_EQ(machine_->Set("/dcb/rail0/pfc", "enabled=8").code(), Code::kInvalidArgument);
  EXPECT_FALSE(machine_->Set("/dcb/rail0/ets", "bw=0,0,0,0,0,0,0,0").ok()) << "not recorded";
  ASSERT_TRUE(machine_->Set("/dcb/rail0/app", "dscp 8 prio 1\ndscp 26  prio 3").ok());
  EXPECT_EQ(machine_->Get("/dcb/rail0/app").value(), "dscp 26 prio 3\ndscp 8 prio 1");
  ASSERT_TRUE(machine_->Set("/dcb/rail0/app", "").ok());
  EXPECT_EQ(machine_->Get("/dcb/rail0/app").value(), "");
  ASSERT_TRUE(machine_->Set("/ethtool/rail0/pfc_storm_prevention", "auto").ok());
  EXPECT_EQ(machine_->Get("/ethtool/rail0/pfc_storm_prevention").value(), "auto");
  EXPECT_FALSE(machine_->Set("/ethtool/rail0/pfc_storm_prevention", "combined=4").ok());
}

TEST_F(SnapshotSetTest, ConfigfsDirectoriesAreMadeAndRemoved) {
  const char* path = "/sys/kernel/config/rdma_cm/mlx5_0";
  EXPECT_EQ(machine_->Get(path).status().code(), Code::kNotFound);
  ASSERT_TRUE(machine_->Set(path, "directory").ok());
  EXPECT_EQ(machine_->Get(path).value(), "directory");
  EXPECT_EQ(machine_->List("/sys/kernel/config/rdma_cm").value(), std::vector<std::string>{"mlx5_0"});
  ASSERT_TRUE(machine_->Set(path, "").ok());
  EXPECT_EQ(machine_->Get(path).status().code(), Code::kNotFound);
}

TEST_F(SnapshotSetTest, ATableChangesTheRulesetAndItsGeneration) {
  ASSERT_TRUE(
      machine_
          ->Set("/nft/table/inet/ours", R"({"nftables":[{"add":{"table":{"family":"inet","name":"ours"}}},
    {"flush":{"table":{"family":"inet","name":"ours"}}},
    {"add":{"set":{"family":"inet","table":"ours","name":"s","type":"ipv4_addr"}}},
    {"add":{"element":{"family":"inet","table":"ours","name":"s","elem":["10.0.0.1"]}}},
    {"add":{"chain":{"family":"inet","table":"ours","name":"in"}}},
    {"add":{"rule":{"family":"inet","table":"ours","chain":"in","expr":[{"accept":null}]}}}]})")
          .ok());
  EXPECT_EQ(machine_->Get("/nft/generation").value(), "8");
  auto ruleset = nft::DecodeRuleset(machine_->Get("/nft/ruleset").value());
  ASSERT_TRUE(ruleset.ok());
  const nft::Table* table = ruleset->FindTable("inet", "ours");
  ASSERT_NE(table, nullptr);
  EXPECT_NE(ruleset->FindTable("ip", "site"), nullptr);
  EXPECT_EQ(nft::Text(table->FindChain("in")->rules.at(0)), "accept");
  EXPECT_EQ(table->FindSet("s")->elements.size(), 1u);
  EXPECT_EQ(machine_->List("/nft/table").value(), (std::vector<std::string>{"inet", "ip"}));
  // Again, with another rule: the flush makes it a replacement.
  const std::string before = machine_->Get("/nft/table/inet/ours").value();
  ASSERT_TRUE(
      machine_
          ->Set("/nft/table/inet/ours", R"({"nftables":[{"flush":{"table":{"family":"inet","name":"ours"}}},
    {"add":{"rule":{"family":"inet","table":"ours","chain":"in","expr":[{"drop":null}]}}}]})")
          .ok());
  EXPECT_NE(machine_->Get("/nft/table/inet/ours").value(), before);
  ASSERT_TRUE(machine_->Set("/nft/table/inet/ours", before).ok()) << "what was read puts it back";
  EXPECT_EQ(machine_->Get("/nft/table/inet/ours").value(), before);
  ASSERT_TRUE(machine_->Set("/nft/table/inet/ours", "").ok());
  EXPECT_EQ(machine_->Get("/nft/table/inet/ours").status().code(), Code::kNotFound);
  EXPECT_EQ(machine_->Set("/nft/table/inet/ours", "{").code(), Code::kInvalidArgument);
}

TEST(SnapshotNamesTest, AnyComponentIsAFileNameAndComesBack) {
  for (const char* name : {"a", ".", "..", ".x", "x.", "%", "%2E", "@", "@x", "a b", "ä", "a\nb", "\x7f"}) {
    const std::string encoded = EncodeComponent(name);
    EXPECT_EQ(DecodeComponent(encoded), name);
    EXPECT_TRUE(encoded != "@" && encoded[0] != '.' && encoded.find('/') == std::string::npos) << encoded;
  }
  EXPECT_EQ(DecodeComponent("100%"), "100%");
  EXPECT_EQ(DecodeComponent("%zz%4"), "%zz%4");
}

TEST(SnapshotNamesTest, ErrorsAreOneLineEach) {
  for (const Status& status :
       {FromErrno(ENOENT, "/sys/x"), Status(Code::kDataLoss, "no errno"), Status(Code::kUnknown, "")})
    EXPECT_EQ(ParseError(ErrorText(status) + "\n"), status);
  EXPECT_EQ(ParseError("").code(), Code::kUnknown);
  EXPECT_EQ(ParseError("Ok 0 x").code(), Code::kUnknown) << "an error is never success";
  EXPECT_EQ(ParseError("NotFound").code(), Code::kNotFound);
}

}  // namespace
}  // namespace railwright::machine
