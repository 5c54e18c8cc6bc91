// The store on a disk that fails at one chosen moment. Found by the simulation; here it needs no seed.
#include <gtest/gtest.h>

#include <cerrno>

#include "controller/store/store.h"
#include "tests/sim/disk.h"

namespace railwright::sim {
namespace {

class StoreOnADisk : public testing::Test {
 protected:
  void SetUp() override {
    UseSimulatedSqlite();
    Disks::All().Add(disk_);
    Start();
  }
  void TearDown() override {
    store_.reset();
    Disks::All().Remove(disk_);
  }
  void Start() {
    auto opened = OpenSqliteStore(disk_.folder());
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    store_ = std::move(*opened);
  }
  // The process dies without a word; with a power cut what was not synced is gone, too.
  void Die(bool power) {
    disk_.Kill();
    store_.reset();
    if (power) disk_.LosePower(chance_);
    disk_.Revive();
  }
  Status Add(std::uint64_t number) {
    StoredGeneration generation;
    generation.generation = {number};
    generation.author = "ann";
    generation.documents.push_back({"Site", "pod-a", "site.yaml", 1, "text " + std::to_string(number)});
    return store_->AddGeneration(generation, {}, {});
  }

  Random chance_{1};
  Disk disk_{"/sim/store-test"};
  std::unique_ptr<Store> store_;
};

// A sync that fails drops what it was to write, and the kernel goes on showing it. Who starts over that log
// and appends to it would lose everything behind the gap.
TEST_F(StoreOnADisk, AStartOverALogWhoseSyncFailedLosesNothingThatIsAcknowledgedLater) {
  ASSERT_TRUE(Add(1).ok());
  disk_.ask = [](DiskOp op, const std::string& path) {
    DiskFault fault;
    if (op == DiskOp::kSync && path.ends_with("-wal")) fault.error = EIO;
    return fault;
  };
  EXPECT_FALSE(Add(2).ok());
  disk_.ask = {};
  Die(false);
  Start();
  const std::uint64_t next = (*store_->LatestGeneration())->generation.value + 1;
  ASSERT_TRUE(Add(next).ok());
  ASSERT_TRUE(Add(next + 1).ok());
  Die(true);
  Start();
  EXPECT_EQ((*store_->LatestGeneration())->generation.value, next + 1);
}

TEST_F(StoreOnADisk, WhatIsAcknowledgedOutlivesAPowerCutAtOnce) {
  for (std::uint64_t number = 1; number <= 3; ++number) {
    ASSERT_TRUE(Add(number).ok());
    Die(true);
    Start();
    EXPECT_EQ((*store_->LatestGeneration())->generation.value, number);
  }
}

}  // namespace
}  // namespace railwright::sim
