#include "agent/reconcile/diff.h"

#include "agent/reconcile/text.h"

namespace railwright {
namespace {

// "Profile/roce-lossless (site.yaml:14:5)".
std::string Where(const Origin& origin) {
  if (origin.document.empty()) return origin.place.empty() ? "the desired state" : origin.place;
  return origin.place.empty() ? origin.document : origin.document + " (" + origin.place + ")";
}

std::string Quoted(const std::string& value) { return value.empty() ? "nothing" : OneLine(value); }

Finding Base(const Wish& wish) {
  Finding finding;
  finding.key = wish.spec.key;
  finding.target = wish.spec.target;
  finding.desired = Shown(!wish.desired.empty()     ? wish.desired
                          : !wish.canonical.empty() ? wish.canonical
                                                    : wish.spec.value);
  finding.mode = wish.spec.mode;
  finding.origin = wish.spec.origin;
  finding.code = wish.setting != nullptr ? wish.setting->info().code : "RW-9002";
  return finding;
}

Finding Unknown(Finding finding, std::string reason, std::string message, std::string fix) {
  finding.verdict = Verdict::kUnknown;
  finding.reason = std::move(reason);
  finding.message = OneLine(message, 1024);
  finding.fix = std::move(fix);
  return finding;
}

}  // namespace

Finding Judge(const Wish& wish, const Sight& sight, const std::string& prepare_error) {
  Finding finding = Base(wish);
  const std::string subject = Subject(wish.spec.key, wish.spec.target);
  const std::string where = Where(wish.spec.origin);

  if (wish.setting == nullptr)
    return Unknown(std::move(finding), "UnknownSetting", wish.error.message(),
                   "update railwright-agent on this node, or take the key out of " + where);
  if (!wish.error.ok())
    return Unknown(std::move(finding), "InvalidValue", subject + ": " + wish.error.message(),
                   "correct the value in " + where);
  if (!wish.unbound.empty())
    return Unknown(std::move(finding), "PortNotFound", wish.unbound,
                   wish.restore
                       ? "declare the port until the value is put back, or apply without --restore"
                       : "compare the port's selector with `ip -br link` on the node; correct the Cluster "
                         "document, or find out why the card is gone");
  if (!wish.desired_error.ok())
    return Unknown(std::move(finding), "InvalidValue", subject + ": " + wish.desired_error.message(),
                   "correct the value in " + where + ", or what it refers to in the Cluster document");
  if (!sight.looked)
    return Unknown(std::move(finding), "NotObserved", subject + " has not been looked at yet",
                   "wait for the first pass");

  finding.evidence = sight.trace.Evidence();
  if (!sight.error.ok()) {
    std::string message = subject + ": " + sight.error.ToString();
    if (!prepare_error.empty()) message += "; preparing it: " + prepare_error;
    return Unknown(std::move(finding), "ReadFailed", message,
                   "read it by hand on the node: the path stands in the message; `railctl explain RW-9001`");
  }

  const Observation& seen = sight.observation;
  finding.observed = Shown(seen.value);
  if (seen.kind == Observation::Kind::kNotApplicable) {
    finding.verdict = Verdict::kNotApplicable;
    finding.reason = seen.reason;
    finding.message = OneLine(seen.message, 1024);
    return finding;
  }
  if (!seen.message.empty()) finding.evidence.push_back(OneLine(seen.message));
  if (wish.restore && wish.restore->kind == Original::Kind::kUnknown)
    return Unknown(
        std::move(finding), "OriginalUnknown",
        subject + " is to be restored, but its value before Railwright's first write could not be read",
        "set it by hand, or leave it as it is");
  if (seen.pending_reboot) {
    finding.verdict = Verdict::kPending;
    finding.reason = "NeedsReboot";
    finding.message = subject + ": " + Quoted(seen.value) + " now; " + Quoted(wish.desired) +
                      " is set and takes effect at the next boot";
    finding.fix = "drain the node, then reboot it";
    return finding;
  }
  if (sight.satisfied) {
    finding.verdict = Verdict::kCompliant;
    finding.message =
        subject + (seen.value.empty() ? " is not set" : " is " + OneLine(seen.value)) + ", as declared";
    return finding;
  }
  finding.message = subject +
                    (seen.kind == Observation::Kind::kAbsent ? " is not set" : " is " + Quoted(seen.value)) +
                    "; " + where + " declares " + Quoted(wish.desired);
  if (wish.restore)
    finding.message = subject + " is " + Quoted(seen.value) + "; before Railwright's first write it was " +
                      Quoted(wish.desired);
  if (!seen.message.empty()) finding.message += " (" + OneLine(seen.message, 512) + ")";
  finding.verdict = Verdict::kDrifted;
  finding.reason = "Differs";
  const std::string file = wish.spec.origin.place.substr(0, wish.spec.origin.place.find(':'));
  finding.fix = "a running agent corrects it in its next pass; where none runs: `railctl apply -f " +
                (file.empty() ? "FILE" : file) + "`, or by hand";
  if (wish.setting->info().effect == Effect::kNextBoot || !seen.stored_in.empty())
    finding.fix += "; it is stored, and takes effect at the next boot";
  if (wish.setting->info().effect == Effect::kNeedsReboot) {
    finding.verdict = Verdict::kPending;
    finding.reason = "NeedsReboot";
    finding.fix = "set it in the boot configuration, drain the node, then reboot it: `railctl explain " +
                  wish.spec.key + "`";
  }
  return finding;
}

std::vector<Finding> CompleteFindings(const Check& check, std::vector<Finding> findings, const Trace& trace) {
  if (findings.empty()) {
    Finding finding;
    finding.reason = "NoChecksRun";
    finding.message = check.info().key + " gave no finding";
    findings.push_back(std::move(finding));
  }
  for (Finding& finding : findings) {
    finding.key = check.info().key;
    if (finding.code.empty()) finding.code = check.info().code;
    finding.observed = Shown(finding.observed);
    finding.message = OneLine(finding.message, 1024);
    if (finding.evidence.empty()) finding.evidence = trace.Evidence();
    for (std::string& line : finding.evidence) line = OneLine(line);
  }
  return findings;
}

}  // namespace railwright
