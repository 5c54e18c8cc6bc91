#include "controller/cli/apply_view.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "controller/cli/exit_code.h"
#include "controller/cli/fleet_view.h"
#include "controller/fleet/resolve.h"
#include "core/text/shapes.h"
#include "core/wire/wire.h"

namespace railwright::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNodesByName = 16;  // more are folded by outcome

std::vector<std::string> Names(const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::vector<std::string> list(names.begin(), names.end());
  std::sort(list.begin(), list.end());
  return list;
}

std::string FindingText(const v1::Finding& finding) {
  std::string text = finding.key() + (finding.target().empty() ? "" : " " + finding.target());
  if (!finding.reason().empty()) text += " (" + finding.reason() + ")";
  if (!finding.message().empty()) text += ": " + finding.message();
  return text;
}

}  // namespace

void ApplyProgress::Add(const v1::ApplyEvent& event) {
  if (event.generation() != 0) generation_ = event.generation();
  nodes_ = std::max(nodes_, event.nodes());
  waiting_ = Names(event.waiting());
  unreachable_ = Names(event.unreachable());
  for (const v1::NodeOutcome& outcome : event.done()) done_[outcome.node()] = outcome;
  finished_ = finished_ || event.finished();
  unchanged_ = unchanged_ || event.unchanged();
  timed_out_ = timed_out_ || event.timed_out();
  superseded_by_ = std::max(superseded_by_, event.superseded_by());
  if (!event.rollout().empty()) rollout_ = event.rollout();
  if (!event.stopped().empty()) stopped_ = event.stopped();
}

std::string ApplyProgress::Live() const {
  if (generation_ == 0) return "waiting for the controller to store the generation";
  std::string text = "generation " + std::to_string(generation_) +
                     (rollout_.empty() ? "" : ", " + Printable(rollout_)) + ": " +
                     std::to_string(done_.size()) + " of " + std::to_string(nodes_) + " nodes settled";
  if (!waiting_.empty()) text += "; waiting for " + FoldNames(waiting_);
  if (!unreachable_.empty()) text += "; unreachable: " + FoldNames(unreachable_);
  return text;
}

// An outcome carries every finding that is not as declared; a write that was tried and failed is another
// matter.
bool ApplyProgress::Failed(const v1::NodeOutcome& outcome) {
  return !outcome.nack().empty() ||
         std::any_of(outcome.failed().begin(), outcome.failed().end(), [](const v1::Finding& finding) {
           return finding.reason() == "ApplyFailed" || finding.reason() == "Undone" ||
                  finding.reason() == "LinkStayedDown" || finding.reason() == "TryFailed" ||
                  finding.reason() == "InvalidValue";
         });
}

ExitCode ApplyProgress::exit() const {
  Outcome outcome;
  if (!wait_) return ExitCode::kDone;
  for (const auto& [name, node] : done_) {
    if (Failed(node)) outcome.Add(ExitCode::kFailed);
    switch (FromWire(node.verdict())) {
      case Verdict::kCompliant: break;
      case Verdict::kDrifted:
      case Verdict::kPending: outcome.Add(ExitCode::kDifferences); break;
      case Verdict::kNotApplicable:
      case Verdict::kUnknown: outcome.Add(ExitCode::kIncomplete); break;
    }
  }
  if (!unreachable_.empty() || superseded_by_ != 0) outcome.Add(ExitCode::kIncomplete);
  if (!stopped_.empty()) outcome.Add(ExitCode::kStopped);
  if (timed_out_) outcome.Add(ExitCode::kTimedOut);
  return outcome.code();
}

// Nodes wait for one another; only the rollout says why.
std::string ApplyProgress::FollowBy() const {
  return rollout_.empty() ? "railctl watch" : "railctl rollout status --watch";
}

// The first generation has none before it.
bool ApplyProgress::CanUndo() const { return !unchanged_ && superseded_by_ == 0 && generation_ > 1; }

Json ApplyProgress::ToJson() const {
  std::map<Verdict, std::uint64_t> count;
  std::uint64_t failed = 0;
  Json nodes = Json::array();
  for (const auto& [name, outcome] : done_) {
    const Verdict verdict = FromWire(outcome.verdict());
    ++count[verdict];
    if (Failed(outcome)) ++failed;
    Json findings = Json::array();
    for (const v1::Finding& finding : outcome.failed())
      findings.push_back(railwright::ToJson(FromWire(finding)));
    nodes.push_back({{"name", name},
                     {"verdict", Name(verdict)},
                     {"changed", outcome.changed()},
                     {"failed", Failed(outcome)},
                     {"refused", outcome.nack()},
                     {"findings", std::move(findings)}});
  }
  return {{"generation", generation_},
          {"unchanged", unchanged_},
          {"complete", wait_ && finished_ && waiting_.empty() && unreachable_.empty() && !timed_out_ &&
                           superseded_by_ == 0 && stopped_.empty()},
          {"timed_out", timed_out_},
          {"superseded_by", superseded_by_},
          {"stopped", stopped_},
          {"rollout", rollout_},
          {"summary",
           {{"nodes", nodes_},
            {"compliant", count[Verdict::kCompliant]},
            {"drifted", count[Verdict::kDrifted]},
            {"pending", count[Verdict::kPending]},
            {"unknown", count[Verdict::kUnknown] + count[Verdict::kNotApplicable]},
            {"unreachable", unreachable_.size()},
            {"waiting", waiting_.size()},
            {"failed", failed}}},
          {"nodes", std::move(nodes)},
          {"waiting", waiting_},
          {"unreachable", unreachable_},
          {"undo", CanUndo() ? "railctl rollback" : ""}};
}

