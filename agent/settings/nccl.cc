// nccl.<VAR>: a variable in /etc/nccl.conf, the system-wide defaults of NCCL. Other lines are not touched.
#include "core/decode/nccl_conf.h"
#include "core/decode/values.h"
#include "railwright/setting.h"

namespace railwright {
namespace {

constexpr std::string_view kPath = "/file/etc/nccl.conf";

Result<std::string> ReadConf(const Machine& machine) {
  auto text = machine.Get(kPath);
  if (!text.ok() && text.status().code() == Code::kNotFound) return std::string();
  return text;
}

std::string LineNumbers(const std::vector<int>& lines) {
  std::vector<std::string> texts;
  for (const int line : lines) texts.push_back(std::to_string(line));
  return (texts.size() == 1 ? "line " : "lines ") + Joined(texts, ", ");
}

class Nccl final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "nccl.<VAR>",
        .code = "RW-1120",
        .help = "An NCCL variable in /etc/nccl.conf.",
        .why =
            "NCCL marks its packets with NCCL_IB_TC; without it RDMA traffic travels in the lossy class "
            "whatever "
            "the switches and ports do. The environment of a job and ~/.nccl.conf win over this file.",
        .targets = TargetKind::kNode,
        .syntax = "VAR is NCCL_…; 1…1023 printable characters; numbers in the range that NCCL documents",
        .default_value = "not set",
        .interface = "/etc/nccl.conf",
        .source = "NCCL user guide, Environment Variables; NCCL src/misc/param.cc",
        .disruption = Disruption::kNone,
        .noticed = {.by_event = true, .source = "inotify", .worst = std::chrono::milliseconds(1000)},
        .effect = Effect::kRuntime,
        .order = 170,
        .likely_owners = {"ansible", "puppet", "cloud-init"},
        .recorded = {"NCCL_DEBUG", "NCCL_IB_GID_INDEX", "NCCL_IB_HCA", "NCCL_IB_TC", "NCCL_SOCKET_IFNAME"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view param, std::string_view value) const override {
    if (!IsNcclName(param))
      return Status(Code::kInvalidArgument,
                    Quoted(param) + " is no NCCL variable; allowed: NCCL_ and capital letters, digits, _");
    return CanonicalNcclValue(param, value);
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    RW_RETURN_IF_ERROR(CheckParam(target));
    RW_ASSIGN_OR_RETURN(const std::string text, ReadConf(machine));
    const NcclVariable variable = FindNcclVariable(text, target.param);
    Observation observed = variable.found ? Observation::Value(variable.value) : Observation::Absent();
    if (variable.found && variable.value != Trimmed(variable.value))
      observed.message = "/etc/nccl.conf:" + std::to_string(variable.line) +
                         ": NCCL takes the blank or CR at the end as part of the value";
    else if (!variable.repeated.empty())
      observed.message = "/etc/nccl.conf: NCCL takes line " + std::to_string(variable.line) +
                         " and ignores " + LineNumbers(variable.repeated);
    else if (!variable.unread.empty())
      observed.message = "/etc/nccl.conf: NCCL does not read " + LineNumbers(variable.unread) +
                         ", since there are blanks around the name";
    return observed;
  }

  Status Apply(Machine& machine, const Target& target, std::string_view value) const override {
    RW_RETURN_IF_ERROR(CheckParam(target));
    if (value.find('\n') != std::string_view::npos)
      return Status(Code::kInvalidArgument, target.param + ": a value cannot hold a line break");
    RW_ASSIGN_OR_RETURN(const std::string text, ReadConf(machine));
    const std::string wanted =
        value.empty() ? WithoutNcclVariable(text, target.param) : WithNcclVariable(text, target.param, value);
    return wanted == text ? Ok() : machine.Set(kPath, wanted);
  }

 private:
  static Status CheckParam(const Target& target) {
    if (IsNcclName(target.param)) return Ok();
    return Status(Code::kInvalidArgument, Quoted(target.param) + " is no NCCL variable");
  }
};

}  // namespace

std::unique_ptr<const Setting> make_nccl() { return std::make_unique<Nccl>(); }

}  // namespace railwright
