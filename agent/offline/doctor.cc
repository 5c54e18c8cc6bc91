#include <chrono>
#include <vector>

#include "agent/identity/identity_files.h"
#include "agent/offline/join.h"
#include "core/enrol/preflight.h"

namespace railwright::offline {
namespace {

using Json = nlohmann::ordered_json;
using enrol::PreflightStep;

PreflightStep Step(std::string what, const Status& status, std::string fine) {
  PreflightStep step;
  step.what = std::move(what);
  if (status.ok()) {
    step.verdict = Verdict::kCompliant;
    step.message = std::move(fine);
    return step;
  }
  // What could not be read is not known to be wrong.
  const bool unread = status.code() == Code::kPermissionDenied || status.code() == Code::kInternal;
  step.verdict = unread ? Verdict::kUnknown : Verdict::kDrifted;
  step.message = status.message();
  step.next = status.code() == Code::kPermissionDenied
                  ? "run as root, or as the user of the half on the network"
                  : "";
  return step;
}

// The worst of Drifted > Unknown > Compliant; nothing looked at is Unknown.
Verdict Worst(const std::vector<PreflightStep>& steps) {
  Verdict worst = steps.empty() ? Verdict::kUnknown : Verdict::kCompliant;
  for (const PreflightStep& step : steps)
    if (step.verdict == Verdict::kDrifted ||
        (step.verdict == Verdict::kUnknown && worst != Verdict::kDrifted))
      worst = step.verdict;
  return worst;
}

void PrintSteps(const std::vector<PreflightStep>& steps, Verdict worst, const Console& console) {
  Table table({{"VERDICT"}, {"LOOKED AT"}, {"WHAT WAS SEEN"}});
  for (const PreflightStep& step : steps)
    table.Add({VerdictCell(step.verdict, console.terminal), step.what, Printable(step.message)});
  console.out << table.Render(console.terminal) << "\n";
  const Cell verdict = VerdictCell(worst, console.terminal);
  console.out << Coloured(verdict.text, verdict.tone, console.terminal) << "\n";
  for (const PreflightStep& step : steps)
    if (!step.next.empty()) console.out << "next: " << Printable(step.what + ": " + step.next) << "\n";
}

}  // namespace

ExitCode Doctor(const DoctorOptions& options, const Console& console) {
  std::vector<PreflightStep> steps;
  const auto front = LoadFrontIdentity(options.state_dir);
  steps.push_back(
      Step("identity", front.status(),
           front.ok() ? front->cluster.text() + ", " + front->node + ", " + front->uuid.text() : ""));
  const auto trust = LoadNodeTrust(options.state_dir);
  if (trust.ok() && front.ok() && (trust->uuid != front->uuid || trust->cluster != front->cluster))
    steps.push_back(Step(
        "signers",
        Status(Code::kDataLoss, "trust/ is of " + trust->node + " (" + trust->uuid.text() + "), front/ of " +
                                    front->node + "; next: railwright-agent join --again with a new line"),
        ""));
  else
    steps.push_back(Step("signers", trust.status(),
                         trust.ok() ? std::to_string(trust->signers.keys.size()) + " key(s), " +
                                          std::to_string(trust->signers.threshold) + " must sign"
                                    : ""));
  if (front.ok()) {
    const auto more = enrol::Preflight(
        {.known = {.cluster = front->cluster, .roots = front->roots, .enrolment = front->enrolment},
         .chain = front->chain,
         .controllers = front->controllers},
        std::chrono::system_clock::now());
    steps.insert(steps.end(), more.begin(), more.end());
  }

  const Verdict worst = Worst(steps);
  bool answered = !front.ok(), denied = false;
  for (const PreflightStep& step : steps) {
    answered = answered || (step.what.starts_with("controller ") && !step.unreachable);
    denied = denied || step.next.starts_with("run as root");
  }
  if (options.format == Format::kTable) {
    PrintSteps(steps, worst, console);
  } else {
    Json list = Json::array();
    for (const PreflightStep& step : steps)
      list.push_back({{"check", step.what},
                      {"verdict", std::string(Name(step.verdict))},
                      {"message", step.message},
                      {"next", step.next}});
    console.Print({{"verdict", std::string(Name(worst))}, {"checks", list}}, options.format);
  }
  return Gravest({denied ? ExitCode::kNotPermitted : ExitCode::kDone,
                  answered ? ExitCode::kDone : ExitCode::kUnreachable,
                  worst == Verdict::kDrifted   ? ExitCode::kDifferences
                  : worst == Verdict::kUnknown ? ExitCode::kIncomplete
                                               : ExitCode::kDone});
}

}  // namespace railwright::offline
