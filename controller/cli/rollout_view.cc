#include "controller/cli/rollout_view.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "controller/cli/fleet_view.h"

namespace railwright::cli {
namespace {

using WallTime = std::chrono::system_clock::time_point;

constexpr std::size_t kRows = 32;  // of members; -o json has all

// The glyph of a verdict that means the same, and the word of the state.
Cell WithGlyph(Verdict like, const std::string& word, const Terminal& terminal) {
  Cell cell = VerdictCell(like, terminal);
  cell.text = cell.text.substr(0, cell.text.find(' ') + 1) + word;
  return cell;
}

Cell StateCell(const v1::RolloutInfo& rollout, const Terminal& terminal) {
  const std::string word = StateWord(rollout.state());
  switch (rollout.state()) {
    case v1::ROLLOUT_STATE_DONE:
      return WithGlyph(rollout.failed() > 0 ? Verdict::kDrifted : Verdict::kCompliant, word, terminal);
    case v1::ROLLOUT_STATE_HALTED:
    case v1::ROLLOUT_STATE_ABORTED: return WithGlyph(Verdict::kDrifted, word, terminal);
    case v1::ROLLOUT_STATE_RUNNING: return WithGlyph(Verdict::kPending, word, terminal);
    case v1::ROLLOUT_STATE_PAUSED:
    case v1::ROLLOUT_STATE_WAITING: return {"! " + word, Tone::kWarn};
    case v1::ROLLOUT_STATE_SUPERSEDED: return WithGlyph(Verdict::kNotApplicable, word, terminal);
    default: return WithGlyph(Verdict::kUnknown, word, terminal);
  }
}

Cell StateCell(v1::RolloutNodeState state, const Terminal& terminal) {
  const std::string word = StateWord(state);
  switch (state) {
    case v1::ROLLOUT_NODE_STATE_DONE: return WithGlyph(Verdict::kCompliant, word, terminal);
    case v1::ROLLOUT_NODE_STATE_FAILED: return WithGlyph(Verdict::kDrifted, word, terminal);
    case v1::ROLLOUT_NODE_STATE_CHANGING: return WithGlyph(Verdict::kPending, word, terminal);
    case v1::ROLLOUT_NODE_STATE_WAITING: return WithGlyph(Verdict::kNotApplicable, word, terminal);
    case v1::ROLLOUT_NODE_STATE_ACCEPTED: return {"! " + word, Tone::kWarn};
    default: return WithGlyph(Verdict::kUnknown, word, terminal);
  }
}

std::string Plural(std::uint64_t count, std::string_view one) {
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

std::uint32_t WavesOf(const v1::RolloutInfo& rollout) {
  return std::max(rollout.wave(), static_cast<std::uint32_t>(rollout.waves_size()));
}

std::string Dot(const Terminal& terminal) { return terminal.utf8 ? " · " : ", "; }
void Title(std::string& out, const std::string& text, const Terminal& terminal) {
  out += Coloured(text, Tone::kStrong, terminal) + "\n";
}

void AddWaves(std::string& out, const v1::RolloutInfo& rollout, const Terminal& terminal) {
  if (rollout.waves().empty()) return;
  Title(out, "Waves", terminal);
  const bool done = rollout.state() == v1::ROLLOUT_STATE_DONE;
  for (int i = 0; i < rollout.waves_size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i) + 1;
    std::string glyph = " ";
    if (done || number < rollout.wave())
      glyph = Coloured(terminal.utf8 ? "✓" : "+", Tone::kGood, terminal);
    else if (number == rollout.wave())
      glyph = Coloured(terminal.utf8 ? "…" : "~", Tone::kWarn, terminal);
    out += "  " + glyph + " " + std::to_string(number) + "  " + Printable(rollout.waves(i)) + "\n";
  }
  if (rollout.unavailable_most() > 0)
    out += "  at most " + Plural(rollout.unavailable_most(), "node") + " at the same time\n";
  out += "\n";
}

void AddApprovals(std::string& out, const v1::RolloutInfo& rollout, const Terminal& terminal, WallTime now) {
  if (rollout.approvals_needed() == 0 && rollout.approvals().empty()) return;
  Title(out,
        "Approvals: " + std::to_string(rollout.approvals_size()) + " of " +
            std::to_string(rollout.approvals_needed()),
        terminal);
  for (const v1::RolloutApprovalInfo& one : rollout.approvals())
    out += "  " + Printable(one.who()) + (one.from().empty() ? "" : " from " + Printable(one.from())) + ", " +
           SeenText(one.at_unix_us(), now) + (one.reason().empty() ? "" : ": " + Printable(one.reason())) +
           "\n";
  out += "\n";
}

// Nodes that do the same for the same reason are one row; it says since when the first of them does.
void AddMembers(std::string& out, const v1::RolloutInfo& rollout, const Terminal& terminal, WallTime now) {
  struct Group {
    const v1::RolloutNode* first;
    std::int64_t since;
    std::vector<std::string> nodes;
  };
  std::vector<Group> groups;
  const auto kind = [](const v1::RolloutNode& one) { return std::tuple(one.state(), one.wave(), one.why()); };
  for (const v1::RolloutNode& one : rollout.members()) {
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const Group& group) { return kind(*group.first) == kind(one); });
    if (same == groups.end()) {
      groups.push_back({&one, one.since_unix_us(), {one.node()}});
    } else {
      same->nodes.push_back(one.node());
      same->since = std::min(same->since, one.since_unix_us());
    }
  }
  Table table({{.header = "NODE"},
               {.header = "STATE"},
               {.header = "WAVE", .right = true},
               {.header = "SINCE"},
               {.header = "WHY"}});
  for (std::size_t i = 0; i < groups.size() && i < kRows; ++i)
    table.Add({NodesText(groups[i].nodes), StateCell(groups[i].first->state(), terminal),
               groups[i].first->wave() == 0 ? "" : std::to_string(groups[i].first->wave()),
               groups[i].since == 0 ? "" : SeenText(groups[i].since, now), groups[i].first->why()});
  if (table.empty()) return;
  out += table.Render(terminal);
  if (groups.size() > kRows)
    out += "and " + Plural(groups.size() - kRows, "line") + " more: railctl rollout status -o json\n";
  out += "\n";
}

