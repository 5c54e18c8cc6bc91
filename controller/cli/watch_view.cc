#include "controller/cli/watch_view.h"

#include <ctime>

#include "controller/cli/fleet_view.h"
#include "core/text/times.h"
#include "core/wire/wire.h"

namespace railwright::cli {
namespace {

using Json = nlohmann::ordered_json;
using WallTime = std::chrono::system_clock::time_point;

std::string Padded(const std::string& text, std::size_t width) {
  const std::size_t has = DisplayWidth(text);
  return has < width ? text + std::string(width - has, ' ') : text;
}

std::string ProblemsOf(const NodeView& node) {
  if (!node.note.empty()) return node.note;
  std::string text;
  for (const Finding& finding : node.findings) {
    if (finding.verdict == Verdict::kCompliant || finding.verdict == Verdict::kNotApplicable) continue;
    text += (text.empty() ? "" : ", ") + finding.key + (finding.target.empty() ? "" : " " + finding.target) +
            (finding.reason.empty() ? "" : " (" + finding.reason + ")");
  }
  return text;
}

v1::StatusResponse Alone(const v1::NodeStatus& node) {
  v1::StatusResponse response;
  response.set_generation(node.desired_generation());
  *response.add_nodes() = node;
  return response;
}

}  // namespace

std::string TimeOfDay(std::chrono::system_clock::time_point at) {
  const std::time_t when = std::chrono::system_clock::to_time_t(at);
  std::tm local{};
  char text[16] = "";
  if (localtime_r(&when, &local) != nullptr) std::strftime(text, sizeof text, "%H:%M:%S", &local);
  return text;
}

std::string WatchView::Line(const v1::WatchEvent& event, WallTime now) {
  std::string out;
  const std::string time = Coloured(TimeOfDay(now), Tone::kDim, terminal_) + "  ";
  if (event.generation() != 0)
    out += time + "generation " + std::to_string(event.generation()) + " is stored\n";
  if (event.has_change()) {
    const ChangeRecord change = FromWire(event.change().change());
    widest_ = std::max(widest_, event.change().node().size());
    std::string text = Padded(event.change().node(), widest_) + "  " + std::string(Name(change.kind)) + "  " +
                       change.key + (change.target.empty() ? "" : " " + change.target) + "  " + change.from +
                       (terminal_.utf8 ? " → " : " -> ") + change.to;
    if (change.took.count() > 0) text += "  " + Took(change.took);
    if (!change.by.empty()) text += "  by " + change.by;
    if (!change.message.empty()) text += "  " + change.message;
    out += time + Printable(text) + "\n";
  }
  if (event.has_node()) {
    const v1::StatusResponse alone = Alone(event.node());
    const FleetView fleet = Judge(alone, now);
    const NodeView& node = fleet.nodes.front();
    widest_ = std::max(widest_, node.status->node().size());
    const Cell verdict = VerdictCell(node.verdict, terminal_);
    const std::string what = Padded(verdict.text, 15) + "  gen " + std::to_string(node.status->generation()) +
                             "  " + Printable(ProblemsOf(node));
    std::string& before = shown_[node.status->node()];
    if (before != what) {
      before = what;
      std::string shown = Coloured(verdict.text, verdict.tone, terminal_) + what.substr(verdict.text.size());
      while (shown.ends_with(' ')) shown.pop_back();
      out += time + Padded(node.status->node(), widest_) + "  " + shown + "\n";
    }
  }
  return out;
}

std::vector<Json> WatchView::Objects(const v1::WatchEvent& event, WallTime now) const {
  std::vector<Json> objects;
  const auto begin = [&](const char* type) { return Json{{"type", type}, {"at", Rfc3339(now)}}; };
  if (event.generation() != 0) {
    objects.push_back(begin("generation"));
    objects.back()["generation"] = event.generation();
  }
  if (event.has_change()) {
    objects.push_back(begin("change"));
    objects.back()["node"] = event.change().node();
    objects.back()["change"] = ToJson(FromWire(event.change().change()));
  }
  if (event.has_node()) {
    const v1::StatusResponse alone = Alone(event.node());
    objects.push_back(begin("node"));
    objects.back().update(StatusJson(Judge(alone, now))["nodes"][0]);
  }
  return objects;
}

}  // namespace railwright::cli
