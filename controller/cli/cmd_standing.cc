#include <map>

#include "controller/cli/member_view.h"
#include "controller/cli/verbs.h"

namespace railwright::cli {
namespace {

struct Order {
  v1::Standing standing;
  const char* question;  // "" = nothing is lost by it
  const char* done;
};

const Order& OrderOf(const std::string& verb) {
  static const std::map<std::string, Order> kOrders = {
      {"evict",
       {v1::STANDING_EVICTED,
        "Its certificate counts no more and its connection is cut; it needs a new token.",
        "is evicted; it may join again with a new token"}},
      {"ban",
       {v1::STANDING_BANNED,
        "Its certificate counts no more, its connection is cut, and it may not join again.",
        "is banned; railctl … evict lifts the ban, and a new token lets it join again"}},
      {"hold", {v1::STANDING_HELD, "Its connection is cut until it is admitted.", "is held"}},
      {"admit", {v1::STANDING_ACTIVE, "", "is admitted; its certificate counts again"}},
  };
  return kOrders.at(verb);
}

}  // namespace

ExitCode Run(Context& context, const StandingOptions& options) {
  const std::string who = options.is_operator ? "operator" : "node";
  const std::string verb = who + " " + options.verb;
  if (options.name.empty()) return FailUsage(context, verb + ": a name is wanted\nsee: railctl get members");
  const Order& order = OrderOf(options.verb);
  if (*order.question != '\0') {
    const Consent consent = AskConsent(
        context, options.yes, "railctl " + verb + " " + options.name + ": " + order.question + " Go on?");
    if (!consent.given) return consent.otherwise;
  }
  v1::SetStandingRequest request;
  request.set_kind(options.is_operator ? v1::MEMBER_KIND_OPERATOR : v1::MEMBER_KIND_NODE);
  request.set_name(options.name);
  request.set_standing(order.standing);
  request.set_reason(options.reason);
  auto answer = context.controller.SetStanding(request, Waiting(context, "the controller"));
  if (!answer.ok()) return FailNamed(context, answer.status());
  if (context.table())
    context.console.Print(who + " " + options.name + " " + order.done + "\n");
  else
    Emit(context, ToJson(answer->member()));
  return ExitCode::kDone;
}

}  // namespace railwright::cli
