#include <chrono>
#include <optional>

#include "agent/loop/status_file.h"
#include "agent/offline/commands.h"
#include "core/files/whole_file.h"
#include "core/text/times.h"

namespace railwright::offline {
namespace {

using Json = nlohmann::ordered_json;

Verdict ParseVerdict(const std::string& text) {
  for (const Verdict verdict :
       {Verdict::kCompliant, Verdict::kDrifted, Verdict::kPending, Verdict::kNotApplicable})
    if (Name(verdict) == text) return verdict;
  return Verdict::kUnknown;
}

std::vector<Finding> ParseFindings(const Json& list) {
  std::vector<Finding> findings;
  for (const Json& one : list) {
    Finding finding;
    finding.code = one.value("code", "");
    finding.key = one.value("key", "");
    finding.target = one.value("target", "");
    finding.desired = one.value("desired", "");
    finding.observed = one.value("observed", "");
    finding.verdict = ParseVerdict(one.value("verdict", ""));
    finding.reason = one.value("reason", "");
    finding.message = one.value("message", "");
    finding.fix = one.value("fix", "");
    findings.push_back(std::move(finding));
  }
  return findings;
}

void PrintTable(const Json& status, const Console& console) {
  const Json& agent = status.at("agent");
  const Json& node = status.at("nodes").at(0);
  const std::string name = node.value("name", "");
  const std::vector<Finding> findings = ParseFindings(node.at("findings"));
  const auto age = std::chrono::milliseconds(agent.value("age_ms", std::int64_t{0}));
  const std::string running = agent.value("running", false)
                                  ? "running (process " + std::to_string(agent.value("pid", 0)) + ")"
                                  : Coloured("not running", Tone::kBad, console.terminal);
  console.out << FindingsTable(findings, console.terminal);
  if (!findings.empty()) console.out << "\n";

  Table facts({{""}, {""}});
  const auto fact = [&](const char* what, const std::string& value) {
    if (!value.empty()) facts.Add({Cell(what, Tone::kDim), value});
  };
  const std::string generation = std::to_string(status.value("generation", std::uint64_t{0}));
  fact("generation",
       generation == "0" ? "none yet" : generation + (status.value("settled", false) ? "" : ", not settled"));
  fact("controller", agent.value("controller", "") + ": " + agent.value("session", ""));
  fact("reached by", agent.value("management_netdev", ""));
  if (const std::string trying = agent.value("trying", ""); !trying.empty())
    fact("being tried", trying + "; put back at " + agent.value("tried_until", "") + " unless confirmed");
  fact("refused", agent.value("refused", ""));
  fact("trouble", agent.value("trouble", ""));
  for (const Json& pause : status.at("pauses")) {
    const std::string key = pause.value("key", "");
    fact("paused", (key.empty() ? "everything" : key) + " by " + pause.value("by", "") +
                       (pause.value("reason", "").empty() ? "" : ": " + pause.value("reason", "")));
  }
  for (const Json& missing : agent.at("missing_hints")) fact("no events", missing.get<std::string>());
  const Json& counters = status.at("counters");
  fact("since start", std::to_string(counters.value("scans", 0)) + " scans, " +
                          std::to_string(counters.value("corrected", 0)) + " corrected, " +
                          std::to_string(counters.value("failed", 0)) + " failed, " +
                          std::to_string(counters.value("contended", 0)) + " contended");
  console.out << facts.Render(console.terminal, false) << "\n";

  Table changes({{"CHANGE"},
                 {"KEY"},
                 {"TARGET"},
                 {"FROM", false, 24},
                 {"TO", false, 24},
                 {"BY"},
                 {"TOOK", true},
                 {"AT"}});
  for (const Json& change : status.at("changes"))
    changes.Add({change.value("kind", "") +
                     (change.value("ok", false) || change.value("kind", "") == "drift" ? "" : " (failed)"),
                 change.value("key", ""), change.value("target", ""), change.value("from", ""),
                 change.value("to", ""), change.value("by", ""),
                 Took(std::chrono::microseconds(change.value("took_us", std::int64_t{0}))),
                 change.value("at", "")});
  if (!changes.empty()) console.out << changes.Render(console.terminal) << "\n";
  console.out << running << ", as of " << Ago(age) << "\n"
              << VerdictLine(name, ParseVerdict(node.value("verdict", "")), findings, console.terminal);
}

}  // namespace

ExitCode PrintStatus(const std::string& directory, Format format, const Console& console) {
  const auto state_dir = StateDir::Look(directory);
  if (!state_dir.ok()) return console.Fail(state_dir.status());
  const auto text = ReadWhole(state_dir->status());
  if (!text.ok()) {
    if (text.status().code() != Code::kNotFound) return console.Fail(text.status());
    console.Note("railwright-agent: no agent has written a status in " + directory +
                 " yet; start one with `railwright-agent run`, or name another --state-dir");
    return ExitCode::kIncomplete;
  }
  try {
    Json status = Json::parse(*text);
    const std::optional<int> holder = state_dir->Holder();
    Json& agent = status.at("agent");
    agent["running"] = holder.has_value();
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    agent["age_ms"] = std::max<std::int64_t>(0, now.count() - agent.value("written_at_ms", now.count()));
    // An agent that cannot write, or hangs, cannot write that down either.
    const Status room = state_dir->Room();
    if (holder && !room.ok()) {
      agent["trouble"] = room.message() + "; nothing is written to this machine until that is over";
    } else if (holder &&
               agent.value("age_ms", std::int64_t{0}) > 2 * std::chrono::milliseconds(kStatusAge).count()) {
      agent["trouble"] = "the agent has not written its status for " +
                         std::to_string(agent.value("age_ms", std::int64_t{0}) / 1000) +
                         " s: a pass takes very long, or it hangs";
    }
    // Nor is what it saw before, or what a dead one saw, evidence for now.
    if (!holder || !agent.value("trouble", "").empty()) status["complete"] = false;
    if (format == Format::kTable)
      PrintTable(status, console);
    else
      console.Print(status, format);
    return CodeOf(status);
  } catch (const Json::exception& error) {
    return console.Fail(Status(Code::kDataLoss, state_dir->status() + " is damaged (" + error.what() +
                                                    "); the running agent writes it anew within a minute"));
  }
}

}  // namespace railwright::offline
