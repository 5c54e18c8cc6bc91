#include "core/enrol/preflight.h"

#include <cerrno>

#include "core/identity/time_words.h"
#include "core/identity/verify.h"

namespace railwright::enrol {

using identity::Certificate, identity::Endpoint, identity::Span, identity::Time, identity::Utc;

namespace {

constexpr const char* kJoinAgain = "join again with a new token (railctl token create)";

PreflightStep Own(const PreflightTerms& terms, Time now) {
  PreflightStep step{.what = "certificate", .verdict = Verdict::kCompliant, .message = {}, .next = {}};
  const auto peer =
      identity::Verify(terms.chain, terms.known.roots,
                       {.cluster = terms.known.cluster, .purpose = identity::Purpose::kClient}, now);
  if (peer.ok()) {
    step.message = peer->id.Uri() + ", serial " + peer->serial + ", for another " +
                   Span(terms.chain.front().not_after() - now);
    return step;
  }
  step.verdict = Verdict::kDrifted;
  step.message = peer.status().message();
  const bool expired = !terms.chain.empty() && now >= terms.chain.front().not_after();
  const bool early = !terms.chain.empty() && now < terms.chain.front().not_before();
  step.next =
      expired
          ? "if this clock is right, it is renewed by the key alone as soon as the enrolment port is reached"
      : early ? "set this clock (timedatectl), or wait"
              : kJoinAgain;
  return step;
}

PreflightStep Controller(const PreflightTerms& terms, const Endpoint& at, Time now) {
  PreflightStep step{
      .what = "controller " + at.Text(), .verdict = Verdict::kCompliant, .message = {}, .next = {}};
  const auto chain = ChainOf(at, "h2", terms.deadline);
  if (!chain.ok()) {
    step.verdict = Verdict::kDrifted;
    step.message = chain.status().message();
    step.unreachable = chain.status().code() == Code::kUnavailable;
    step.next = step.unreachable ? "see that the controller runs, and that no firewall stands between"
                                 : "another program listens there; correct the address";
    return step;
  }
  const auto peer = identity::Verify(
      *chain, terms.known.roots,
      {.cluster = terms.known.cluster, .purpose = identity::Purpose::kServer, .dialled = at.host}, now);
  if (peer.ok()) {
    step.message = "answers, with a certificate for another " + Span(chain->front().not_after() - now);
    return step;
  }
  step.verdict = Verdict::kDrifted;
  step.message = peer.status().message();
  const bool out_of_time = now >= chain->front().not_after() || now < chain->front().not_before();
  step.next =
      out_of_time
          ? "compare this clock with the controller's; one of them is wrong"
          : "correct the address or the controller's names; its CA is told by railwright-controller init";
  return step;
}

void AskWhy(const PreflightTerms& terms, Time now, std::vector<PreflightStep>& steps) {
  PreflightStep clock{.what = "clock", .verdict = Verdict::kUnknown, .message = {}, .next = {}};
  PreflightStep standing{.what = "standing", .verdict = Verdict::kUnknown, .message = {}, .next = {}};
  const auto judged = Why(terms.known, terms.chain, now, terms.deadline);
  if (!judged.ok()) {
    const std::string why = "the controller could not be asked: " + judged.status().message();
    clock.message = standing.message = why;
    if (judged.status().error_number() == ECONNREFUSED)
      standing.next = "the enrolment port is closed while nobody is expected; railctl token create opens it";
  } else {
    const std::string apart = ClockSentence(now, judged->clock);
    clock.verdict = apart.empty() ? Verdict::kCompliant : Verdict::kDrifted;
    clock.message = apart.empty()
                        ? "as the controller's, " + Utc(judged->clock)
                        : apart + ": it says " + Utc(now) + ", the controller's " + Utc(judged->clock);
    if (!apart.empty()) clock.next = "set the clock that is wrong (timedatectl)";
    standing.verdict = judged->admitted ? Verdict::kCompliant : Verdict::kDrifted;
    standing.message = judged->sentence;
    if (!judged->admitted) standing.next = "ask an operator; after an eviction, " + std::string(kJoinAgain);
  }
  steps.push_back(std::move(clock));
  steps.push_back(std::move(standing));
}

}  // namespace

std::string ClockSentence(Time here, Time there) {
  const auto apart = here - there;
  if (std::chrono::abs(apart) <= identity::kClockSkew) return {};
  return "this clock is " + Span(std::chrono::abs(apart)) +
         (apart > Time::duration::zero() ? " ahead of" : " behind") + " the controller's";
}

std::vector<PreflightStep> Preflight(const PreflightTerms& terms, Time now) {
  std::vector<PreflightStep> steps{Own(terms, now)};
  for (const Endpoint& at : terms.controllers) steps.push_back(Controller(terms, at, now));
  AskWhy(terms, now, steps);
  return steps;
}

}  // namespace railwright::enrol
