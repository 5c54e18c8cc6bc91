#include "controller/cli/verbs.h"
#include "core/audit/chain.h"
#include "core/text/table.h"

namespace railwright::cli {
namespace {

audit::Row FromWire(const v1::AuditEntry& entry) {
  return {entry.id(),     entry.at_unix_us(), entry.who(),    entry.from(),   entry.serial(),
          entry.action(), entry.subject(),    entry.detail(), entry.outcome()};
}

std::optional<audit::Head> FromWire(const v1::AuditHead& head) {
  audit::Head kept{head.id(), {}};
  if (head.unreadable() || head.hash().size() != kept.hash.size()) return std::nullopt;
  for (std::size_t i = 0; i < kept.hash.size(); ++i) kept.hash[i] = static_cast<std::uint8_t>(head.hash()[i]);
  return kept;
}

Json ToJson(const audit::ChainCheck& check) {
  Json json = {{"whole", !check.fault()},
               {"rows", check.head().id},
               {"head", check.head().Text()},
               {"fault", nullptr}};
  if (check.fault())
    json["fault"] = {{"id", static_cast<std::int64_t>(check.fault()->id)}, {"what", check.fault()->what}};
  return json;
}

std::string Text(const audit::ChainCheck& check) {
  const std::string rows = std::to_string(check.head().id);
  if (!check.fault()) return "the audit is whole: " + rows + " rows\nhead " + check.head().Text() + "\n";
  return "the audit is NOT whole\n" + Printable(check.fault()->Text()) +
         "\nthe last row that fits: " + check.head().Text() + "\n";
}

}  // namespace

ExitCode Run(Context& context, const AuditLogOptions& options) {
  std::optional<audit::Head> expected;
  if (!options.expect_head.empty()) {
    auto parsed = audit::Head::Parse(options.expect_head);
    if (!parsed.ok()) return FailUsage(context, "--expect-head: " + parsed.status().message());
    expected = *parsed;
  }
  auto check = audit::ChainCheck::Begin(expected);
  if (!check.ok()) return Fail(context, check.status());
  std::optional<audit::Head> kept;
  Status broken;
  // A million rows take some seconds; a log that long must not end in a deadline that others have.
  const Status asked = context.controller.AuditChain(
      {}, Waiting(context, "the audit", std::chrono::minutes(10)), [&](const v1::AuditChainEvent& event) {
        if (event.has_head()) kept = FromWire(event.head());
        if (!event.has_entry()) return;
        const auto fits = check->Take(FromWire(event.entry()), event.hash());
        if (!fits.ok()) broken = fits.status();
      });
  if (!asked.ok()) return Fail(context, asked);
  if (!broken.ok()) return Fail(context, broken);
  (void)check->Finish(kept);
  if (context.table())
    context.console.Print(Text(*check));
  else
    Emit(context, ToJson(*check));
  return check->fault() ? ExitCode::kDifferences : ExitCode::kDone;
}

}  // namespace railwright::cli
