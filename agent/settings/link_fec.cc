// link.fec: forward error correction of a port.
#include <algorithm>
#include <array>
#include <cerrno>

#include "core/decode/fields.h"
#include "core/decode/module_header.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::array<std::string_view, 4> kWishes{"rs", "baser", "off", "auto"};
constexpr std::string_view kFarEnd = "far_end=";
constexpr std::string_view kAllowed =
    "rs, baser, off, auto, and behind it far_end=… when it is to be written";
/// Lanes of 25 Gb/s and less are NRZ, and no link of up to 40 Gb/s has others (IEEE 802.3 clauses 49 to 113).
constexpr std::uint64_t kFastestSurelyNrz = 40'000;

/// A wish, or what was seen and is put back ("active=rs configured=auto").
struct FecWish {
  std::string mode;
  bool far_end_known = false;
};

FecWish WishOf(std::string_view value) {
  const auto words = Words(value);
  if (words.empty()) return {};
  return {std::string(words.front()), words.size() > 1 && words[1].starts_with(kFarEnd)};
}

bool IsMode(std::string_view word) {
  return std::find(kWishes.begin(), kWishes.end(), word) != kWishes.end();
}

class LinkFec final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "link.fec",
        .code = "RW-1108",
        .help = "Forward error correction of a port; written only where the far end's is declared equal.",
        .why =
            "Both ends of a link must correct alike, or it does not come up; too weak a code shows as symbol "
            "errors and lost packets, which RoCE answers by going back to the last one in order. Links of 50 "
            "Gb/s a lane and more (PAM4) cannot do without and need rs.",
        .targets = TargetKind::kPort,
        .syntax =
            "`rs`, `baser`, `off`, or `auto`: looked at. `rs far_end=rs`: written, since the switch is known "
            "to "
            "be set so. Never `off` on PAM4 lanes (50 Gb/s and more each)",
        .default_value = "auto, as negotiated",
        .interface = "ethtool netlink FEC_GET, FEC_SET; MODULE_EEPROM_GET where something is amiss",
        .source = "IEEE 802.3 clauses 74, 91 and 134; kernel Documentation/networking/ethtool-netlink.rst",
        .disruption = Disruption::kLinkFlap,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 39,
        .group = "lossless",
        .likely_owners = {"ethtool", "mlxlink", "the switch at the other end"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    const auto words = Words(value);
    if (words.empty() || words.size() > 2 || !IsMode(words[0]))
      return Status(Code::kInvalidArgument, Quoted(Trimmed(value)) + "; allowed: " + std::string(kAllowed));
    if (words.size() == 1) return std::string(words[0]);
    if (!words[1].starts_with(kFarEnd) || !IsMode(words[1].substr(kFarEnd.size())))
      return Status(Code::kInvalidArgument, Quoted(words[1]) + "; allowed: " + std::string(kAllowed));
    if (words[1].substr(kFarEnd.size()) != words[0])
      return Status(Code::kInvalidArgument,
                    Quoted(Trimmed(value)) +
                        ": a link whose two ends correct differently has no carrier; set the far end to " +
                        std::string(words[0]) + " first, and say so");
    return std::string(words[0]) + " " + std::string(words[1]);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    const std::string path = PathOf(target);
    const auto text = machine.Get(path);
    if (!text.ok() && text.status().error_number() == EOPNOTSUPP)
      return Observation::NotApplicable(
          "NoFec", target.port->netdev +
                       ": its driver has no forward error correction to show: " + text.status().message());
    if (!text.ok()) return text.status();
    const auto fields = Fields::Parse(*text);
    if (!fields.ok()) return fields.status().Within(path);
    const std::string *modes = fields->Find("modes"), *automatic = fields->Find("auto"),
                      *active = fields->Find("active");
    if (modes == nullptr || automatic == nullptr)
      return Status(Code::kInternal, path + ": " + Quoted(*text) + " tells no modes");
    Fields seen;
    if (active != nullptr) seen.Set("active", *active);
    seen.Set("configured", *automatic == "1" ? "auto" : *modes);
    Observation observed = Observation::Value(seen.Text());
    if (active == nullptr)
      observed.message = "the link has no carrier, so no code is in use; what is configured is compared";
    const auto add = [&](std::string_view sentence) {
      observed.message.append(observed.message.empty() ? "" : "; ").append(sentence);
    };
    if (WishOf(target.wish).mode == "off") add("lanes of 50 Gb/s and more (PAM4) cannot do without");
    // Last, and not where all is well: the loop repeats its reads at every scan and stops at the first that
    // differs, and this one takes milliseconds on the module's bus. Without a wish (a recording) it is read.
    if (active == nullptr || !Satisfied(target, target.wish, observed)) add(ModuleOf(machine, target));
    return observed;
  }

  // What the link uses counts; without carrier, what it is told to use.
  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    if (observed.kind != Observation::Kind::kValue) return false;
    const auto seen = Fields::Parse(observed.value);
    if (!seen.ok()) return false;
    const std::string *active = seen->Find("active"), *configured = seen->Find("configured");
    // What was there is back when it is asked for again; the link may still be training.
    if (const auto before = Fields::Parse(desired); before.ok() && before->Find("configured") != nullptr)
      return configured != nullptr && *configured == *before->Find("configured");
    const std::string wanted = WishOf(desired).mode;
    if (wanted == "auto" || active == nullptr) return configured != nullptr && *configured == wanted;
    return *active == wanted;
  }

  Result<std::string> AsWish(const Target&, const Observation& observed) const override {
    RW_ASSIGN_OR_RETURN(const Fields seen, Fields::Parse(observed.value));
    const std::string* mode = seen.Find("active");
    if (mode == nullptr) mode = seen.Find("configured");
    if (mode != nullptr && IsMode(*mode)) return *mode;
    return Status(Code::kFailedPrecondition, Quoted(observed.value) + " is more than one mode");
  }

  std::string OnlyLookedAt(const Target& target, std::string_view desired) const override {
    const FecWish wish = WishOf(desired);
    if (wish.far_end_known) return {};
    return "a link whose two ends differ stays down, and what the far end of " + target.name +
           " is set to is not declared; set it to " + wish.mode + " there, then declare `" + wish.mode + " " +
           std::string(kFarEnd) + wish.mode + "`";
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    std::string modes;
    if (const auto seen = Fields::Parse(value); seen.ok() && seen->Find("configured") != nullptr) {
      modes = *seen->Find("configured");  // what was there before
    } else {
      modes = WishOf(value).mode;
      if (!IsMode(modes))
        return Status(Code::kInvalidArgument, Quoted(value) + "; allowed: " + std::string(kAllowed));
      if (modes == "off") RW_RETURN_IF_ERROR(RefuseOffUnlessNrz(machine, target));
    }
    // One mode, or auto alone: mlx5 takes no second bit beside it.
    return machine.Set(PathOf(target), modes == "auto" ? "modes=none auto=1" : "modes=" + modes + " auto=0");
  }

 private:
  static std::string PathOf(const Target& target) { return "/ethtool/" + target.port->netdev + "/fec"; }

  // No module, a faulty one and one that is not up are the usual reasons for no carrier. It is evidence only:
  // that it cannot be read is said, and says nothing about the code.
  static std::string ModuleOf(const Machine& machine, const Target& target) {
    const std::string path = "/ethtool/" + target.port->netdev + "/module";
    const auto text = machine.Get(path);
    const auto described = text.ok() ? DescribeModule(*text) : Result<std::string>(text.status());
    if (described.ok()) return "module: " + *described;
    const std::string message = described.status().message();
    std::string_view why = message;
    if (why.starts_with(path + ": ")) why.remove_prefix(path.size() + 2);
    return "module: not readable (" + std::string(why) + ")";
  }

  // How many lanes share a speed is not told by every driver, so what may be PAM4 counts as PAM4.
  static Status RefuseOffUnlessNrz(const Machine& machine, const Target& target) {
    const auto text = machine.Get("/sys/class/net/" + target.port->netdev + "/speed");
    const auto speed = text.ok() ? ParseWhole(*text, 1, UINT32_MAX) : Result<std::uint64_t>(text.status());
    if (speed.ok() && *speed <= kFastestSurelyNrz) return Ok();
    return Status(Code::kFailedPrecondition,
                  "off is not written: " + target.port->netdev +
                      (speed.ok() ? " runs at " + std::to_string(*speed) + " Mbit/s, which may be"
                                  : " does not tell its speed, which may be of") +
                      " PAM4 lanes (50 Gb/s and more each), and those cannot do without; allowed up to " +
                      std::to_string(kFastestSurelyNrz) + " Mbit/s");
  }
};

}  // namespace

std::unique_ptr<const Setting> make_link_fec() { return std::make_unique<LinkFec>(); }

}  // namespace railwright
