// file.<path>: a whole configuration file. Only paths that the build's list, or the node's own, allows.
#include "core/decode/config_file.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::string_view kNodeList = "/etc/railwright/file.allow";

Status NotAllowed(std::string_view path, std::string_view why) {
  return Status(Code::kFailedPrecondition, "file " + std::string(path) + " " + std::string(why));
}

// A file that is neither on the build's nor on the node's list is not even read: its content would travel to
// the controller as a finding.
Status CheckAllowed(const Machine& machine, std::string_view path) {
  RW_RETURN_IF_ERROR(CheckConfigPath(path));
  if (IsForbiddenConfigPath(path)) return NotAllowed(path, "is never managed, whatever a list says");
  if (IsKnownConfigPath(path)) return Ok();
  const auto list = machine.Get("/file" + std::string(kNodeList));
  if (!list.ok() && list.status().code() != Code::kNotFound) return list.status().Within(kNodeList);
  if (list.ok()) {
    for (const auto& line : ListFileLines(*list)) {
      if (!line.text.starts_with('/'))
        return Status(Code::kFailedPrecondition, std::string(kNodeList) + ":" + std::to_string(line.number) +
                                                     ": " + Quoted(line.text) + " does not begin with \"/\"");
      if (FitsPattern(line.text, path)) return Ok();
    }
  }
  return NotAllowed(path, "is on no list: this build allows " + KnownConfigPaths() +
                              "; to allow it on this node, add its line to " + std::string(kNodeList));
}

class File final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "file.<path>",
        .code = "RW-1121",
        .help = "A configuration file, whole.",
        .why =
            "Module options, udev names and boot-time sysctls live in files; the same file on every node is "
            "what "
            "makes a reboot harmless.",
        .targets = TargetKind::kNode,
        .syntax =
            "the content, at most 64 KiB of text; empty: the file must not exist. Paths outside the list of "
            "this build need a line in /etc/railwright/file.allow on the node",
        .default_value = "no such file",
        .interface = "files, written by rename",
        .source = "modprobe.d(5), modules-load.d(5), udev(7), sysctl.d(5)",
        .disruption = Disruption::kNone,
        .noticed = {.by_event = true, .source = "inotify", .worst = std::chrono::milliseconds(1000)},
        .effect = Effect::kRuntime,
        .order = 30,
        .likely_owners = {"ansible", "puppet", "cloud-init", "dpkg"},
        .recorded = {"/etc/modprobe.d/railwright.conf", "/etc/modules-load.d/railwright.conf",
                     "/etc/sysctl.d/90-railwright.conf", "/etc/udev/rules.d/70-railwright.rules"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view param, std::string_view value) const override {
    RW_RETURN_IF_ERROR(CheckConfigPath(param));
    if (IsForbiddenConfigPath(param))
      return Status(Code::kInvalidArgument, "file " + Quoted(param) + " is never managed; allowed: " +
                                                KnownConfigPaths() + ", and what a node's own list adds");
    auto canonical = CanonicalConfigText(param, value);
    if (!canonical.ok()) return canonical.status().Within(param);
    return canonical;
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_RETURN_IF_ERROR(CheckAllowed(machine, target.param));
    auto text = machine.Get("/file" + target.param);
    if (!text.ok()) {
      if (text.status().code() == Code::kNotFound) return Observation::Absent();
      return text.status();
    }
    if (text->size() > kConfigTextLimit)
      return Status(Code::kFailedPrecondition, target.param + " holds " + std::to_string(text->size()) +
                                                   " bytes, more than the 64 KiB that are compared");
    return Observation::Value(std::move(*text));
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_RETURN_IF_ERROR(CheckAllowed(machine, target.param));
    return machine.Set("/file" + target.param, value);
  }
};

}  // namespace

std::unique_ptr<const Setting> make_file() { return std::make_unique<File>(); }

}  // namespace railwright
