// sysctl.<name>: one kernel parameter below /proc/sys, of the host or of a port's interface.
#include <algorithm>
#include <optional>

#include "core/decode/sysctl_names.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::string_view kNodeList = "/etc/railwright/sysctl.allow";

// "1 (own 0, all 1)": what counts, and what the interface itself holds, so that an original can be put back.
struct Effective {
  std::string effective;
  std::string own;
  std::string all;  ///< "" when the interface's own value is what counts
  std::string Text() const {
    return all.empty() || own == effective ? effective : effective + " (own " + own + ", all " + all + ")";
  }
  static Effective Parse(std::string_view text) {
    Effective value;
    const auto open = text.find(" (own ");
    value.effective = text.substr(0, open);
    value.own = value.effective;
    if (open == std::string_view::npos) return value;
    const auto words = Words(text.substr(open), " (),");
    if (words.size() == 4) {
      value.own = words[1];
      value.all = words[3];
    }
    return value;
  }
};

std::string Combine(Combination how, const std::string& own, const std::string& all) {
  const auto number = [](const std::string& text) { return ParseWhole(text, 0, UINT32_MAX).value_or(0); };
  if (how == Combination::kOr) return number(own) != 0 || number(all) != 0 ? "1" : "0";
  return std::to_string(std::max(number(own), number(all)));
}

bool IsOneInterface(const SysctlName& name) {
  const auto netdev = name.Interface();
  return !netdev.empty() && netdev != "all" && netdev != "default";
}

std::string PathOf(const SysctlName& name) { return "/proc/sys/" + name.Slashed(); }

std::string OneBlank(std::string_view text) {
  std::string joined;
  for (const auto word : Words(text)) {
    if (!joined.empty()) joined += ' ';
    joined += word;
  }
  return joined;
}

// The name with the port's interface in it; refused unless the build or the node's own file allows it.
Result<SysctlName> Resolve(const Machine& machine, const Target& target) {
  RW_ASSIGN_OR_RETURN(const SysctlName declared, SysctlName::Parse(target.param));
  if (FindKnownSysctl(declared) == nullptr) {
    const auto file = machine.Get("/file" + std::string(kNodeList));
    if (!file.ok() && file.status().code() != Code::kNotFound) return file.status().Within(kNodeList);
    bool allowed = false;
    if (file.ok()) {
      for (const auto& line : ListFileLines(*file)) {
        const auto pattern = SysctlName::ParsePattern(line.text);
        if (!pattern.ok())
          return pattern.status().Within(std::string(kNodeList) + ":" + std::to_string(line.number));
        allowed = allowed || FitsPattern(pattern->Slashed(), declared.Slashed());
      }
    }
    if (!allowed)
      return Status(Code::kFailedPrecondition,
                    "sysctl " + declared.Text() +
                        " is not on the list of this build; to allow it on this node, add a line \"" +
                        declared.Text() + "\" to " + std::string(kNodeList));
  }
  if (declared.PerPort()) return declared.For(target.port->netdev);
  return declared;
}

