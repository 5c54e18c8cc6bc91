#include "agent/offline/console.h"

#include <algorithm>
#include <map>

#include "core/text/yaml.h"

namespace railwright::offline {
namespace {

// Worst last: it stands beside the verdict, where the eye ends.
int Weight(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNotApplicable: return 0;
    case Verdict::kCompliant: return 1;
    case Verdict::kPending: return 2;
    case Verdict::kUnknown: return 3;
    case Verdict::kDrifted: return 4;
  }
  return 3;
}

Tone ToneOf(Verdict verdict) { return VerdictCell(verdict, {}).tone; }

}  // namespace

void Console::Print(const nlohmann::ordered_json& value, Format format) const {
  out << (format == Format::kYaml ? ToYaml(value) : ToJsonText(value));
}

ExitCode Console::Fail(const Status& status) const {
  err << "railwright-agent: " << status.message() << "\n";
  return status.code() == Code::kPermissionDenied ? ExitCode::kNotPermitted : ExitCode::kFailed;
}

void Console::Note(const std::string& sentence) const { err << sentence << "\n"; }

ExitCode CodeOf(const nlohmann::ordered_json& status) {
  ExitCode code = status.value("complete", false) ? ExitCode::kDone : ExitCode::kIncomplete;
  for (const auto& node : status.at("nodes"))
    for (const auto& finding : node.at("findings")) {
      const std::string verdict = finding.at("verdict");
      if (verdict == Name(Verdict::kDrifted) || verdict == Name(Verdict::kPending))
        code = Gravest({code, ExitCode::kDifferences});
    }
  return code;
}

std::string FindingsTable(const std::vector<Finding>& findings, const Terminal& terminal) {
  std::vector<const Finding*> sorted;
  for (const Finding& finding : findings) sorted.push_back(&finding);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Finding* a, const Finding* b) {
    return Weight(a->verdict) < Weight(b->verdict);
  });
  Table table({{"VERDICT"},
               {"CODE"},
               {"KEY", false, 48},
               {"TARGET"},
               {"DESIRED", false, 24},
               {"OBSERVED", false, 24},
               {"WHY"}});
  for (const Finding* finding : sorted) {
    std::string why = finding->reason;
    if (finding->verdict != Verdict::kCompliant && !finding->message.empty())
      why += why.empty() ? finding->message : ": " + finding->message;
    table.Add({VerdictCell(finding->verdict, terminal), finding->code, finding->key, finding->target,
               finding->desired, finding->observed, why});
  }
  return table.Render(terminal);
}

std::string VerdictLine(const std::string& node, Verdict verdict, const std::vector<Finding>& findings,
                        const Terminal& terminal) {
  std::map<Verdict, int> counts;
  for (const Finding& finding : findings) ++counts[finding.verdict];
  std::string text = node + ": " + VerdictCell(verdict, terminal).text + " (";
  bool first = true;
  for (const auto& [which, word] : {std::pair{Verdict::kDrifted, "drifted"},
                                    {Verdict::kUnknown, "unknown"},
                                    {Verdict::kPending, "pending"},
                                    {Verdict::kCompliant, "compliant"},
                                    {Verdict::kNotApplicable, "not applicable"}}) {
    if (counts[which] == 0) continue;
    text += (first ? "" : ", ") + std::to_string(counts[which]) + " " + word;
    first = false;
  }
  if (first) text += "nothing was looked at";
  std::string line = Coloured(text + ")", ToneOf(verdict), terminal) + "\n";
  const auto worst = std::max_element(
      findings.begin(), findings.end(),
      [](const Finding& a, const Finding& b) { return Weight(a.verdict) < Weight(b.verdict); });
  if (worst != findings.end() && Weight(worst->verdict) >= 2) {
    if (!worst->fix.empty()) line += "next: " + Printable(worst->fix) + "\n";
    // A reason of its own says more than the setting's code, "it differs" says less.
    const bool telling = !worst->reason.empty() && worst->reason != "Differs";
    line += "why: railctl explain " + (telling ? worst->reason : worst->code) + "\n";
  }
  return line;
}

}  // namespace railwright::offline
