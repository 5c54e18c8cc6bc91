// The plan as people read it.
#include <algorithm>
#include <map>
#include <set>

#include "controller/cli/fleet_view.h"
#include "controller/cli/plan_view.h"
#include "controller/cli/wrap.h"

namespace railwright::cli {
namespace {

constexpr std::size_t kFromValues = 8;  // so many rows that differ only in what is there now are still listed

// One row of the plan: a group, or several groups that differ in nothing but a node's own value.
struct Row {
  const StepGroup* first = nullptr;
  std::vector<std::string> nodes;
  std::vector<const StepGroup*> own;  // those groups
};

class Writer {
 public:
  Writer(const PlanView& plan, const PlanTextOptions& options, const Terminal& terminal,
         std::chrono::system_clock::time_point now)
      : plan_(plan), options_(options), terminal_(terminal), now_(now) {}

  std::string Write() {
    Head();
    Documents();
    Changes();
    NotDone();
    Released();
    Silent();
    Why();
    Spread();
    for (const std::string& warning : plan_.result.warnings())
      out_ += Coloured("! ", Tone::kWarn, terminal_) + Printable(warning) + "\n";
    if (plan_.result.warnings_size() > 0) out_ += "\n";
    Verdict();
    return out_;
  }

 private:
  std::string Dot() const { return terminal_.utf8 ? " · " : ", "; }
  std::string Arrow() const { return terminal_.utf8 ? " → " : " -> "; }
  void Title(const std::string& text) { out_ += Coloured(text, Tone::kStrong, terminal_) + "\n"; }

  void Head() {
    const v1::PlanResult& result = plan_.result;
    const int asked = result.nodes_size() + result.not_answered_size();
    out_ += "Plan " + result.plan_id() + Dot() + "generation " +
            (result.base_generation() == 0 ? "none" : std::to_string(result.base_generation())) + Arrow() +
            std::to_string(result.next_generation()) + Dot() + std::to_string(result.nodes_size()) + " of " +
            std::to_string(asked) + (asked == 1 ? " node" : " nodes") + " answered\n\n";
  }

  void Documents() {
    const v1::PlanResult& result = plan_.result;
    if (!plan_.changes_documents()) return;
    Title("Documents");
    for (const std::string& one : result.documents_added()) out_ += "  + " + Printable(one) + "\n";
    for (const std::string& one : result.documents_changed()) out_ += "  ~ " + Printable(one) + "\n";
    for (const std::string& one : result.documents_removed()) out_ += "  - " + Printable(one) + "\n";
    out_ += "\n";
  }

  static const char* Sign(const Step& step) { return step.from.empty() ? "+" : step.to.empty() ? "-" : "~"; }

  std::string Change(const Row& row) const {
    const std::string values = Values(row.first->step);
    if (row.own.empty()) return values;
    if (!row.first->step.from.empty())
      return values + " on " + row.first->nodes.front() + ", each node its own";
    return values + (terminal_.utf8 ? " … " : " ... ") + Values(row.own.back()->step) + ", each node its own";
  }
  std::string Values(const Step& step) const {
    if (step.from.empty()) return step.to;
    return step.from + Arrow() + (step.to.empty() ? "nothing" : step.to);
  }

  std::string Disturbs(const Step& step) const {
    std::string text(Name(step.disruption));
    if (step.disruption != Disruption::kNone)
      for (std::size_t i = 0; i < step.blast.size(); ++i) text += (i == 0 ? " of " : ", ") + step.blast[i];
    return step.next_boot ? text + "; in force at next boot" : text;
  }

