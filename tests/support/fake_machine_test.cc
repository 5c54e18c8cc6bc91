#include "tests/support/fake_machine.h"

#include <gtest/gtest.h>

#include "tests/machine/set_valued_sentences.h"
#include "tests/support/faulty_machine.h"

namespace railwright {
namespace {

TEST(FakeMachineTest, SetOnAPathThatIsNotThereIsNotFound) {
  FakeMachine machine;
  EXPECT_EQ(machine.Set("/proc/sys/net/no/such", "1").code(), Code::kNotFound);
  EXPECT_TRUE(machine.Set("/file/etc/nccl.conf", "A=1\n").ok());
  EXPECT_EQ(machine.Value("/file/etc/nccl.conf"), "A=1\n");
  EXPECT_TRUE(machine.Set("/file/etc/nccl.conf", "").ok());
  EXPECT_FALSE(machine.Exists("/file/etc/nccl.conf"));
}

// Of the kernel: RtnlRouteTest.SetsAreAsTheFakePromises in tests/machine.
TEST(FakeMachineTest, SetsAreAsTheKernelsAre) {
  FakeMachine machine;
  machine.Put("/rtnl/link/rail0/mtu", "1500");
  const auto before = machine.World();
  ExpectSetsAreAsPromised(machine);
  EXPECT_EQ(machine.World(), before) << "an emptied set leaves nothing behind";
  FakeMachine without_links;
  without_links.Put("/rtnl/addr/rail0", "");
  ExpectSetsAreAsPromised(without_links);
}

TEST(FakeMachineTest, ListNamesWhatLiesDirectlyBelow) {
  FakeMachine machine;
  machine.Put("/sys/class/net/rail0/mtu", "1500").Put("/sys/class/net/rail0/ifindex", "2");
  machine.Put("/sys/class/net/rail1/mtu", "1500").Put("/sys/class/network", "x");
  EXPECT_EQ(*machine.List("/sys/class/net"), (std::vector<std::string>{"rail0", "rail1"}));
  EXPECT_EQ(*machine.List("/sys/class/net/rail0"), (std::vector<std::string>{"ifindex", "mtu"}));
  EXPECT_EQ(machine.List("/sys/class/infiniband").status().code(), Code::kNotFound);
}

TEST(FakeMachineTest, RemembersReadsAndWritesInOrder) {
  FakeMachine machine;
  machine.Put("/a", "1");
  ASSERT_TRUE(machine.Get("/a").ok());
  ASSERT_TRUE(machine.Set("/a", "2").ok());
  EXPECT_EQ(machine.Reads(), std::vector<std::string>{"/a"});
  ASSERT_EQ(machine.Writes().size(), 1u);
  EXPECT_EQ(machine.Writes()[0], (std::pair<std::string, std::string>{"/a", "2"}));
}

TEST(FaultyMachineTest, OnlyTheNthWriteFails) {
  FakeMachine inner;
  inner.Put("/a", "0");
  FaultyMachine machine(inner, {.fail_write = 2});
  EXPECT_TRUE(machine.Set("/a", "1").ok());
  EXPECT_FALSE(machine.Set("/a", "2").ok());
  EXPECT_EQ(inner.Value("/a"), "1");
  EXPECT_TRUE(machine.Set("/a", "3").ok());
  EXPECT_EQ(inner.Value("/a"), "3");
}

TEST(FaultyMachineTest, AnIgnoredWriteAnswersOkAndChangesNothing) {
  FakeMachine inner;
  inner.Put("/a", "0");
  FaultyMachine machine(inner, {.ignore_write = 1});
  EXPECT_TRUE(machine.Set("/a", "1").ok());
  EXPECT_EQ(*machine.Get("/a"), "0");
}

TEST(FaultyMachineTest, AStaleReadShowsTheValueFromBeforeTheWrite) {
  FakeMachine inner;
  inner.Put("/a", "0");
  FaultyMachine machine(inner, {.stale_reads = 2});
  EXPECT_TRUE(machine.Set("/a", "1").ok());
  EXPECT_EQ(*machine.Get("/a"), "0");
  EXPECT_EQ(*machine.Get("/a"), "0");
  EXPECT_EQ(*machine.Get("/a"), "1");
}

TEST(FaultyMachineTest, DyingAfterAWriteLeavesItWritten) {
  FakeMachine inner;
  inner.Put("/a", "0");
  FaultyMachine machine(inner, {.die_after_write = 1});
  EXPECT_THROW((void)machine.Set("/a", "1"), Died);
  EXPECT_EQ(inner.Value("/a"), "1");
}

TEST(FaultyMachineTest, TheKernelMayClamp) {
  FakeMachine inner;
  inner.Put("/a", "0");
  Faults faults;
  faults.clamp = [](const std::string&, const std::string&) { return std::string("4096"); };
  FaultyMachine machine(inner, faults);
  EXPECT_TRUE(machine.Set("/a", "9000").ok());
  EXPECT_EQ(*machine.Get("/a"), "4096");
}

}  // namespace
}  // namespace railwright
