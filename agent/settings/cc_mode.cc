// cc.mode: which algorithm a card's congestion control is.
#include "agent/settings/dcqcn_place.h"
#include "core/decode/programmable_cc.h"

namespace railwright {
namespace {

std::string Word(bool programmable) { return programmable ? "programmable" : "dcqcn"; }

class CcMode final : public Setting {
 public:
  const SettingInfo& info() const override {
    static const SettingInfo info{
        .key = "cc.mode",
        .code = "RW-1175",
        .help = "Algorithm of a card's congestion control.",
        .why =
            "A card that lets a user's program control congestion may run that instead of DCQCN, whose "
            "registers then mean nothing. Mixed in one fabric, the two do not share its queues fairly.",
        .targets = TargetKind::kPort,
        .syntax = "`dcqcn` or `programmable`",
        .default_value = "dcqcn",
        .interface = "NVCONFIG USER_PROGRAMMABLE_CC; configfs bnxt_re cc_mode",
        .source = "mstflint mlxconfig database; DOCA PCC",
        .disruption = Disruption::kFunctionReset,
        .noticed = {.by_event = false, .source = "scan", .worst = std::chrono::minutes(10)},
        .effect = Effect::kObserveOnly,
        .order = 144,
        .likely_owners = {"mlxconfig", "doca_spcx_cc"}};
    return info;
  }

  Result<std::string> Canonical(std::string_view, std::string_view value) const override {
    const std::string_view word = Trimmed(value);
    if (word == "dcqcn" || word == "programmable") return std::string(word);
    return Status(Code::kInvalidArgument, Quoted(word) + "; allowed: exactly one of dcqcn, programmable");
  }

  Result<Observation> Observe(const Machine& machine, const Target& target) const override {
    const BoundPort& port = *target.port;
    if (port.ibdev.empty()) return ProveNoRdmaDevice(machine, port, "it has no congestion control");
    RW_RETURN_IF_ERROR(EntriesOf(machine, port).status());
    if (port.bdf.empty()) return ProveNoCard(machine, port, "NoDcqcn");
    const auto group = machine.List(kBnxtGroup);
    if (!group.ok() && group.status().code() != Code::kNotFound) return group.status();
    if (group.ok() && Holds(*group, port.ibdev)) return OfBnxt(machine, port);
    const std::string path = "/nvconfig/" + port.bdf + "/USER_PROGRAMMABLE_CC";
    const auto text = machine.Get(path);
    if (text.ok()) return Judge(*text, path, target.wish);
    if (text.status().code() == Code::kNotFound) {
      Observation seen = Observation::Value(Word(false));
      seen.message = "this firmware does not know USER_PROGRAMMABLE_CC, so DCQCN is all it has";
      return seen;
    }
    if (text.status().code() == Code::kUnimplemented)
      return Status(
          Code::kUnimplemented,
          text.status().message() +
              ": the firmware's configuration cannot be read here; mstconfig (package mstflint) reads it",
          text.status().error_number());
    return text.status();
  }

  Status Apply(Machine&, const Target&, std::string_view value) const override {
    return Status(Code::kUnimplemented, "cc.mode is only read; to bring it to " + Quoted(value) +
                                            " set nic.nvconfig.USER_PROGRAMMABLE_CC, and reset the card");
  }

 private:
  static Result<Observation> Judge(const std::string& text, const std::string& path, std::string_view wish) {
    const auto read = ReadProgrammableCc(text);
    if (!read.ok()) return read.status().Within(path);
    if (!read->current)
      return Status(Code::kInternal,
                    path + ": " + Quoted(text) + " does not tell what the card runs with now");
    Observation seen = Observation::Value(Word(*read->current));
    if (read->next && *read->next != *read->current) {
      seen.message = "USER_PROGRAMMABLE_CC is set for the next reset of the card: " + Word(*read->next);
      seen.pending_reboot = wish == Word(*read->next);
    }
    return seen;
  }

  // Both of Broadcom's modes are DCQCN, of one marking each.
  static Result<Observation> OfBnxt(const Machine& machine, const BoundPort& port) {
    const std::string path = std::string(kBnxtGroup) + "/" + port.ibdev + "/ports/1/cc/cc_mode";
    RW_ASSIGN_OR_RETURN(const std::string text, machine.Get(path));
    const auto mode = ReadDcqcn(text);
    if (!mode.ok()) return mode.status().Within(path);
    if (*mode != "0" && *mode != "1")
      return Status(Code::kInternal, path + " is " + *mode + ", which is neither 0 nor 1");
    Observation seen = Observation::Value(Word(false));
    seen.message = *mode == "0" ? "cc_mode 0: DCQCN-D, deterministic marking"
                                : "cc_mode 1: DCQCN-P, probabilistic marking";
    return seen;
  }
};

}  // namespace

std::unique_ptr<const Setting> make_cc_mode() { return std::make_unique<CcMode>(); }

}  // namespace railwright