  // Steps that differ between nodes in value and origin only become one row: always when each node is to have
  // a value of its own (addresses by pattern), else when there are many.
  std::vector<Row> Rows(const std::vector<StepGroup>& groups) const {
    struct Alike {
      std::vector<std::size_t> groups;
      std::set<std::string> wishes;  // what each is to have, or to lose
      bool fold() const {
        return groups.size() > kFromValues || (groups.size() > 1 && wishes.size() == groups.size());
      }
    };
    const auto kind = [](const Step& step) {
      return std::tuple{step.key,      step.target, step.disruption,
                        step.refused,  step.mode,   std::string(Sign(step)),
                        step.next_boot};
    };
    std::map<std::tuple<std::string, std::string, Disruption, std::string, Mode, std::string, bool>, Alike>
        alike;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].nodes.size() != 1) continue;
      Alike& same = alike[kind(groups[i].step)];
      same.groups.push_back(i);
      const Step& step = groups[i].step;
      same.wishes.insert(step.to.empty() ? step.from : step.to);
    }
    std::vector<Row> rows;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      Row row{&groups[i], groups[i].nodes, {}};
      const auto same = groups[i].nodes.size() == 1 ? alike.find(kind(groups[i].step)) : alike.end();
      if (same != alike.end() && same->second.fold()) {
        if (same->second.groups.front() != i) continue;
        row.nodes.clear();
        for (const std::size_t one : same->second.groups) {
          row.nodes.push_back(groups[one].nodes.front());
          row.own.push_back(&groups[one]);
        }
        std::sort(row.nodes.begin(), row.nodes.end());
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  void Changes() {
    if (plan_.changes.empty()) return;
    // Rows for the same nodes stand together, in the order of execution.
    std::vector<std::pair<std::vector<std::string>, std::vector<Row>>> blocks;
    for (Row& row : Rows(plan_.changes)) {
      const auto at = std::find_if(blocks.begin(), blocks.end(),
                                   [&](const auto& block) { return block.first == row.nodes; });
      if (at == blocks.end()) {
        std::vector<std::string> nodes = row.nodes;
        blocks.push_back({std::move(nodes), {std::move(row)}});
      } else {
        at->second.push_back(std::move(row));
      }
    }
    for (const auto& [nodes, rows] : blocks) {
      Disruption worst = Disruption::kNone;
      for (const Row& row : rows) worst = std::max(worst, row.first->step.disruption);
      Title(NodesText(nodes) + Dot() + "disruption: " + std::string(Name(worst)));
      if (options_.why) {
        for (const Row& row : rows) Block(row);
      } else {
        Lines(rows);
      }
      out_ += "\n";
    }
  }

  void Lines(const std::vector<Row>& rows) {
    Table table({{.header = ""},
                 {.header = "KEY"},
                 {.header = "TARGET"},
                 {.header = "CHANGE", .max_width = 56},
                 {.header = "DISRUPTION"},
                 {.header = "SET BY"}});
    for (const Row& row : rows) {
      const Step& step = row.first->step;
      table.Add({std::string("  ") + Sign(step), step.key, step.target, Change(row), Disturbs(step),
                 step.origin.place});
    }
    out_ += table.Render(terminal_);
  }

  void Block(const Row& row) {
    const Step& step = row.first->step;
    out_ += std::string("  ") + Sign(step) + " " + Coloured(Printable(step.key), Tone::kStrong, terminal_) +
            (step.target.empty() ? "" : " " + Printable(step.target)) + "  " + Printable(Change(row)) + "\n";
    out_ += "      disruption  " + Printable(Disturbs(step)) + "\n";
    if (!step.why.empty()) out_ += "      why         " + Printable(step.why) + "\n";
    out_ +=
        "      set by      " + Printable(step.origin.document) + ", " + Printable(step.origin.place) + "\n";
    for (const StepGroup* one : row.own)
      out_ += "      " + one->nodes.front() + "  " + Printable(Values(one->step)) + "\n";
  }

  void NotDone() {
    if (plan_.refused.empty()) return;
    Title("Would not be done");
    Table table({{.header = "  REASON"},
                 {.header = "KEY"},
                 {.header = "TARGET"},
                 {.header = "CHANGE", .max_width = 56},
                 {.header = "NODES"},
                 {.header = "SET BY"}});
    std::set<std::pair<std::string, std::string>> sentences;
    for (const Row& row : Rows(plan_.refused)) {
      const Step& step = row.first->step;
      table.Add(
          {"  " + step.refused, step.key, step.target, Change(row), NodesText(row.nodes), step.origin.place});
      if (!step.refused_message.empty()) sentences.insert({step.refused, step.refused_message});
    }
    out_ += table.Render(terminal_);
    for (const auto& [reason, sentence] : sentences)
      out_ += "  " + reason + ": " + Printable(sentence) + "\n";
    out_ += "\n";
  }

  void Released() {
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> kept, restored;
    for (const v1::ReleasedKey& one : plan_.result.released())
      (one.restore() ? restored : kept)[{one.key(), one.target()}].push_back(one.node());
    const auto section = [&](const char* title, const auto& released) {
      if (released.empty()) return;
      Title(title);
      Table table({{.header = "  KEY"}, {.header = "TARGET"}, {.header = "NODES"}});
      for (const auto& [what, nodes] : released)
        table.Add({"  " + what.first, what.second, NodesText(nodes)});
      out_ += table.Render(terminal_) + "\n";
    };
    section("No longer declared: stays as it is and is not enforced any more (--restore puts originals back)",
            kept);
    section("No longer declared: the original is put back", restored);
  }

  void Silent() {
    if (plan_.result.not_answered_size() == 0) return;
    Title("Did not answer");
    for (const v1::NotAnswered& one : plan_.result.not_answered()) {
      out_ += "  ? " + one.node() + ": " + Printable(one.reason());
      if (one.last_seen_unix_us() != 0) out_ += ", last seen " + SeenText(one.last_seen_unix_us(), now_);
      out_ += "\n";
    }
    out_ += "\n";
  }

  // Each reason once; the blocks of --why have it already.
  void Why() {
    if (options_.why) return;
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // why → keys, in order
    for (const StepGroup& group : plan_.changes) {
      const Step& step = group.step;
      if (step.why.empty()) continue;
      auto at = std::find_if(reasons.begin(), reasons.end(),
                             [&](const auto& one) { return one.first == step.why; });
      if (at == reasons.end()) at = reasons.insert(at, {step.why, {}});
      if (std::find(at->second.begin(), at->second.end(), step.key) == at->second.end())
        at->second.push_back(step.key);
    }
    if (reasons.empty()) return;
    Title("Why");
    for (const auto& [why, keys] : reasons) {
      std::string names = keys.front();
      for (std::size_t i = 1; i < keys.size() && i < 3; ++i) names += ", " + keys[i];
      if (keys.size() > 3) names += " and " + std::to_string(keys.size() - 3) + " more";
      out_ += "  " + Printable(names) + "\n" + Wrap(why, "      ");
    }
    out_ += "\n";
  }

  void Spread() {
    if (plan_.result.rollout().empty()) return;
    Title("It would spread");
    for (const std::string& sentence : plan_.result.rollout()) out_ += "  " + Printable(sentence) + "\n";
    out_ += "\n";
  }

  void Verdict() {
    if (const std::string would = plan_.would_change.Sentence(); !would.empty())
      out_ += Coloured("~ ", Tone::kWarn, terminal_) + Printable(would) + "\n";
    const ExitCode code = plan_.exit();
    const char* glyph = code == ExitCode::kDone          ? (terminal_.utf8 ? "✓ " : "+ ")
                        : code == ExitCode::kDifferences ? "~ "
                                                         : "? ";
    const Tone tone = code == ExitCode::kDone ? Tone::kGood : Tone::kWarn;
    out_ += Coloured(glyph, tone, terminal_) + plan_.Sentence();
    if (!options_.next.empty()) out_ += Dot() + "next: " + options_.next;
    out_ += "\n";
  }

  const PlanView& plan_;
  const PlanTextOptions& options_;
  const Terminal& terminal_;
  std::chrono::system_clock::time_point now_;
  std::string out_;
};

}  // namespace

std::string PlanText(const PlanView& plan, const PlanTextOptions& options, const Terminal& terminal,
                     std::chrono::system_clock::time_point now) {
  return Writer(plan, options, terminal, now).Write();
}

}  // namespace railwright::cli
