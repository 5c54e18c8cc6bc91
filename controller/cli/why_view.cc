#include "controller/cli/why_view.h"

#include <sstream>

#include "core/text/shapes.h"
#include "core/text/times.h"
#include "core/wire/wire.h"

namespace railwright::cli {
namespace {

using Json = nlohmann::ordered_json;

// A value as people may read it; "" is a value too.
std::string Shown(std::string_view value) { return value.empty() ? "(nothing)" : Printable(value); }

std::string ChangeText(const ChangeRecord& change, const Terminal& terminal) {
  std::string text = Shown(change.from) + (terminal.utf8 ? " → " : " -> ") + Shown(change.to);
  if (!change.by.empty()) text += ", by " + Printable(change.by);
  if (!change.noticed.empty()) text += ", noticed by " + Printable(change.noticed);
  if (change.took.count() > 0) text += ", " + Took(change.took);
  if (!change.ok && change.kind != ChangeKind::kDrift)
    text += "; failed" + (change.message.empty() ? "" : ": " + Printable(change.message));
  return text;
}

}  // namespace

Json WhyJson(const v1::WhyRequest& asked, const v1::WhyResponse& answer) {
  Json json = {{"node", asked.node()},
               {"key", asked.key()},
               {"generation", answer.generation()},
               {"targets", Json::array()}};
  for (const v1::WhyTarget& target : answer.targets()) {
    Json layers = Json::array(), changes = Json::array();
    for (const v1::WhyLayer& layer : target.layers())
      layers.push_back(
          {{"value", layer.value()},
           {"mode", Name(FromWire(layer.mode()))},
           {"precedence", layer.precedence()},
           {"won", layer.won()},
           {"origin", {{"document", layer.origin().document()}, {"place", layer.origin().place()}}}});
    for (const v1::ChangeRecord& change : target.changes()) changes.push_back(ToJson(FromWire(change)));
    json["targets"].push_back(
        {{"target", target.target()},
         {"value", target.value()},
         {"since_generation", target.since_generation()},
         {"layers", std::move(layers)},
         {"finding", target.has_finding() ? ToJson(FromWire(target.finding())) : Json(nullptr)},
         {"changes", std::move(changes)}});
  }
  return json;
}

std::string WhyText(const v1::WhyRequest& asked, const v1::WhyResponse& answer, const Terminal& terminal,
                    std::chrono::system_clock::time_point now) {
  std::ostringstream out;
  const std::string name = asked.key() + (asked.target().empty() ? "" : " " + asked.target());
  if (answer.targets().empty()) {
    out << "No document sets " << name << " on " << asked.node() << ", generation " << answer.generation()
        << "; it is left as it is.\n";
    return out.str();
  }
  for (const v1::WhyTarget& target : answer.targets()) {
    if (&target != &answer.targets(0)) out << '\n';
    out << Coloured(Printable(asked.key()), Tone::kStrong, terminal)
        << (target.target().empty() ? "" : " " + Printable(target.target())) << " = " << Shown(target.value())
        << "  on " << asked.node();
    if (target.since_generation() > 0) out << ", since generation " << target.since_generation();
    out << '\n';

    Table layers({{.header = ""},
                  {.header = "VALUE", .max_width = 40},
                  {.header = "MODE"},
                  {.header = "PRECEDENCE", .right = true},
                  {.header = "SET BY"},
                  {.header = "AT"}});
    for (const v1::WhyLayer& layer : target.layers())
      layers.Add({layer.won() ? "  wins" : "", layer.value(), std::string(Name(FromWire(layer.mode()))),
                  std::to_string(layer.precedence()), layer.origin().document(), layer.origin().place()});
    out << layers.Render(terminal);

    if (!target.has_finding()) {
      out << "  seen: nothing yet\n";
    } else {
      const Finding seen = FromWire(target.finding());
      const Cell verdict = VerdictCell(seen.verdict, terminal);
      out << "  seen: " << Coloured(verdict.text, verdict.tone, terminal)
          << (seen.reason.empty() ? "" : " (" + seen.reason + ")") << ", value " << Shown(seen.observed)
          << '\n';
      if (!seen.message.empty()) out << "        " << Printable(seen.message) << '\n';
      for (const std::string& line : seen.evidence) out << "        " << Printable(line) << '\n';
      if (!seen.fix.empty()) out << "        fix: " << Printable(seen.fix) << '\n';
    }
    Table changes({{.header = ""},
                   {.header = "CHANGED"},
                   {.header = "KIND"},
                   {.header = "GEN", .right = true},
                   {.header = "WHAT"}});
    for (const v1::ChangeRecord& record : target.changes()) {
      const ChangeRecord change = FromWire(record);
      changes.Add({"  ", Ago(now - change.at), std::string(Name(change.kind)),
                   std::to_string(change.generation.value), ChangeText(change, terminal)});
    }
    out << changes.Render(terminal);
  }
  return out.str();
}

}  // namespace railwright::cli