class Sysctl final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "sysctl.<name>",
        .code = "RW-1110",
        .help = "A kernel parameter; with {netdev} in its name, that of each port.",
        .why =
            "With several rails in one subnet the kernel answers ARP for any of its addresses on any port "
            "and "
            "drops what comes in on the \"wrong\" one, unless arp_ignore is 1, arp_announce 2 and rp_filter "
            "0 "
            "or 2. For those the greater of conf.all and the interface counts, and that is what is compared.",
        .targets = TargetKind::kNode,
        .syntax =
            "as the kernel takes it: whole numbers, several divided by blanks; names outside the list of "
            "this "
            "build need a line in /etc/railwright/sysctl.allow on the node",
        .default_value = "the kernel's",
        .interface = "/proc/sys",
        .source =
            "kernel Documentation/networking/ip-sysctl.rst, admin-guide/sysctl; include/linux/inetdevice.h",
        .disruption = Disruption::kTrafficBlip,
        // Writes through another mount of /proc, and those of the kernel itself, give no event.
        .noticed = {.by_event = true,
                    .source = "inotify on /proc/sys",
                    .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 120,
        .likely_owners = {"systemd-sysctl", "tuned", "NetworkManager", "kubelet", "docker"},
        .recorded = KnownSysctlParams()};
    return info;
  }

  TargetKind TargetsOf(std::string_view param) const override {
    const auto name = SysctlName::Parse(param);
    return name.ok() && name->PerPort() ? TargetKind::kPort : TargetKind::kNode;
  }

  std::string CanonicalParam(std::string_view param) const override {
    const auto name = SysctlName::Parse(param);
    return name.ok() ? name->Text() : std::string(param);
  }

  Result<std::string> Canonical(std::string_view param, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const SysctlName name, SysctlName::Parse(param));
    const KnownSysctl* known = FindKnownSysctl(name);
    // A name that this build does not list may be allowed by a node's own file, which only the node can read;
    // one that is a typing error away from a listed name is taken for that error.
    if (known == nullptr) {
      if (const auto meant = MistypedSysctl(name); !meant.empty())
        return Status(Code::kInvalidArgument,
                      "unknown sysctl " + Quoted(name.Text()) + "; did you mean " + Quoted(meant) + "?");
    }
    auto canonical = CanonicalSysctlValue(known, value);
    if (!canonical.ok()) return canonical.status().Within(name.Text());
    return canonical;
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_ASSIGN_OR_RETURN(const SysctlName name, Resolve(machine, target));
    auto own = machine.Get(PathOf(name));
    if (!own.ok()) {
      if (own.status().code() != Code::kNotFound) return own.status();
      // A missing interface is an error; a parameter that "all" lacks too is one that this kernel does not
      // have.
      if (IsOneInterface(name)) {
        const auto all = machine.Get(PathOf(name.For("all")));
        if (all.ok() || all.status().code() != Code::kNotFound) return own.status();
      }
      return Observation::NotApplicable(
          "NoSuchSysctl", PathOf(name) + ": this kernel or network namespace has no such parameter");
    }
    const KnownSysctl* known = FindKnownSysctl(name);
    if (known == nullptr || known->combination == Combination::kNone || !IsOneInterface(name))
      return Observation::Value(OneBlank(*own));
    RW_ASSIGN_OR_RETURN(const std::string all, machine.Get(PathOf(name.For("all"))));
    RW_RETURN_IF_ERROR(ParseWhole(*own, 0, UINT32_MAX).status().Within(PathOf(name)));
    RW_RETURN_IF_ERROR(ParseWhole(all, 0, UINT32_MAX).status().Within(PathOf(name.For("all"))));
    const Effective value{Combine(known->combination, *own, all), *own, all};
    Observation observed = Observation::Value(value.Text());
    if (value.effective != *own)
      observed.message = name.For("all").Text() + "=" + all + " wins over " + std::string(name.Interface()) +
                         "'s own " + *own + ": effective " + value.effective;
    return observed;
  }

  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    if (observed.kind != Observation::Kind::kValue) return false;
    const Effective seen = Effective::Parse(observed.value);
    const Effective wanted = Effective::Parse(desired);
    // An original that "all" had overruled is back when the interface holds its own value again.
    if (!wanted.all.empty()) return seen.own == wanted.own;
    return seen.effective == wanted.effective;
  }

  // A name with an interface in it and one with {netdev} may be the same parameter.
  std::optional<WritePlace> WritesTo(const Target& target, std::string_view desired,
                                     const Observation&) const override {
    auto name = SysctlName::Parse(target.param);
    if (!name.ok()) return std::nullopt;
    if (name->PerPort()) name = name->For(target.port->netdev);
    return WritePlace{PathOf(*name), Effective::Parse(desired).own, {}};
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_ASSIGN_OR_RETURN(const SysctlName name, Resolve(machine, target));
    if (value.empty())
      return Status(Code::kInvalidArgument, "sysctl " + name.Text() + " cannot be made absent");
    if (IsOneInterface(name)) RW_RETURN_IF_ERROR(RefuseForeignPort(target, name));
    const KnownSysctl* known = FindKnownSysctl(name);
    const Effective wanted = Effective::Parse(value);
    if (known != nullptr && known->combination != Combination::kNone && IsOneInterface(name) &&
        wanted.all.empty()) {
      const SysctlName all = name.For("all");
      RW_ASSIGN_OR_RETURN(const std::string above, machine.Get(PathOf(all)));
      const std::string effective = Combine(known->combination, wanted.own, above);
      if (effective != wanted.own)
        return Status(Code::kFailedPrecondition, all.Text() + "=" + above + " wins: effective " + effective +
                                                     " whatever " + std::string(name.Interface()) +
                                                     " holds; declare sysctl." + all.Text() + " too");
    }
    return machine.Set(PathOf(name), wanted.own);
  }

  Disruption DisruptionOf(const Target& target, std::string_view, std::string_view to) const override {
    const auto name = SysctlName::Parse(target.param);
    if (!name.ok()) return info().disruption;
    const std::string& last = name->components.back();
    // Strict reverse-path filtering and IPv6 going away drop packets in flight; nothing else does.
    const bool drops = (last == "rp_filter" && to == "1") || last == "disable_ipv6";
    return drops ? Disruption::kTrafficBlip : Disruption::kNone;
  }

  std::vector<std::string> BlastSet(const Target& target) const override {
    const auto name = SysctlName::Parse(target.param);
    if (name.ok() && !name->PerPort() && IsOneInterface(*name)) return {std::string(name->Interface())};
    return Setting::BlastSet(target);
  }

 private:
  // A name with an interface in it must not be a way round "only fabric ports are written".
  static Status RefuseForeignPort(const Target& target, const SysctlName& name) {
    if (target.port != nullptr && name.Interface() == target.port->netdev) return Ok();
    if (target.facts != nullptr) {
      for (const auto& port : target.facts->ports)
        if (port.port.role == PortRole::kFabric && port.netdev == name.Interface()) return Ok();
    }
    return Status(Code::kFailedPrecondition,
                  std::string(name.Interface()) +
                      " is not the interface of a declared fabric port, so sysctl " + name.Text() +
                      " is not written");
  }
};

}  // namespace

std::unique_ptr<const Setting> make_sysctl() { return std::make_unique<Sysctl>(); }

}  // namespace railwright
