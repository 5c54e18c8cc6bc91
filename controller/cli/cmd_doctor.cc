// Why the controller would refuse this operator: what can be seen from here, and what it says itself.
#include "controller/cli/fleet_view.h"
#include "controller/cli/verbs.h"
#include "core/enrol/preflight.h"
#include "core/text/shapes.h"
#include "core/wire/address.h"

namespace railwright::cli {
namespace {

using enrol::PreflightStep;

PreflightStep Step(std::string what, const Status& status, std::string fine) {
  PreflightStep step;
  step.what = std::move(what);
  step.verdict = status.ok() ? Verdict::kCompliant : Verdict::kDrifted;
  step.message = status.ok() ? std::move(fine) : status.message();
  return step;
}

// Drifted > Unknown > Compliant.
Verdict Worst(const std::vector<PreflightStep>& steps) {
  Verdict worst = Verdict::kCompliant;
  for (const PreflightStep& step : steps)
    if (step.verdict == Verdict::kDrifted ||
        (step.verdict == Verdict::kUnknown && worst != Verdict::kDrifted))
      worst = step.verdict;
  return worst;
}

// A call that any role may make; by it the controller judges everything that it judges.
PreflightStep Call(Context& context, const std::string& address, std::shared_ptr<const Login> login) {
  AdminClient client(address, std::move(login), context.interrupted);
  const auto answer =
      client.Version({}, Waiting(context, "the controller at " + address, std::chrono::seconds(5)));
  context.console.EndLive();
  PreflightStep step =
      Step("call", answer.status(),
           answer.ok() ? "the controller answers: railwright-controller " + answer->version() +
                             ", generation " + std::to_string(answer->generation())
                       : "");
  if (!answer.ok()) step.unreachable = answer.status().code() == Code::kUnavailable;
  // The sentence's own next step is told as ours.
  if (const std::size_t at = step.message.find("\nnext: "); at != std::string::npos) {
    step.next = step.message.substr(at + 7);
    step.message.resize(at);
  }
  return step;
}

}  // namespace

ExitCode Run(Context& context, const DoctorOptions&) {
  std::vector<PreflightStep> steps;
  Globals globals = context.globals;
  const auto login = ChooseLogin(globals, context.logins);
  if (!login.ok()) {
    steps.push_back(Step("login", login.status(), ""));
    if (steps.back().next.empty())
      steps.back().next = "railctl login LINE, with a line from an administrator";
  } else if (*login == nullptr) {
    PreflightStep step = Step("login", Ok(), "none is needed: this host's own socket, " + globals.controller);
    steps.push_back(std::move(step));
    steps.push_back(Call(context, globals.controller, nullptr));
  } else {
    const Login& mine = **login;
    steps.push_back(
        Step("login", Ok(), mine.context + ": " + mine.operator_name + " of " + mine.cluster.text()));
    std::vector<identity::Endpoint> controllers = mine.controllers;
    if (!context.globals.controller.empty())
      if (const auto named = identity::Endpoint::Parse(context.globals.controller); named.ok())
        controllers = {*named};
    const auto more = enrol::Preflight(
        {.known = {.cluster = mine.cluster, .roots = mine.roots, .enrolment = mine.enrolment},
         .chain = mine.chain,
         .controllers = controllers},
        context.console.clock().WallNow());
    steps.insert(steps.end(), more.begin(), more.end());
    steps.push_back(Call(context, globals.controller, *login));
  }

  const Verdict worst = Worst(steps);
  bool answered = false, refused = false;
  for (const PreflightStep& step : steps) {
    const bool asked = step.what == "call" || step.what.starts_with("controller ");
    answered = answered || (asked && !step.unreachable);
    refused = refused || (step.what == "login" && step.verdict == Verdict::kDrifted);
  }
  if (!context.table()) {
    Json list = Json::array();
    for (const PreflightStep& step : steps)
      list.push_back({{"check", step.what},
                      {"verdict", std::string(Name(step.verdict))},
                      {"message", step.message},
                      {"next", step.next}});
    Emit(context, {{"verdict", std::string(Name(worst))}, {"checks", std::move(list)}});
  } else {
    const Terminal& terminal = context.console.out_terminal();
    Table table({{.header = "VERDICT"}, {.header = "LOOKED AT"}, {.header = "WHAT WAS SEEN"}});
    for (const PreflightStep& step : steps)
      table.Add({VerdictCell(step.verdict, terminal), step.what, Printable(step.message)});
    const Cell verdict = VerdictCell(worst, terminal);
    std::string text = table.Render(terminal) + "\n" + Coloured(verdict.text, verdict.tone, terminal) + "\n";
    for (const PreflightStep& step : steps)
      if (!step.next.empty()) text += "next: " + Printable(step.what + ": " + step.next) + "\n";
    context.console.Print(text);
  }
  return Gravest({refused ? ExitCode::kNotPermitted : ExitCode::kDone,
                  answered || refused ? ExitCode::kDone : ExitCode::kUnreachable,
                  worst == Verdict::kDrifted   ? ExitCode::kDifferences
                  : worst == Verdict::kUnknown ? ExitCode::kIncomplete
                                               : ExitCode::kDone});
}

}  // namespace railwright::cli
