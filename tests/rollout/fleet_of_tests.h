// A fleet in memory that a rollout is played over: nodes that remember what they were sent.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "controller/rollout/rollout.h"
#include "tests/support/at_once.h"

namespace railwright {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class RolloutTest : public testing::Test {
 protected:
  struct FakeNode {
    MemberSight sight;
    std::string not_ready;
    int begun = 0;
  };

  static std::string Name(int n) { return (n < 10 ? "gpu-0" : "gpu-") + std::to_string(n); }

  /// A rollout of generation 7 by alice over `count` nodes, all connected and well, four a rack.
  void Start(int count, RolloutPolicy policy = {}) {
    policy_ = std::move(policy);
    StoredRollout stored;
    stored.record.generation = {7};
    stored.record.base = {6};
    stored.record.author = "alice";
    stored.record.members = static_cast<std::uint32_t>(count);
    stored.record.approvals_needed =
        policy_.ApprovalsFor(static_cast<std::size_t>(count), static_cast<std::size_t>(count));
    for (int n = 1; n <= count; ++n) {
      stored.members.emplace_back().node = Name(n);
      traits_[Name(n)].rack = "r" + std::to_string((n - 1) / 4 + 1);
      FakeNode& node = nodes_[Name(n)];
      node.sight.connected = node.sight.at_rest = node.sight.known = true;
    }
    Make(std::move(stored));
  }
  void Make(StoredRollout stored) {
    const std::size_t fleet = nodes_.size();
    rollout_ = std::make_unique<Rollout>(std::move(stored), policy_, fleet, traits_);
  }
  /// What a restart of the controller leaves: the durable part.
  void Restart() { Make({rollout_->record(), rollout_->members()}); }

  RolloutLook Present() {
    RolloutLook look;
    look.now = now_;
    look.wall = wall_;
    look.held = held_;
    look.frozen = frozen_;
    look.sight = [this](const std::string& name) { return nodes_.at(name).sight; };
    look.ready = [this](const std::vector<std::string>& names) {
      std::vector<std::string> answers;
      for (const std::string& name : names) answers.push_back(nodes_.at(name).not_ready);
      return answers;
    };
    return look;
  }
  /// Lets time pass and looks; what is begun is not settled any more.
  RolloutMove Look(std::chrono::milliseconds later = seconds(1)) {
    Pass(later);
    RolloutMove move = rollout_->Next(Present());
    rollout_->Take(move.write, now_);
    for (const std::string& name : move.begun) {
      FakeNode& node = nodes_.at(name);
      ++node.begun;
      node.sight.has_it = node.sight.at_rest = false;
    }
    return move;
  }
  void Pass(std::chrono::milliseconds time) {
    now_ += time;
    wall_ += time;
    for (auto& [name, node] : nodes_)
      if (!node.sight.connected) node.sight.lost_for += time;
  }
  void Settle(const std::string& name) {
    MemberSight& sight = nodes_.at(name).sight;
    sight.has_it = sight.at_rest = sight.known = true;
  }
  void SettleAll() {
    for (const std::string& name : Of(MemberPhase::kChanging)) Settle(name);
  }
  void Leave(const std::string& name) {
    MemberSight& sight = nodes_.at(name).sight;
    sight.connected = sight.has_it = sight.at_rest = false;
    sight.lost_for = {};
  }
  void Come(const std::string& name) { nodes_.at(name).sight.connected = true; }

  std::vector<std::string> Of(MemberPhase phase) const {
    std::vector<std::string> names;
    for (const RolloutMember& member : rollout_->members())
      if (member.phase == phase) names.push_back(member.node);
    return names;
  }
  MemberPhase PhaseOf(const std::string& name) const { return rollout_->Find(name)->phase; }
  /// Looks and settles what changes until nothing moves any more.
  void Run(int most = 500) {
    for (int i = 0; i < most && !rollout_->record().finished; ++i) {
      Look();
      SettleAll();
    }
  }
  void Do(const Result<RolloutWrite>& order) {
    ASSERT_TRUE(order.ok()) << order.status().ToString();
    rollout_->Take(*order, now_);
  }

  std::map<std::string, FakeNode> nodes_;
  std::unordered_map<std::string, MemberTraits> traits_;
  RolloutPolicy policy_;
  std::unique_ptr<Rollout> rollout_;
  Clock::Steady now_{hours(1)};
  std::chrono::system_clock::time_point wall_{hours(24) * 20'000};  // a Friday, 00:00 UTC
  std::string held_;
  std::set<std::string> frozen_;
};

}  // namespace railwright
