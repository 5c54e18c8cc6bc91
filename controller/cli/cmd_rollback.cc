#include "controller/cli/fleet_view.h"
#include "controller/cli/follow.h"
#include "controller/cli/verbs.h"

namespace railwright::cli {
namespace {

// "Go from generation 42 back to the content of 41 (by root@host 5m ago, "ticket 4711")?", or why not. `to`
// becomes the number that the question names: what is confirmed is what is asked for.
Result<std::string> Question(Context& context, std::uint64_t& to) {
  v1::GenerationsRequest request;
  request.set_limit(1000);
  auto answer = context.controller.Generations(request, Waiting(context, "the controller"));
  if (!answer.ok()) return answer.status();
  if (answer->generations().empty())
    return Status(Code::kInvalidArgument, "nothing was applied yet, so nothing can be undone");
  const std::uint64_t present = answer->generations(0).generation();
  if (to == 0 && answer->generations_size() < 2)
    return Status(Code::kInvalidArgument,
                  "generation " + std::to_string(present) + " is the first; there is none before it");
  if (to == 0) to = answer->generations(1).generation();
  std::string text =
      "Go from generation " + std::to_string(present) + " back to the content of " + std::to_string(to);
  for (const v1::GenerationInfo& one : answer->generations()) {
    if (one.generation() != to) continue;
    text += " (by " + one.author() + " " +
            SeenText(one.created_unix_us(), context.console.clock().WallNow()) +
            (one.comment().empty() ? "" : ", \"" + Printable(one.comment()) + "\"") + ")";
  }
  return text + "?";
}

}  // namespace

ExitCode Run(Context& context, const RollbackOptions& options) {
  std::uint64_t to = options.to;
  if (!options.yes) {
    std::string question;
    if (context.console.CanAsk()) {
      auto asked = Question(context, to);
      if (!asked.ok()) return FailNamed(context, asked.status());
      question = *asked;
    }
    const Consent consent = AskConsent(context, false, question);
    if (!consent.given) return consent.otherwise;
  }
  v1::RollbackRequest request;
  request.set_to_generation(to);
  request.set_wait(options.wait);
  request.set_timeout_ms(context.TimeoutOr(kSettle).count());
  request.set_author(context.author);
  request.set_restore(options.restore);
  request.set_try_ms(static_cast<std::uint32_t>(options.try_for.count()));
  return Follow(
      context, options.wait,
      [&](const CallOptions& call, const auto& each) {
        return context.controller.Rollback(request, call, each);
      },
      [&](const Status& status) { return FailNamed(context, status); });
}

}  // namespace railwright::cli
