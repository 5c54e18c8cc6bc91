// service.<unit>: whether a unit of systemd runs, and whether it is started at boot.
#include <algorithm>

#include "core/decode/fields.h"
#include "core/decode/unit_name.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::string_view kNodeList = "/etc/railwright/service.allow";

Status CheckName(std::string_view unit) {
  if (IsUnitName(unit)) return Ok();
  return Status(Code::kInvalidArgument, "unit name " + Quoted(unit) +
                                            "; allowed: letters, digits and : - _ . @, with a suffix such as "
                                            ".service (added when there is none)");
}

// A unit that neither the build's nor the node's list names is not even asked for.
Status CheckAllowed(const Machine& machine, const std::string& unit) {
  RW_RETURN_IF_ERROR(CheckName(unit));
  if (FindKnownUnit(unit) != nullptr) return Ok();
  const auto list = machine.Get("/file" + std::string(kNodeList));
  if (!list.ok() && list.status().code() != Code::kNotFound) return list.status().Within(kNodeList);
  if (list.ok())
    for (const auto& line : ListFileLines(*list))
      if (FitsPattern(FullUnitName(line.text), unit)) return Ok();
  return Status(Code::kFailedPrecondition,
                "unit " + unit +
                    " is not on the list of this build; to allow it on this node, add a line \"" + unit +
                    "\" to " + std::string(kNodeList));
}

// systemd's ActiveState in the words of a wish; those that are neither stay as they are.
std::string Shown(const std::string& active) {
  if (active == "active" || active == "reloading") return "running";
  return active == "inactive" ? "stopped" : active;
}

// What was seen, or wished, as two words: `running enabled`. "failed" is as little running as "stopped".
struct UnitWords {
  std::string active, enabled;
};
UnitWords Split(std::string_view text) {
  UnitWords two;
  for (const std::string_view word : Words(text)) {
    const bool active = word == "running" || word == "stopped" || word == "failed" || word == "activating" ||
                        word == "deactivating" || word == "maintenance" || word == "refreshing";
    (active ? two.active : two.enabled) = word;
  }
  return two;
}

bool SameActive(std::string_view wish, std::string_view seen) {
  return wish == seen || (wish == "stopped" && seen == "failed");
}

