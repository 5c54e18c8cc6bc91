// The catalogue of the fleet's tests. These definitions stand in for the generated ones.
#include <charconv>
#include <set>

#include "railwright/check.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

// Only its data and value syntax count here; nothing ever reads or writes a machine.
class Declared : public Setting {
 public:
  Declared(std::string key, TargetKind targets, std::string syntax) {
    info_.key = std::move(key);
    info_.targets = targets;
    info_.syntax = std::move(syntax);
  }
  const SettingInfo& info() const override { return info_; }
  Result<Observation> Observe(const Machine&, const Target&) const override {
    return Status(Code::kUnimplemented, "a setting of tests");
  }
  Status Apply(Machine&, const Target&, std::string_view) const override {
    return Status(Code::kUnimplemented, "a setting of tests");
  }

 protected:
  Status Refused(std::string_view value) const {
    return Status(Code::kInvalidArgument, "found \"" + std::string(value) + "\"; allowed: " + info_.syntax);
  }
  SettingInfo info_;
};

// A whole number in a range, without leading zeros in its one spelling.
class NumberSetting : public Declared {
 public:
  NumberSetting(std::string key, TargetKind targets, int low, int high)
      : Declared(std::move(key), targets, std::to_string(low) + "…" + std::to_string(high)),
        low_(low),
        high_(high) {}
  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < low_ || number > high_)
      return Refused(value);
    return std::to_string(number);
  }

 private:
  int low_, high_;
};

// Priorities 0…7, sorted, each once.
class PrioritySet : public Declared {
 public:
  PrioritySet() : Declared("qos.pfc", TargetKind::kPort, "priorities 0…7") {}
  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    std::set<char> found;
    for (std::size_t i = 0; i < value.size(); i += 2) {
      if (value[i] < '0' || value[i] > '7' || (i + 1 < value.size() && value[i + 1] != ','))
        return Refused(value);
      found.insert(value[i]);
    }
    std::string out;
    for (const char c : found) out += (out.empty() ? "" : ",") + std::string(1, c);
    return out;
  }
};

// Any text. Keys with "{netdev}" are for ports; "/" in a param is another spelling of ".".
class SysctlSetting : public Declared {
 public:
  SysctlSetting() : Declared("sysctl.<name>", TargetKind::kNode, "any text") {}
  TargetKind TargetsOf(std::string_view param) const override {
    return param.find("{netdev}") == std::string_view::npos ? TargetKind::kNode : TargetKind::kPort;
  }
  std::string CanonicalParam(std::string_view param) const override {
    std::string out(param);
    for (char& c : out)
      if (c == '/') c = '.';
    return out;
  }
  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    return std::string(value);
  }
};

class TextSetting : public Declared {
 public:
  TextSetting(std::string key, TargetKind targets) : Declared(std::move(key), targets, "any text") {}
  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    return std::string(value);
  }
};

}  // namespace

Catalog MakeCatalog() {
  std::vector<std::unique_ptr<const Setting>> list;
  list.push_back(std::make_unique<NumberSetting>("link.mtu", TargetKind::kPort, 68, 9978));
  list.push_back(std::make_unique<PrioritySet>());
  list.push_back(std::make_unique<SysctlSetting>());
  list.push_back(std::make_unique<TextSetting>("nccl.<VAR>", TargetKind::kNode));
  list.push_back(std::make_unique<TextSetting>("limits.memlock", TargetKind::kNode));
  list.push_back(std::make_unique<NumberSetting>("dcqcn.initial_alpha_value", TargetKind::kPort, 1, 1023));
  list.push_back(std::make_unique<NumberSetting>("dcqcn.rpg_ai_rate", TargetKind::kPort, 1, 100000));
  return Catalog(std::move(list));
}

std::vector<std::unique_ptr<const Check>> MakeChecks() { return {}; }

}  // namespace railwright
