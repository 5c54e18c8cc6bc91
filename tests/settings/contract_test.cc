// What every setting promises, held against every recorded machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "agent/machine/linux_machine.h"
#include "agent/reconcile/reconciler.h"
#include "railwright/explain.h"
#include "railwright/setting.h"
#include "tests/settings/examples.h"

namespace railwright {
namespace {

// Passes everything on, remembers which paths were read and how often was written, and lets one path fail.
class WatchedMachine final : public Machine {
 public:
  explicit WatchedMachine(std::unique_ptr<Machine> inner) : inner_(std::move(inner)) {}

  Result<std::string> Get(std::string_view path) const override {
    reads.insert(std::string(path));
    if (path == failing) return failure;
    return inner_->Get(path);
  }
  Result<std::vector<std::string>> List(std::string_view path) const override {
    reads.insert(std::string(path));
    if (path == failing) return failure;
    return inner_->List(path);
  }
  Status Set(std::string_view path, std::string_view value) override {
    ++writes;
    return inner_->Set(path, value);
  }

  mutable std::set<std::string> reads;
  int writes = 0;
  std::string failing;
  Status failure{Code::kInternal, "Input/output error", EIO};

 private:
  std::unique_ptr<Machine> inner_;
};

const Catalog& Catalogue() {
  static const Catalog catalog = MakeCatalog();
  return catalog;
}

std::vector<std::string> Snapshots() {
  std::vector<std::string> names;
  const std::string folder = std::string(RAILWRIGHT_SOURCE_DIR) + "/tests/snapshots";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool Same(const Observation& a, const Observation& b) { return a.kind == b.kind && a.value == b.value; }

// Refused because of what this machine is, not because something broke.
bool IsHonestRefusal(const Status& status) {
  return status.code() == Code::kInvalidArgument || status.code() == Code::kFailedPrecondition ||
         status.code() == Code::kUnimplemented || status.code() == Code::kNotFound;
}

class SettingContract : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { Open(); }

  void Open() {
    auto opened = OpenSnapshotMachine(std::string(RAILWRIGHT_SOURCE_DIR) + "/tests/snapshots/" + GetParam());
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    machine_ = std::make_unique<WatchedMachine>(std::move(*opened));
    DesiredState state;
    state.node = "node";
    state.subnets = {"10.10.0.0/16", "fd00::/16"};
    state.ports = PortsOfSnapshot(GetParam(), *machine_);
    facts_ = BindPorts(*machine_, state);
    for (const auto& port : facts_.ports) ASSERT_EQ(port.unbound, "");
  }

  // Calls `use(example, wish, setting, target)` for every example, wish and target, on a machine that is
  // fresh for each.
  template <class Use>
  void ForEachWish(Use use) {
    for (const Example& example : Examples()) {
      const auto match = Catalogue().Find(example.key);
      ASSERT_TRUE(match.ok()) << example.key;
      const bool per_port = match->setting->TargetsOf(match->param) == TargetKind::kPort;
      const std::size_t count = per_port ? facts_.ports.size() : 1;
      for (std::size_t i = 0; i < count; ++i) {
        for (const std::string& wish : example.wishes) {
          Open();
          Target target;
          target.param = match->param;
          target.facts = &facts_;
          if (per_port) {
            target.port = &facts_.ports[i];
            target.name = target.port->port.name;
          }
          SCOPED_TRACE(example.key + " " + target.name + " = " + wish);
          use(example, wish, *match->setting, target);
        }
      }
    }
  }

  // The wish for the target; false when this target cannot have it, which must be said.
  static bool Wish(const Setting& setting, Target& target, const std::string& wish) {
    const auto canonical = setting.Canonical(target.param, wish);
    EXPECT_TRUE(canonical.ok()) << canonical.status().ToString();
    if (!canonical.ok()) return false;
    EXPECT_EQ(setting.Canonical(target.param, *canonical).value_or("refused"), *canonical) << "idempotent";
    const auto desired = setting.Desired(target, *canonical);
    if (!desired.ok()) {
      EXPECT_EQ(desired.status().code(), Code::kInvalidArgument) << desired.status().ToString();
      return false;
    }
    target.wish = *desired;
    return true;
  }

  // A recorded machine may hold an error instead of a value: this one has no nft.
  static bool HoldsAnError(const Setting& setting) {
    return GetParam() == "h200-vm" && setting.info().key == "firewall.rdma";
  }

  std::unique_ptr<WatchedMachine> machine_;
  NodeFacts facts_;
};

std::string TestName(const testing::TestParamInfo<std::string>& snapshot) {
  std::string name = snapshot.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Snapshots, SettingContract, testing::ValuesIn(Snapshots()), TestName);

TEST_P(SettingContract, EverySettingReadsWhatTheSnapshotHolds) {
  ForEachWish([&](const Example&, const std::string& wish, const Setting& setting, Target& target) {
    if (!Wish(setting, target, wish)) return;
    const auto observed = setting.Observe(*machine_, target);
    EXPECT_EQ(machine_->writes, 0) << "observing never writes";
    if (HoldsAnError(setting)) {
      EXPECT_EQ(observed.status().code(), Code::kFailedPrecondition) << observed.status().ToString();
      return;
    }
    ASSERT_TRUE(observed.ok()) << observed.status().ToString();
    const auto again = setting.Observe(*machine_, target);
    EXPECT_TRUE(again.ok() && Same(*observed, *again)) << "twice the same";
    if (observed->kind != Observation::Kind::kNotApplicable) return;
    const auto pages = ReasonPages();
    EXPECT_TRUE(std::any_of(pages.begin(), pages.end(),
                            [&](const auto& page) { return page.word == observed->reason; }))
        << "no explain page for " << observed->reason;
    EXPECT_FALSE(observed->message.empty());
    EXPECT_FALSE(setting.Satisfied(target, target.wish, *observed)) << "what does not apply is not fulfilled";
  });
}

TEST_P(SettingContract, ApplyingWhatWasObservedChangesNothing) {
  ForEachWish([&](const Example&, const std::string& wish, const Setting& setting, Target& target) {
    if (!Wish(setting, target, wish)) return;
    const auto before = setting.Observe(*machine_, target);
    if (!before.ok() || before->kind == Observation::Kind::kNotApplicable) return;
    const Status applied = setting.Apply(*machine_, target, before->value);
    if (!applied.ok()) {
      EXPECT_TRUE(IsHonestRefusal(applied)) << applied.ToString();
      EXPECT_NE(setting.info().effect, Effect::kRuntime) << before->value << ": " << applied.ToString();
    }
    const auto after = setting.Observe(*machine_, target);
    ASSERT_TRUE(after.ok()) << after.status().ToString();
    EXPECT_TRUE(Same(*before, *after)) << before->value << " became " << after->value;
  });
}

TEST_P(SettingContract, WhatWasAppliedIsObservedAndTheOriginalComesBack) {
  ForEachWish([&](const Example&, const std::string& wish, const Setting& setting, Target& target) {
    if (!Wish(setting, target, wish)) return;
    const auto before = setting.Observe(*machine_, target);
    if (!before.ok() || before->kind == Observation::Kind::kNotApplicable) return;
    const Status applied = setting.Apply(*machine_, target, target.wish);
    const auto after = setting.Observe(*machine_, target);
    ASSERT_TRUE(after.ok()) << after.status().ToString();
    if (!applied.ok()) {
      EXPECT_TRUE(IsHonestRefusal(applied)) << applied.ToString();
      EXPECT_TRUE(Same(*before, *after)) << "a refusal changes nothing: " << applied.ToString();
      return;
    }
    EXPECT_TRUE(
        setting.Satisfied(target, target.wish, *after) ||
        (after->pending_reboot && (setting.info().effect == Effect::kNextBoot || !after->stored_in.empty())))
        << "wished " << target.wish << ", read " << after->value;
    const Status restored = setting.Apply(*machine_, target, before->value);
    ASSERT_TRUE(restored.ok()) << restored.ToString();
    const auto back = setting.Observe(*machine_, target);
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_TRUE(Same(*before, *back)) << before->value << " came back as " << back->value;
  });
}

// The heart of it: no evidence is Unknown, never a pass. Every path that an observation reads fails once, in
// the state in which the wish is fulfilled.
TEST_P(SettingContract, AFailingReadIsNeverAPass) {
  const std::vector<Status> failures{{Code::kInternal, "Input/output error", EIO},
                                     {Code::kPermissionDenied, "Permission denied", EACCES},
                                     {Code::kUnavailable, "Resource temporarily unavailable", EAGAIN},
                                     {Code::kUnimplemented, "no backend serves it"},
                                     {Code::kDeadlineExceeded, "no answer"}};
  ForEachWish([&](const Example& example, const std::string& wish, const Setting& setting, Target& target) {
    if (HoldsAnError(setting) || !Wish(setting, target, wish)) return;
    [[maybe_unused]] const Status applied = setting.Apply(*machine_, target, target.wish);
    machine_->reads.clear();
    const auto fulfilled = setting.Observe(*machine_, target);
    ASSERT_TRUE(fulfilled.ok()) << fulfilled.status().ToString();
    const std::set<std::string> paths = machine_->reads;
    ASSERT_FALSE(paths.empty()) << "an observation that reads nothing";
    for (const std::string& path : paths) {
      if (!example.aside.empty() && path.ends_with(example.aside)) continue;
      for (const Status& failure : failures) {
        machine_->failing = path;
        machine_->failure = failure;
        const auto observed = setting.Observe(*machine_, target);
        if (!observed.ok()) continue;
        EXPECT_FALSE(setting.Satisfied(target, target.wish, *observed))
            << path << " failed (" << failure.ToString() << ") and yet it passes: " << observed->value;
        EXPECT_NE(observed->kind, Observation::Kind::kNotApplicable)
            << path << " failed (" << failure.ToString() << ") and was taken for " << observed->reason;
      }
    }
    machine_->failing.clear();
  });
}

TEST_P(SettingContract, AnUnknownTargetIsAnErrorNotACrash) {
  BoundPort gone;
  gone.port = FabricPort("rail99", {"10.99.0.1/24"});
  gone.netdev = "nosuch0";
  gone.index = 99;
  ForEachWish([&](const Example&, const std::string& wish, const Setting& setting, Target& target) {
    if (target.port == nullptr) return;
    target.port = &gone;
    target.name = gone.port.name;
    if (!Wish(setting, target, wish)) return;
    for (const char* ibdev : {"", "nosuch_0"}) {
      gone.ibdev = ibdev;
      const auto observed = setting.Observe(*machine_, target);
      if (observed.ok()) {
        EXPECT_EQ(observed->kind, Observation::Kind::kNotApplicable) << observed->value;
        EXPECT_TRUE(setting.info().key.starts_with("roce.") || observed->reason == "NoRdmaDevice")
            << setting.info().key << " " << observed->reason;
      }
      const Status applied = setting.Apply(*machine_, target, target.wish);
      EXPECT_FALSE(applied.ok());
    }
  });
}

TEST_P(SettingContract, PreparedThingsCanBeRemovedAgain) {
  for (const auto& setting : Catalogue().settings()) {
    const auto made = setting->Prepare(*machine_);
    ASSERT_TRUE(made.ok()) << setting->info().key << ": " << made.status().ToString();
    for (const auto& path : *made) {
      EXPECT_TRUE(machine_->Get(path).ok()) << path;
      EXPECT_TRUE(machine_->Set(path, "").ok()) << path;
    }
  }
}

TEST(SettingCoverageTest, EverySettingHasAnExampleAndAppliesToSomeSnapshot) {
  std::map<std::string, int> applicable;
  for (const auto& name : Snapshots()) {
    auto opened = OpenSnapshotMachine(std::string(RAILWRIGHT_SOURCE_DIR) + "/tests/snapshots/" + name);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    DesiredState state;
    state.subnets = {"10.10.0.0/16"};
    state.ports = PortsOfSnapshot(name, **opened);
    const NodeFacts facts = BindPorts(**opened, state);
    for (const Example& example : Examples()) {
      const auto match = Catalogue().Find(example.key);
      ASSERT_TRUE(match.ok()) << example.key;
      Target target;
      target.param = match->param;
      target.facts = &facts;
      if (!facts.ports.empty()) target.port = &facts.ports.front();
      const auto observed = match->setting->Observe(**opened, target);
      applicable[match->setting->info().key] +=
          observed.ok() && observed->kind != Observation::Kind::kNotApplicable ? 1 : 0;
    }
  }
  for (const auto& setting : Catalogue().settings()) {
    const std::string& key = setting->info().key;
    EXPECT_TRUE(applicable.contains(key)) << key << " has no example in tests/settings/examples.h";
    EXPECT_GT(applicable[key], 0) << key << " applies to no snapshot, so the contract says nothing of it";
  }
}

TEST(SettingParamTest, ParamsThatAreNoneAreRefusedEverywhere) {
  auto opened = OpenSnapshotMachine(std::string(RAILWRIGHT_SOURCE_DIR) + "/tests/snapshots/written-8x-cx7");
  ASSERT_TRUE(opened.ok());
  WatchedMachine machine(std::move(*opened));
  const BoundPort port{FabricPort("rail0", {"10.10.0.1/24"}), "enp24s0np0", "", "mlx5_0", 0, ""};
  const NodeFacts facts{"node", {"10.10.0.0/16"}, {port}};
  for (const auto& setting : Catalogue().settings()) {
    if (setting->info().key.find('<') == std::string::npos) continue;
    for (const std::string& param :
         {std::string("../../etc/shadow"), std::string("/etc/../etc/shadow"), std::string("a b"),
          std::string("a\nb"), std::string("\0x", 2), std::string(5000, 'a'), std::string("{netdev}"),
          std::string("//"), std::string("*"), std::string("%n%s"), std::string("\xff\xfe")}) {
      SCOPED_TRACE(setting->info().key + " " + param);
      EXPECT_FALSE(setting->Canonical(param, "1").ok());
      [[maybe_unused]] const auto targets = setting->TargetsOf(param);
      EXPECT_EQ(setting->CanonicalParam(setting->CanonicalParam(param)), setting->CanonicalParam(param));
      Target target;
      target.param = param;
      target.port = &facts.ports.front();
      target.facts = &facts;
      EXPECT_FALSE(setting->Observe(machine, target).ok());
      EXPECT_FALSE(setting->Apply(machine, target, "1").ok());
    }
  }
  EXPECT_EQ(machine.writes, 0);
}

TEST(SettingParamTest, RecordedParamsAreParams) {
  for (const auto& setting : Catalogue().settings()) {
    const auto& info = setting->info();
    const bool family = info.key.find('<') != std::string::npos;
    EXPECT_EQ(info.recorded.empty(), !family) << info.key;
    for (const auto& param : info.recorded) EXPECT_EQ(setting->CanonicalParam(param), param) << info.key;
  }
}

// Whatever is typed: an error with a message, or a form that is its own canonical form.
TEST(SettingValueTest, CanonicalIsStrictAndIdempotentForAnything) {
  const std::vector<std::string> pieces{"0",          "1",          "8",
                                        "max",        "4200",       "106",
                                        "0x6a",       "off",        "on",
                                        "=",          "rx=",        "tx=4",
                                        ",",          " ",          "\t",
                                        "\n",         "-",          "!",
                                        "udp:",       "tcp:",       "4791",
                                        "-5",         "allow",      "v2",
                                        "hold",       "installed",  ">=",
                                        "1.2",        ".*",         "per-rail",
                                        "table=",     "priority=9", "10.10.0.1/24",
                                        "fd00::1/64", "declared",   "unlimited",
                                        "loaded",     "\"",         "'",
                                        "iommu=pt",   "quiet",      "a",
                                        "Z",          "\xc3\xbc",   "\x01",
                                        "%",          "{",          "}",
                                        "/"};
  std::mt19937 random(20261130);
  for (const Example& example : Examples()) {
    const auto match = Catalogue().Find(example.key);
    ASSERT_TRUE(match.ok());
    for (int round = 0; round < 3000; ++round) {
      std::string text;
      for (auto left = random() % 6; left > 0; --left) text += pieces[random() % pieces.size()];
      const auto canonical = match->setting->Canonical(match->param, text);
      if (!canonical.ok()) {
        ASSERT_EQ(canonical.status().code(), Code::kInvalidArgument) << example.key << " " << text;
        ASSERT_FALSE(canonical.status().message().empty());
        ASSERT_EQ(canonical.status().message().find('\n'), std::string::npos) << "one line";
        continue;
      }
      const auto again = match->setting->Canonical(match->param, *canonical);
      ASSERT_TRUE(again.ok()) << example.key << " " << text << " → " << *canonical;
      ASSERT_EQ(*again, *canonical) << example.key << " " << text;
    }
  }
}

TEST(SettingValueTest, ValuesFromNowhereNeverCrashApply) {
  auto opened = OpenSnapshotMachine(std::string(RAILWRIGHT_SOURCE_DIR) + "/tests/snapshots/written-8x-cx7");
  ASSERT_TRUE(opened.ok());
  const BoundPort port{FabricPort("rail0", {"10.10.0.1/24"}), "enp24s0np0", "", "mlx5_0", 0, ""};
  const NodeFacts facts{"node", {"10.10.0.0/16"}, {port}};
  for (const Example& example : Examples()) {
    const auto match = Catalogue().Find(example.key);
    for (const std::string& value :
         {std::string("garbage"), std::string("\0\0", 2), std::string(100000, 'x'), std::string("from : "),
          std::string("other, [{\"table\":"), std::string("priority ; table : "), std::string("soft= own="),
          std::string("own=///"), std::string("1 (own , all )"), std::string("(own 1, all 2)"),
          std::string("=,=,="), std::string("\xff")}) {
      Target target;
      target.param = match->param;
      target.port = &facts.ports.front();
      target.facts = &facts;
      target.wish = value;
      [[maybe_unused]] const Status applied = match->setting->Apply(**opened, target, value);
      [[maybe_unused]] const auto observed = match->setting->Observe(**opened, target);
      [[maybe_unused]] const auto disruption = match->setting->DisruptionOf(target, value, value);
      if (observed.ok()) {
        [[maybe_unused]] const bool satisfied = match->setting->Satisfied(target, value, *observed);
      }
    }
  }
}

}  // namespace
}  // namespace railwright
