// railctl sign: a person's signatures under the states of a generation, with a key that the controller never
// has.
#include <algorithm>
#include <utility>

#include "controller/cli/ask_plan.h"
#include "controller/cli/signing.h"
#include "controller/cli/verbs.h"
#include "controller/fleet/resolve.h"
#include "core/identity/envelope.h"
#include "core/text/times.h"

namespace railwright::cli {
namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr std::size_t kAtOnce = 5'000;  // signatures in one request: some 2 MiB

Result<SigningCase> AskCase(Context& context, const SignOptions& options) {
  v1::StatementsToSignRequest request;
  request.set_generation(options.generation);
  SigningCase asked;
  bool first = true, last = false;
  const Status status = context.controller.StatementsToSign(
      request, Waiting(context, "the statements", context.TimeoutOr(kPatience)),
      [&](v1::StatementsToSignEvent& event) {
        for (v1::StatementToSign& one : *event.mutable_statements())
          asked.statements.push_back(std::move(one));
        last = last || event.last();
        if (std::exchange(first, false)) asked.head = std::move(event);
      });
  context.console.EndLive();
  RW_RETURN_IF_ERROR(status);
  if (!last)
    return Status(Code::kUnavailable, "the controller did not tell all statements; nothing was signed");
  return asked;
}

std::string Text(const SigningCase& asked, const SigningWork& work) {
  const auto& head = asked.head;
  std::string text = "generation " + std::to_string(head.generation()) + " of cluster " + work.cluster +
                     ", by " + Printable(head.author()) +
                     (head.comment().empty() ? "" : ": " + Printable(head.comment())) + "\n";
  const std::string diff = DocumentDiff(head);
  const std::string before = head.before() == 0 ? "nothing was before it"
                                                : "against generation " + std::to_string(head.before()) +
                                                      ", as the controller tells it";
  text += diff.empty() ? "no document differs (" + before + ")\n" : before + ":\n" + diff;
  if (head.restores_size() > 0) {
    text += "originals are put back:\n";
    for (const v1::NodeRestore& one : head.restores())
      text += "  " + one.node() + " " + one.what().key() +
              (one.what().target().empty() ? "" : " on " + one.what().target()) + "\n";
  }
  if (head.try_ms() > 0)
    text += "changes on the way to the controller may be tried, for " + std::to_string(head.try_ms() / 1000) +
            " s\n";
  std::vector<std::string> names;
  for (const auto& one : work.to_sign) names.push_back(one.node);
  text += "to be signed: " + std::to_string(names.size()) + " nodes, " + FoldNames(names) + "; " +
          std::to_string(work.settings) + " settings in all; valid until " + Rfc3339(work.valid_until) + "\n";
  for (const std::string& warning : work.warnings) text += "note: " + warning + "\n";
  return text;
}

}  // namespace

ExitCode Run(Context& context, const SignOptions& options) {
  if (options.key.empty()) return FailUsage(context, "sign: --key FILE is missing (railctl key generate)");
  const auto key = ReadSigningKey(options.key);
  if (!key.ok()) return Fail(context, key.status());
  const auto asked = AskCase(context, options);
  if (!asked.ok()) return Fail(context, asked.status());
  const std::uint64_t generation = asked->head.generation();
  const auto work =
      CheckStatements(*asked, context.catalog, key->public_key(), context.console.clock().WallNow());
  if (!work.ok()) return Fail(context, work.status());
  if (work->to_sign.empty()) {
    context.console.Note(work->done.empty() ? "nothing waits for a signature"
                                            : "this key has signed already for " + FoldNames(work->done) +
                                                  "; others' signatures are waited for");
    return ExitCode::kDone;
  }
  context.console.Note(Text(*asked, *work));
  const Consent consent = AskConsent(context, options.yes,
                                     "Sign generation " + std::to_string(generation) + " for " +
                                         std::to_string(work->to_sign.size()) + " nodes with the key " +
                                         key->public_key().pin().Text() + "?");
  if (!consent.given) return consent.otherwise;

  std::uint64_t taken = 0;
  for (std::size_t at = 0; at < work->to_sign.size(); at += kAtOnce) {
    v1::PutSignaturesRequest request;
    for (std::size_t i = at; i < std::min(at + kAtOnce, work->to_sign.size()); ++i) {
      const SigningWork::One& one = work->to_sign[i];
      const auto signature = identity::SignStatement(one.statement, *key);
      if (!signature.ok()) return Fail(context, signature.status());
      v1::SignedStatement* put = request.add_signatures();
      put->set_node(one.node);
      put->set_statement(one.statement);
      put->set_key(signature->key.Text());
      put->set_signature(signature->bytes);
    }
    const auto answer = context.controller.PutSignatures(
        request, Waiting(context, "the controller", context.TimeoutOr(kPatience)));
    if (!answer.ok()) return Fail(context, answer.status());
    taken += answer->taken();
  }
  const auto complete = std::count_if(work->to_sign.begin(), work->to_sign.end(),
                                      [](const auto& one) { return one.signatures + 1 >= one.threshold; });
  if (!context.table()) {
    Emit(context, {{"generation", generation}, {"signed", taken}, {"complete", complete}});
    return ExitCode::kDone;
  }
  context.console.Print("signed generation " + std::to_string(generation) + " for " + std::to_string(taken) +
                        " nodes; " +
                        (static_cast<std::uint64_t>(complete) == taken
                             ? "all of them have what they need and are sent it now"
                             : std::to_string(taken - static_cast<std::uint64_t>(complete)) +
                                   " of them wait for other signatures") +
                        "\n");
  return ExitCode::kDone;
}

}  // namespace railwright::cli