class Service final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "service.<unit>",
        .code = "RW-1153",
        .help = "Whether a unit of systemd runs, and whether it is started at boot.",
        .why =
            "lldpad and irqbalance undo settings behind everybody's back; without nvidia-fabricmanager the "
            "GPUs "
            "of an NVSwitch node do not start (CUDA error 802).",
        .targets = TargetKind::kNode,
        .syntax =
            "`running` or `stopped`, and/or `enabled`, `disabled` or `masked`: `running enabled`; units "
            "outside the list of this build need a line in /etc/railwright/service.allow on the node",
        .default_value = "what the packages made it",
        .interface = "systemd over D-Bus",
        .source = "org.freedesktop.systemd1(5), systemd.unit(5)",
        .disruption = Disruption::kFunctionReset,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 25,
        .likely_owners = {"systemctl", "ansible", "dpkg"},
        .recorded = KnownUnits()};
    return info;
  }

  std::string CanonicalParam(std::string_view param) const override {
    std::string full = FullUnitName(param);
    return IsUnitName(full) ? full : std::string(param);
  }

  Result<std::string> Canonical(std::string_view param, std::string_view value) const override {
    RW_RETURN_IF_ERROR(CheckName(CanonicalParam(param)));
    RW_ASSIGN_OR_RETURN(const UnitWish wish, UnitWish::Parse(value));
    return wish.Text();
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    const std::string unit = CanonicalParam(target.param);
    RW_RETURN_IF_ERROR(CheckAllowed(machine, unit));
    const std::string path = "/dbus/unit/" + unit;
    const auto text = machine.Get(path);
    if (!text.ok() && text.status().code() == Code::kNotFound)
      return Observation::NotApplicable("NoSystemd", text.status().message());
    if (!text.ok()) return text.status();
    const auto fields = Fields::Parse(*text);
    if (!fields.ok()) return fields.status().Within(path);
    const std::string *load = fields->Find("load"), *active = fields->Find("active"),
                      *enabled = fields->Find("enabled"), *sub = fields->Find("sub");
    if (load == nullptr || active == nullptr)
      return Status(Code::kInternal, path + ": " + Quoted(*text) + " tells no state");
    if (*load == "not-found" && *active == "inactive") return Observation::Absent();
    Observation observed =
        Observation::Value(Shown(*active) + (enabled != nullptr ? " " + *enabled : std::string()));
    if (*active != "active" && *active != "inactive")
      observed.message = unit + " is " + *active + (sub != nullptr ? " (" + *sub + ")" : std::string()) +
                         "; look at `journalctl -u " + unit + "`";
    else if (*load == "error" || *load == "bad-setting")
      observed.message = unit + ": systemd cannot read its file; look at `systemctl status " + unit + "`";
    else if (enabled != nullptr && *enabled == "static")
      observed.message = unit + " has no [Install] section: it is started by what needs it";
    else if (enabled != nullptr && *enabled == "generated")
      observed.message = unit + " comes from a script of /etc/init.d";
    return observed;
  }

  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    const UnitWords wish = Split(desired);
    // A unit that is not there does not run and is not started at boot.
    if (observed.kind == Observation::Kind::kAbsent)
      return wish.active != "running" && (wish.enabled.empty() || wish.enabled == "disabled");
    if (observed.kind != Observation::Kind::kValue) return false;
    const UnitWords seen = Split(observed.value);
    return (wish.active.empty() || SameActive(wish.active, seen.active)) &&
           (wish.enabled.empty() || wish.enabled == seen.enabled);
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    const std::string unit = CanonicalParam(target.param);
    RW_RETURN_IF_ERROR(CheckAllowed(machine, unit));
    const std::string path = "/dbus/unit/" + unit;
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(path));
    RW_ASSIGN_OR_RETURN(const Fields now, Fields::Parse(text));
    const std::string *load = now.Find("load"), *active = now.Find("active"), *enabled = now.Find("enabled");
    const bool there = load == nullptr || *load != "not-found";
    if (value.empty() && !there) return Ok();
    const UnitWords wish = Split(value);
    if (value.empty() || (wish.active.empty() && wish.enabled.empty()))
      return Status(Code::kInvalidArgument, Quoted(value) + " is no state of " + unit);
    if (!there && (wish.active == "running" || !wish.enabled.empty()))
      return Status(Code::kFailedPrecondition,
                    "there is no unit " + unit + " here; install the package that brings it");
    Fields wanted;
    const bool run = wish.active == "running";
    if (!wish.active.empty() && (active == nullptr || !SameActive(wish.active, Shown(*active))))
      wanted.Set("active", run ? "active" : "inactive");
    // Words of systemd that are no wish ("static") are what an original may hold; they are not written.
    const bool writable = wish.enabled == "enabled" || wish.enabled == "disabled" || wish.enabled == "masked";
    if (writable && (enabled == nullptr || *enabled != wish.enabled)) wanted.Set("enabled", wish.enabled);
    return wanted.empty() ? Ok() : machine.Set(path, wanted.Text());
  }

  // Only starting and stopping disturbs; what a unit outside the list does is not known.
  Disruption DisruptionOf(const Target& target, std::string_view from, std::string_view to) const override {
    const UnitWords before = Split(from), after = Split(to);
    if (after.active.empty() || SameActive(after.active, before.active)) return Disruption::kNone;
    const KnownUnit* known = FindKnownUnit(CanonicalParam(target.param));
    return known != nullptr ? known->disruption : info().disruption;
  }

  std::vector<std::string> BlastSet(const Target& target) const override {
    const KnownUnit* known = FindKnownUnit(CanonicalParam(target.param));
    const Reach reach = known != nullptr ? known->reach : Reach::kEveryPort;
    std::vector<std::string> blast;
    if (target.facts == nullptr || reach == Reach::kNoPort) return blast;
    for (const BoundPort& port : target.facts->ports)
      if (!port.netdev.empty() && (reach == Reach::kEveryPort || !port.ibdev.empty()))
        blast.push_back(port.netdev);
    return blast;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_service() { return std::make_unique<Service>(); }

}  // namespace railwright