// What the state means, in words; without what the command line says next.
std::string Meaning(const v1::RolloutInfo& rollout) {
  if (rollout.state() != v1::ROLLOUT_STATE_DONE) {
    std::string text = StateWord(rollout.state());
    std::transform(text.begin(), text.begin() + 1, text.begin(), [](char c) { return c + ('a' - 'A'); });
    if (rollout.state() == v1::ROLLOUT_STATE_RUNNING || rollout.reason().empty())
      return text + ": " + ProgressText(rollout);
    if (!rollout.by().empty()) text += " by " + Printable(rollout.by());
    return text + ": " + Printable(rollout.reason()) + "; " + ProgressText(rollout);
  }
  if (rollout.nodes() == 0) return "done: it changes no node";
  std::string text = "done: ";
  if (!CountsKnown(rollout)) {
    text += Plural(rollout.nodes(), "node");
  } else {
    text += (rollout.done() == rollout.nodes() && rollout.nodes() > 1)
                ? "all " + std::to_string(rollout.nodes()) + " nodes have it"
                : std::to_string(rollout.done()) + " of " + Plural(rollout.nodes(), "node") +
                      (rollout.nodes() == 1 ? " has it" : " have it");
  }
  if (rollout.failed() > 0) text += ", " + std::to_string(rollout.failed()) + " failed";
  if (rollout.accepted() > 0) text += ", " + std::to_string(rollout.accepted()) + " failed and accepted";
  if (const auto left = rollout.waiting() + rollout.changing(); left > 0)
    text += "; " + Plural(left, "node") + (rollout.away() == left ? " away" : " left") + ", changed when " +
            (left == 1 ? "it comes" : "they come");
  return text;
}

