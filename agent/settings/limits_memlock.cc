// limits.memlock: how much memory a process may lock. RDMA registers memory by locking it.
#include <algorithm>
#include <map>

#include "core/decode/fields.h"
#include "core/decode/memlock.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::string_view kPamFile = "/etc/security/limits.d/95-railwright-memlock.conf";
constexpr std::string_view kSystemdFile = "/etc/systemd/system.conf.d/95-railwright-memlock.conf";
constexpr std::string_view kUnset = "unset";

Result<std::string> ReadFile(const Machine& machine, std::string_view path) {
  auto text = machine.Get("/file" + std::string(path));
  if (!text.ok() && text.status().code() == Code::kNotFound) return std::string();
  return text;
}

// Adds the *.conf files of the folders, in the order of their names; of one name the first folder's counts.
Status AddFolders(const Machine& machine, const std::vector<std::string>& folders,
                  std::vector<NamedText>& files) {
  std::map<std::string, std::string> paths;
  for (const auto& folder : folders) {
    auto names = machine.List("/file" + folder);
    if (!names.ok() && names.status().code() != Code::kNotFound) return names.status();
    if (!names.ok()) continue;
    for (const auto& name : *names)
      if (name.ends_with(".conf") && !name.starts_with('.')) paths.emplace(name, folder + "/" + name);
  }
  for (const auto& [name, path] : paths) {
    RW_ASSIGN_OR_RETURN(std::string text, ReadFile(machine, path));
    files.push_back({path, std::move(text)});
  }
  return Ok();
}

// What counts, and what our own two files hold.
struct Limits {
  std::string soft, hard, systemd_soft, systemd_hard;  ///< canonical, "" = unset
  std::string own_pam, own_systemd;                    ///< canonical, "none", or "other": not as we write it

  bool All(std::string_view limit) const {
    return soft == limit && hard == limit && systemd_soft == limit && systemd_hard == limit;
  }
  // "unlimited" when our files say it and nothing overrides them; else every part, so that it can be put
  // back.
  std::string Text() const {
    if (!own_pam.empty() && own_pam == own_systemd && All(own_pam)) return own_pam;
    const auto shown = [](const std::string& limit) { return limit.empty() ? std::string(kUnset) : limit; };
    Fields fields;
    fields.Set("soft", shown(soft));
    fields.Set("hard", shown(hard));
    fields.Set("systemd", systemd_soft == systemd_hard ? shown(systemd_soft)
                                                       : shown(systemd_soft) + ":" + shown(systemd_hard));
    fields.Set("own", own_pam == own_systemd ? own_pam : own_pam + "/" + own_systemd);
    return fields.Text();
  }
};

std::string OwnLimit(const std::string& text, std::string_view limit,
                     std::string (*write)(std::string_view)) {
  if (text.empty()) return "none";
  return !limit.empty() && write(limit) == text ? std::string(limit) : "other";
}

struct Seen {
  Limits limits;
  std::string message;
};

Result<Seen> ReadAll(const Machine& machine) {
  std::vector<NamedText> pam, systemd;
  for (auto [path, files] :
       {std::pair{"/etc/security/limits.conf", &pam}, {"/etc/systemd/system.conf", &systemd}}) {
    RW_ASSIGN_OR_RETURN(std::string text, ReadFile(machine, path));
    files->push_back({path, std::move(text)});
  }
  RW_RETURN_IF_ERROR(AddFolders(machine, {"/etc/security/limits.d"}, pam));
  // systemd-system.conf(5): /etc before /run before /usr/lib for files of one name.
  RW_RETURN_IF_ERROR(AddFolders(
      machine, {"/etc/systemd/system.conf.d", "/run/systemd/system.conf.d", "/usr/lib/systemd/system.conf.d"},
      systemd));
  const PamMemlock sessions = ReadPamMemlock(pam);
  const SystemdMemlock services = ReadSystemdMemlock(systemd);
  Seen seen;
  seen.limits = {sessions.soft, sessions.hard, services.soft, services.hard, "none", "none"};
  for (const NamedText& file : pam)
    if (file.path == kPamFile)
      seen.limits.own_pam = OwnLimit(file.text, ReadPamMemlock({file}).soft, PamMemlockFile);
  for (const NamedText& file : systemd)
    if (file.path == kSystemdFile)
      seen.limits.own_systemd = OwnLimit(file.text, ReadSystemdMemlock({file}).soft, SystemdMemlockFile);

  const auto add = [&](const std::string& sentence) {
    seen.message += (seen.message.empty() ? "" : "; ") + sentence;
  };
  const auto foreign = [](const std::string& place, std::string_view own) {
    return !place.empty() && !place.starts_with(own);
  };
  if (foreign(sessions.hard_from, kPamFile))
    add("the hard limit of sessions comes from " + sessions.hard_from);
  if (foreign(sessions.soft_from, kPamFile))
    add("the soft limit of sessions comes from " + sessions.soft_from);
  if (foreign(services.from, kSystemdFile)) add("the limit of services comes from " + services.from);
  for (const auto& exception : sessions.exceptions) add("own limit: " + exception);
  return seen;
}