std::vector<ApplyProgress::Row> ApplyProgress::Rows(const Terminal& terminal) const {
  std::vector<Row> rows;
  for (const auto& [name, outcome] : done_) {
    // The count is the generation's; of one that was in force already nothing was changed now.
    Row row{name, VerdictCell(FromWire(outcome.verdict()), terminal),
            unchanged_ ? "" : std::to_string(outcome.changed()), ""};
    if (!outcome.nack().empty()) {
      row.what = "refused the generation: " + outcome.nack();
      row.verdict = {terminal.utf8 ? "✗ refused" : "x refused", Tone::kBad};
    } else if (outcome.failed_size() > 0) {
      row.what = FindingText(outcome.failed(0));
      if (outcome.failed_size() > 1)
        row.what += " (and " + std::to_string(outcome.failed_size() - 1) + " more)";
    }
    rows.push_back(std::move(row));
  }
  // The rollout stopped when all that it had begun were through: the others have what they had.
  const bool begun = stopped_.empty() || superseded_by_ != 0;
  for (const std::string& node : waiting_)
    rows.push_back({node,
                    begun ? Cell(terminal.utf8 ? "… working" : "~ working", Tone::kWarn)
                          : Cell("- not begun", Tone::kWarn),
                    "",
                    superseded_by_ != 0
                        ? "works on generation " + std::to_string(superseded_by_) + " now"
                        : (begun ? "not settled yet" : "takes the generation when the rollout goes on")});
  for (const std::string& node : unreachable_)
    rows.push_back({node,
                    {"? unreachable", Tone::kWarn},
                    "",
                    begun ? "takes the generation when it connects"
                          : "takes the generation when it connects and the rollout goes on"});
  if (rows.size() <= kNodesByName) {
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.node < b.node; });
    return rows;
  }
  std::map<std::tuple<std::string, std::string, std::string>, std::pair<Row, std::vector<std::string>>> same;
  for (Row& row : rows) {
    auto& [first, nodes] = same[{row.what, row.verdict.text, row.changed}];
    nodes.push_back(row.node);
    first = std::move(row);
  }
  rows.clear();
  for (auto& [key, group] : same) {
    group.first.node = NodesText(group.second);
    rows.push_back(std::move(group.first));
  }
  return rows;
}

std::string ApplyProgress::Sentence(const Terminal& terminal) const {
  const std::string generation = "generation " + std::to_string(generation_);
  const std::string dot = terminal.utf8 ? " · " : ", ";
  if (!wait_) {
    const std::string state =
        unchanged_ ? " was in force already; nothing was stored" : " is stored and on its way";
    return generation + state + dot + "follow: " + FollowBy() +
           (CanUndo() ? dot + "undo: railctl rollback" : "") + "\n";
  }
  std::uint64_t right = 0, failed = 0;
  for (const auto& [name, outcome] : done_) {
    if (Failed(outcome)) ++failed;
    if (FromWire(outcome.verdict()) == Verdict::kCompliant && !Failed(outcome)) ++right;
  }
  std::string text = generation + (unchanged_ ? " was in force already, nothing was stored; " : ": ") +
                     std::to_string(right) + " of " + std::to_string(nodes_) +
                     (nodes_ == 1 ? " node" : " nodes") + " as declared";
  if (failed > 0) text += ", " + std::to_string(failed) + " failed";
  if (!unreachable_.empty()) text += ", " + std::to_string(unreachable_.size()) + " unreachable";
  if (superseded_by_ != 0)
    text +=
        ", and generation " + std::to_string(superseded_by_) + " took over" + dot + "follow: " + FollowBy();
  else if (!stopped_.empty())
    text += (waiting_.empty() ? "" : ", " + std::to_string(waiting_.size()) + " not begun") +
            ("; its rollout does not go on by itself" +
             (rollout_.empty() ? ": " : " (" + Printable(rollout_) + "): ")) +
            Printable(stopped_) + dot + "next: railctl rollout status";
  else if (!waiting_.empty())
    text += ", " + std::to_string(waiting_.size()) + " still at work" + dot + "follow: " + FollowBy();
  if (right < nodes_) text += dot + "see: railctl status";
  if (CanUndo()) text += dot + "undo: railctl rollback";
  const ExitCode code = exit();
  const Verdict verdict =
      code == ExitCode::kDone ? Verdict::kCompliant
      : code == ExitCode::kFailed || code == ExitCode::kDifferences || code == ExitCode::kStopped
          ? Verdict::kDrifted
          : Verdict::kUnknown;
  const Cell glyph = VerdictCell(verdict, terminal);
  return Coloured(glyph.text.substr(0, glyph.text.find(' ')), glyph.tone, terminal) + " " + text + "\n";
}

std::string ApplyProgress::Table(const Terminal& terminal) const {
  std::string out;
  if (wait_) {
    railwright::Table table({{.header = "NODE"},
                             {.header = "OUTCOME"},
                             {.header = "CHANGED", .right = true},
                             {.header = "PROBLEM"}});
    for (Row& row : Rows(terminal))
      table.Add({std::move(row.node), std::move(row.verdict), std::move(row.changed), std::move(row.what)});
    out = table.Render(terminal);
    if (!out.empty()) out += "\n";
  }
  return out + Sentence(terminal);
}

}  // namespace railwright::cli
