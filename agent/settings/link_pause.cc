// link.pause: global (802.3x) pause frames of a port.
#include <algorithm>
#include <array>
#include <cerrno>

#include "core/decode/fields.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::array<std::string_view, 3> kNames{"autoneg", "rx", "tx"};
constexpr std::string_view kAllowed = "off, on, or autoneg=on|off rx=on|off tx=on|off";

std::string PathOf(const Target& target) { return "/ethtool/" + target.port->netdev + "/pause"; }

// The fields named, in the order autoneg, rx, tx, each on or off.
Result<Fields> ParsePause(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return Status(Code::kInvalidArgument, Quoted(text) + " " + why + "; allowed: " + std::string(kAllowed));
  };
  Fields given;
  const auto words = Words(text, " \t,");
  if (words.size() == 1 && (words[0] == "on" || words[0] == "off")) {
    given.Set("rx", words[0]);
    given.Set("tx", words[0]);
    return given;
  }
  if (words.empty()) return refuse("is empty");
  for (const std::string_view word : words) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) return refuse("holds " + Quoted(word));
    const auto name = word.substr(0, equals);
    const auto value = word.substr(equals + 1);
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end())
      return refuse("names no " + Quoted(name));
    if (given.Find(name) != nullptr) return refuse("names " + std::string(name) + " twice");
    if (value != "on" && value != "off") return refuse("has " + Quoted(value) + " for " + std::string(name));
    given.Set(name, value);
  }
  Fields ordered;
  for (const auto name : kNames)
    if (const auto* value = given.Find(name)) ordered.Set(name, *value);
  return ordered;
}

class LinkPause final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "link.pause",
        .code = "RW-1104",
        .help = "Global pause frames of a port.",
        .why =
            "Global pause stops all traffic of a link, not only the lossless class, and excludes PFC on most "
            "cards; it must be off before PFC is turned on. Many cards come with it on.",
        .targets = TargetKind::kPort,
        .syntax = "`off`, `on`, or `autoneg=on|off rx=on|off tx=on|off`",
        .default_value = "the driver's; often on",
        .interface = "ethtool netlink PAUSE_GET, PAUSE_SET",
        .source = "IEEE 802.3 annex 31B; kernel Documentation/networking/ethtool-netlink.rst",
        .disruption = Disruption::kTrafficBlip,
        .noticed = {.by_event = true, .source = "ethtool", .worst = std::chrono::milliseconds(1000)},
        .effect = Effect::kRuntime,
        .order = 61,
        .group = "lossless",
        .likely_owners = {"lldpad", "NetworkManager", "the card's firmware"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const Fields wish, ParsePause(value));
    return wish.Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    const auto text = machine.Get(PathOf(target));
    if (!text.ok() && text.status().error_number() == EOPNOTSUPP)
      return Observation::NotApplicable(
          "NoPause",
          target.port->netdev + ": its driver has no pause frames to set: " + text.status().message());
    if (!text.ok()) return text.status();
    const auto fields = Fields::Parse(*text);
    if (!fields.ok()) return fields.status().Within(PathOf(target));
    Fields seen;
    for (const auto name : kNames) {
      if (fields->Find(name) == nullptr) continue;
      const auto bit = fields->Number(name);
      if (!bit.ok()) return bit.status().Within(PathOf(target));
      seen.Set(name, *bit != 0 ? "on" : "off");
    }
    if (seen.empty())
      return Status(Code::kInternal, PathOf(target) + ": " + Quoted(*text) + " tells neither rx nor tx");
    return Observation::Value(seen.Text());
  }

  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    const auto wish = ParsePause(desired);
    const auto seen = Fields::Parse(observed.value);
    if (!wish.ok() || !seen.ok() || observed.kind != Observation::Kind::kValue) return false;
    return std::all_of(wish->all().begin(), wish->all().end(), [&](const auto& one) {
      const auto* value = seen->Find(one.first);
      return value != nullptr && *value == one.second;
    });
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const Fields wish, ParsePause(value));
    Fields bits;
    for (const auto& [name, word] : wish.all()) bits.Set(name, word == "on" ? "1" : "0");
    return machine.Set(PathOf(target), bits.Text());
  }
};

}  // namespace

std::unique_ptr<const Setting> make_link_pause() { return std::make_unique<LinkPause>(); }

}  // namespace railwright