class LimitsMemlock final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "limits.memlock",
        .code = "RW-1140",
        .help = "How much memory sessions and services may lock.",
        .why =
            "Registering memory with an RDMA device locks it; beyond the limit ibv_reg_mr fails with ENOMEM. "
            "limits.d reaches sessions only, so services get it from systemd. It holds for what starts "
            "afterwards; systemd takes its part at the next `systemctl daemon-reexec`.",
        .targets = TargetKind::kNode,
        .syntax = "`unlimited`, or a number of KiB",
        .default_value = "8192 KiB",
        .interface = "/etc/security/limits.d, /etc/systemd/system.conf.d",
        .source = "limits.conf(5), pam_limits(8), systemd-system.conf(5), getrlimit(2)",
        .disruption = Disruption::kNone,
        .noticed = {.by_event = true, .source = "inotify", .worst = std::chrono::milliseconds(0)},
        .effect = Effect::kRuntime,
        .order = 160,
        .likely_owners = {"ansible", "puppet", "slurm"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    return CanonicalMemlock(value);
  }

  Result<Observation> Observe(const Machine& machine, const Target&) const override {
    RW_ASSIGN_OR_RETURN(Seen seen, ReadAll(machine));
    Observation observed = Observation::Value(seen.limits.Text());
    observed.message = std::move(seen.message);
    return observed;
  }

  bool Satisfied(const Target&, std::string_view desired, const Observation& observed) const override {
    if (observed.kind != Observation::Kind::kValue) return false;
    if (observed.value == desired) return true;
    // A site's own files may say the same as ours would.
    const auto parts = Fields::Parse(observed.value);
    if (!parts.ok()) return false;
    for (const auto name : {"soft", "hard", "systemd"}) {
      const auto* value = parts->Find(name);
      if (value == nullptr || *value != desired) return false;
    }
    return true;
  }

  Status Apply(Machine& machine, const Target&, std::string_view value) const override {
    std::string pam, systemd;
    const auto parts = Fields::Parse(value);
    const std::string* own = parts.ok() ? parts->Find("own") : nullptr;
    if (value.empty()) {
      pam = systemd = "none";
    } else if (own != nullptr) {
      pam = own->substr(0, own->find('/'));
      systemd = own->find('/') == std::string::npos ? pam : own->substr(own->find('/') + 1);
    } else {
      RW_ASSIGN_OR_RETURN(pam, CanonicalMemlock(value));
      systemd = pam;
    }
    RW_RETURN_IF_ERROR(Write(machine, kPamFile, pam, PamMemlockFile));
    RW_RETURN_IF_ERROR(Write(machine, kSystemdFile, systemd, SystemdMemlockFile));
    return Ok();
  }

 private:
  static Status Write(Machine& machine, std::string_view path, const std::string& limit,
                      std::string (*text)(std::string_view)) {
    if (limit == "other")
      return Status(Code::kFailedPrecondition,
                    std::string(path) +
                        " held what Railwright did not write; its text was not kept, so it is left alone");
    const std::string machine_path = "/file" + std::string(path);
    RW_ASSIGN_OR_RETURN(const std::string now, ReadFile(machine, path));
    const std::string wanted = limit == "none" ? std::string() : text(limit);
    return now == wanted ? Ok() : machine.Set(machine_path, wanted);
  }
};

}  // namespace

std::unique_ptr<const Setting> make_limits_memlock() { return std::make_unique<LimitsMemlock>(); }

}  // namespace railwright
