// The commands about how a generation spreads.
#include "controller/cli/command_line_impl.h"

namespace railwright::cli {

void CommandLine::Impl::DeclareRollout() {
  using What = RolloutOptions::What;
  CLI::App* r = Declare(
      app, "rollout",
      "how the generation in force spreads: status, approve, pause, resume, abort, reset-breaker",
      "railctl rollout status --watch\n"
      "railctl rollout pause --reason \"users complain\"\n"
      "railctl rollout abort --rollback               stop it, and go back to the generation before it\n"
      "railctl get rollouts                           those of the past, too",
      nullptr);
  r->require_subcommand(0, 1);
  const auto order = [this, r](const char* name, What what, const char* text, const char* examples) {
    CLI::App* one = Declare(*r, name, text, examples, [this, what] {
      rollout.what = what;
      return rollout;
    });
    if (what != What::kStatus)
      one->add_option("--reason", rollout.reason, "kept, and shown wherever it is shown")->type_name("TEXT");
    if (what != What::kStatus && what != What::kResetBreaker)
      one->add_option("generation", rollout.generation,
                      "the one that is meant, or nothing is done; by "
                      "default the one in force")
          ->type_name("GEN");
    return one;
  };
  order("status", What::kStatus, "which wave, which nodes it waits for and why, what holds it up",
        "railctl rollout status\n"
        "railctl rollout status --watch --timeout 30m       until it is done, halted or aborted\n"
        "railctl rollout status --watch -o json             one JSON object a line, when something changed")
      ->add_flag("--watch", rollout.watch,
                 "ask each second until it is done, halted or aborted; --timeout bounds it");
  order("approve", What::kApprove, "let a generation spread that another person has made",
        "railctl rollout approve                        shows what, and asks\n"
        "railctl rollout approve 42 --reason \"looked at the plan\" --yes")
      ->add_flag("-y,--yes", rollout.yes, "do not ask");
  order("pause", What::kPause, "begin no further node until it is resumed",
        "railctl rollout pause --reason \"a job must finish first\"");
  order("resume", What::kResume, "go on; of a halted one the nodes that failed are accepted as they are",
        "railctl rollout resume\nrailctl rollout resume 42 --reason \"gpu-007 has a broken cable\"");
  CLI::App* abort = order("abort", What::kAbort, "stop it for good; what was begun stays as it is",
                          "railctl rollout abort --reason \"wrong MTU\"\n"
                          "railctl rollout abort --rollback               then go back, and follow that");
  abort->add_flag("--rollback", rollout.rollback,
                  "then a new generation with the content of the one before it; asks first");
  abort->add_flag("-y,--yes", rollout.yes, "do not ask");
  order("reset-breaker", What::kResetBreaker,
        "close the mass-failure breaker and thaw frozen racks, when it is clear why",
        "railctl rollout status                         says why it opened\n"
        "railctl rollout reset-breaker --reason \"the switch is back\"")
      ->add_flag("-y,--yes", rollout.yes, "do not ask");
}

}  // namespace railwright::cli