// How far it is, and each thing that it waits for.
std::pair<std::string, std::vector<std::string>> LineParts(const v1::RolloutsResponse& answer) {
  std::string text;
  for (const v1::Brake& one : answer.brakes())
    text += (one.rack().empty() ? "THE MASS-FAILURE BREAKER IS OPEN"
                                : "RACK " + Printable(one.rack()) + " IS FROZEN") +
            (": " + Printable(one.reason()) + "; ");
  if (answer.rollouts().empty()) return {text + "no rollout is known", {}};
  const v1::RolloutInfo& rollout = answer.rollouts(0);
  text += "generation " + std::to_string(rollout.generation()) + ": ";
  text += rollout.state() == v1::ROLLOUT_STATE_RUNNING ? ProgressText(rollout) : Meaning(rollout);
  // What a halt or a pause says of itself stands there already.
  std::vector<std::string> waits;
  for (const std::string& sentence : rollout.waits_for())
    if (rollout.reason().empty() || sentence.find(rollout.reason()) == std::string::npos)
      waits.push_back(Printable(sentence));
  return {std::move(text), std::move(waits)};
}

}  // namespace

std::string ProgressText(const v1::RolloutInfo& rollout) {
  if (rollout.nodes() == 0) return "it changes no node";
  std::string text;
  if (const std::uint32_t waves = WavesOf(rollout); waves > 0)
    text = (rollout.wave() == 0 ? "before wave 1" : "wave " + std::to_string(rollout.wave())) + " of " +
           std::to_string(waves) + ", ";
  text += std::to_string(rollout.done()) + " of " + Plural(rollout.nodes(), "node") + " done";
  const auto add = [&](std::uint32_t count, const char* what) {
    if (count > 0) text += ", " + std::to_string(count) + " " + what;
  };
  add(rollout.changing(), "changing");
  add(rollout.failed(), "failed");
  add(rollout.accepted(), "failed and accepted");
  add(rollout.waiting(), "waiting");
  if (rollout.away() > 0) text += " (" + std::to_string(rollout.away()) + " away)";
  return text;
}

std::string FromToText(const v1::RolloutInfo& rollout, const Terminal& terminal) {
  return (rollout.base() == 0 ? "none" : std::to_string(rollout.base())) + (terminal.utf8 ? " → " : " -> ") +
         std::to_string(rollout.generation());
}

std::string NextOf(const v1::RolloutInfo& rollout) {
  if (!rollout.next().empty()) return Printable(rollout.next());
  const bool goes_on =
      rollout.state() == v1::ROLLOUT_STATE_RUNNING || rollout.state() == v1::ROLLOUT_STATE_WAITING;
  return goes_on ? "railctl rollout status --watch" : "";
}

std::string BrakesText(const v1::RolloutsResponse& answer, const Terminal& terminal, WallTime now) {
  std::string out;
  for (const v1::Brake& one : answer.brakes()) {
    const bool breaker = one.rack().empty();
    const std::string loud =
        breaker ? "THE MASS-FAILURE BREAKER IS OPEN" : "RACK " + Printable(one.rack()) + " IS FROZEN";
    out += Coloured((terminal.utf8 ? "✗ " : "x ") + loud, Tone::kBad, terminal) + " since " +
           SeenText(one.since_unix_us(), now) + ": " + Printable(one.reason()) + "\n";
    out += breaker ? "    no node is begun and nothing is put right anywhere; when it is clear why: railctl "
                     "rollout reset-breaker\n"
                   : "    nothing is begun or put right there; it ends when they are back, or by railctl "
                     "rollout reset-breaker\n";
  }
  return out.empty() ? out : out + "\n";
}

std::string RolloutText(const v1::RolloutsResponse& answer, const Terminal& terminal, WallTime now) {
  std::string out = BrakesText(answer, terminal, now);
  const std::string dot = Dot(terminal);
  if (answer.rollouts().empty())
    return out + (answer.generation() == 0
                      ? "nothing was applied yet, so nothing spreads" + dot + "next: railctl apply -f FILE\n"
                      : "no rollout of generation " + std::to_string(answer.generation()) + " is known" +
                            dot + "see: railctl status\n");
  const v1::RolloutInfo& rollout = answer.rollouts(0);
  out += Coloured("Rollout of generation " + std::to_string(rollout.generation()), Tone::kStrong, terminal) +
         dot + FromToText(rollout, terminal) + dot + "by " + Printable(rollout.author()) + " " +
         SeenText(rollout.created_unix_us(), now) + dot +
         (rollout.policy().empty() ? "policy: built in" : Printable(rollout.policy())) + "\n\n";
  AddWaves(out, rollout, terminal);
  AddApprovals(out, rollout, terminal, now);
  if (!rollout.waits_for().empty()) {
    Title(out, "What it waits for", terminal);
    for (const std::string& sentence : rollout.waits_for()) out += "  " + Printable(sentence) + "\n";
    out += "\n";
  }
  AddMembers(out, rollout, terminal, now);
  const Cell state = StateCell(rollout, terminal);
  out += Coloured(state.text.substr(0, state.text.find(' ')), state.tone, terminal) + " " + Meaning(rollout);
  if (const std::string next = NextOf(rollout); !next.empty()) out += dot + "next: " + next;
  return out + "\n";
}

std::string RolloutsTable(const v1::RolloutsResponse& answer, const Terminal& terminal, WallTime now) {
  Table table({{.header = "GEN", .right = true},
               {.header = "STATE"},
               {.header = "CREATED"},
               {.header = "AUTHOR"},
               {.header = "NODES", .right = true},
               {.header = "FAILED", .right = true},
               {.header = "WAVE"},
               {.header = "POLICY"},
               {.header = "BY"},
               {.header = "WHY"}});
  for (const v1::RolloutInfo& one : answer.rollouts()) {
    std::string wave = one.wave() == 0 ? "" : std::to_string(one.wave());
    if (one.waves_size() > 0) wave = std::to_string(one.wave()) + " of " + std::to_string(WavesOf(one));
    table.Add({std::to_string(one.generation()), StateCell(one, terminal),
               SeenText(one.created_unix_us(), now), one.author(), std::to_string(one.nodes()),
               std::to_string(one.failed()), wave, one.policy().empty() ? "built in" : one.policy(), one.by(),
               one.reason()});
  }
  return BrakesText(answer, terminal, now) +
         (table.empty() ? "no rollout is known; next: railctl apply -f FILE\n" : table.Render(terminal));
}

std::string RolloutLine(const v1::RolloutsResponse& answer) {
  const auto [head, waits] = LineParts(answer);
  std::string text = head;
  for (std::size_t i = 0; i < waits.size(); ++i)
    text += (i > 0 || waits[i].starts_with("waits for ") ? "; " : "; waits for ") + waits[i];
  return text;
}

std::string RolloutLive(const v1::RolloutsResponse& answer, std::size_t lines) {
  const auto [head, waits] = LineParts(answer);
  std::string text = head;
  std::size_t shown = std::min(waits.size(), lines - 1);
  if (shown < waits.size()) --shown;
  for (std::size_t i = 0; i < shown; ++i) text += "\n  " + waits[i];
  if (shown < waits.size()) text += "\n  and " + std::to_string(waits.size() - shown) + " reasons more";
  return text;
}

std::string WithoutCountdown(std::string text) {
  constexpr std::string_view kLeft = " s more";
  for (std::size_t at = text.find(kLeft); at != std::string::npos; at = text.find(kLeft, at)) {
    std::size_t begin = at;
    while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
    text.erase(begin, at - begin);
    at = begin + kLeft.size();
  }
  return text;
}

}  // namespace railwright::cli
