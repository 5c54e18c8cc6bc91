#include "controller/cli/learned_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "controller/cli/sources.h"
#include "controller/cli/wrap.h"
#include "controller/fleet/documents.h"
#include "core/text/times.h"
#include "core/text/yaml.h"

namespace railwright::cli {
namespace {

using Json = nlohmann::ordered_json;
using Kind = SameAnswer::Kind;
using Agreement = LearnedSetting::Agreement;

constexpr std::size_t kShownValue = 200;  // bytes of a value, in a comment

// One line that any YAML reader takes for a comment: plain ASCII.
std::string Safe(std::string_view text, std::size_t most = 1024) {
  std::string out;
  for (std::size_t i = 0; i < text.size() && out.size() < most; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0xc0)
      out += text.substr(i, 3) == "…" ? "..." : "?";  // one sign a character
    else if (c < 0x80)
      out += c == '\n'              ? std::string("; ")
             : c < ' ' || c == 0x7f ? std::string(" ")
                                    : std::string(1, text[i]);
  }
  return out.size() < most ? out : out + "...";
}

// A number stays one where it means the same.
Json Scalar(const std::string& text) {
  const bool number = !text.empty() && text.size() <= 15 &&
                      text.find_first_not_of("0123456789") == std::string::npos &&
                      (text == "0" || text[0] != '0');
  return number ? Json(std::stoull(text)) : Json(text);
}

std::string Shown(const SameAnswer& answer) {
  return answer.kind == Kind::kNotSet ? "(not set)" : Safe(answer.text, kShownValue);
}

std::vector<SeenAt> AllPlaces(const LearnedSetting& setting) {
  std::vector<SeenAt> all;
  for (const SameAnswer& answer : setting.answers)
    all.insert(all.end(), answer.places.begin(), answer.places.end());
  return all;
}

std::string Subject(const LearnedSetting& setting) {
  return setting.key + (setting.targets == TargetKind::kPort ? " on fabric ports" : "");
}

class ProfileWriter {
 public:
  ProfileWriter(const Lesson& lesson, const CatalogDeclarations& catalog, bool ports_declared)
      : lesson_(lesson), catalog_(catalog), ports_declared_(ports_declared) {}

  // `selector`: the line of the profile's `for`.
  std::string Write(const std::vector<LearnedSetting>& settings, const std::string& selector) {
    Head();
    out_ += "kind: Profile\nname: " + lesson_.name + "\nfor: " + selector + "\nmode: observe\n";
    const std::size_t before = out_.size();
    for (const LearnedSetting& setting : settings) Setting(setting);
    if (written_ == 0)
      out_.insert(before, "settings: {}\n");
    else
      out_.insert(before, "settings:\n");
    Tail(settings);
    return std::move(out_);
  }
  std::size_t written() const { return written_; }

 private:
  // Between groups. Not after a text of several lines, which could take it for its own end.
  void Blank() {
    if (!after_block_) out_ += "\n";
  }
  void Comment(const std::string& text, const char* indent = "# ") { out_ += Wrap(text, indent); }

  void Head() {
    std::vector<std::string> names;
    for (const v1::ObservedNode& node : lesson_.nodes) names.push_back(node.node());
    Comment("Learned from " + FoldNames(names) + " by railctl learn, " + Rfc3339(lesson_.at) +
            "; generation " + std::to_string(lesson_.generation) + " was in force.");
    Comment(
        "It only observes: once applied, railctl drift lists what would be changed, and nothing is written. "
        "To switch enforcement on for some keys, move them into a profile with mode: enforce.");
    for (const v1::NotAnswered& one : lesson_.silent)
      Comment("NOT LEARNED FROM " + Safe(one.node()) + ": " + Safe(one.reason()) + ".");
    for (const v1::ObservedNode& node : lesson_.nodes)
      if (node.left_out() > 0)
        Comment("The answer of " + node.node() + " had no room for " + std::to_string(node.left_out()) +
                " values.");
  }

  void Help(const LearnedSetting& setting) {
    const auto match = catalog_.Find(setting.key);
    if (!match.ok() || match->info == helped_) return;
    const std::string group = setting.key.substr(0, setting.key.find('.'));
    if (group != group_ && !group_.empty()) Blank();
    group_ = group;
    helped_ = match->info;
    Comment(Safe(match->info->help), "  # ");
  }

  void Entry(const LearnedSetting& setting, const Json& value) {
    Help(setting);
    // The block style of the whole, less its first line.
    const std::string yaml = ToYaml(Json{{"settings", Json{{setting.key, value}}}});
    out_ += yaml.substr(yaml.find('\n') + 1);
    after_block_ = yaml.find(": |") != std::string::npos;
    ++written_;
  }
  void EntryFor(const LearnedSetting& setting) {
    if (setting.targets == TargetKind::kPort)
      Entry(setting, Json{{"fabric", Scalar(setting.value)}});
    else
      Entry(setting, Scalar(setting.value));
  }

  void Answers(const LearnedSetting& setting, const char* indent) {
    const std::vector<SeenAt> all = AllPlaces(setting);
    for (const SameAnswer& answer : setting.answers) {
      std::string line = answer.kind >= Kind::kNotApplicable
                             ? Safe(answer.text) + " (" + Safe(answer.why) + ")"
                             : Shown(answer);
      if (answer.kind == Kind::kUnsayable) line += " (no profile can ask for it: " + Safe(answer.why) + ")";
      Comment(line + ": " + PlacesText(answer.places, all), indent);
    }
  }

  void Setting(const LearnedSetting& setting) {
    const bool by_majority = lesson_.majority && !setting.value.empty();
    switch (setting.agreement) {
      case Agreement::kAgreed:
        Help(setting);
        for (const SameAnswer& answer : setting.answers)
          if (answer.kind == Kind::kNotApplicable)
            Comment(setting.key + " does not apply to " + PlacesText(answer.places, AllPlaces(setting)) +
                        ": " + Safe(answer.text),
                    "  # ");
        return EntryFor(setting);
      case Agreement::kByPort:
        if (ports_declared_) {
          Json ports = Json::object();
          for (const auto& [port, value] : setting.by_port) ports[port] = Scalar(value);
          Help(setting);
          Comment("the ports differ, each is the same on every node:", "  # ");
          return Entry(setting, ports);
        }
        [[fallthrough]];
      case Agreement::kDiffers:
        Help(setting);
        Comment(Subject(setting) + ": THE NODES DIFFER" +
                    (by_majority             ? "; what most have:"
                     : setting.value.empty() ? ""
                                             : "; most have " + Safe(setting.value, kShownValue)),
                "  # ");
        Answers(setting, "  #   ");
        if (by_majority) EntryFor(setting);
        return;
      case Agreement::kUnread:
        if (!by_majority) return;
        Help(setting);
        Comment(Subject(setting) + ": could not be read everywhere; what most have:", "  # ");
        Answers(setting, "  #   ");
        return EntryFor(setting);
      default: return;
    }
  }

  void Title(const std::string& title) {
    Blank();
    out_ += "# " + title + "\n";
    after_block_ = false;
  }

  // Of the settings with this agreement, each with its answers.
  void Section(const std::vector<LearnedSetting>& settings, Agreement agreement, const std::string& title) {
    bool first = true;
    for (const LearnedSetting& setting : settings) {
      if (setting.agreement != agreement) continue;
      if (agreement == Agreement::kUnread && lesson_.majority && !setting.value.empty()) continue;
      if (std::exchange(first, false)) Title(title);
      Comment(Subject(setting) + (setting.declared_by.empty() ? "" : ", by " + Safe(setting.declared_by)),
              "#   ");
      Answers(setting, "#     ");
    }
  }

  void Keys(const std::string& title, const std::vector<std::string>& keys) {
    if (keys.empty()) return;
    std::string list;
    for (const std::string& key : keys) list += (list.empty() ? "" : ", ") + Safe(key);
    Title(title);
    Comment(list, "#   ");
  }

  void Tail(const std::vector<LearnedSetting>& settings) {
    Section(settings, Agreement::kUnread, "Could not be read everywhere, so not learned:");
    Section(settings, Agreement::kDeclared, "Another profile asks for it already, so not learned:");
    Section(settings, Agreement::kUnsayable, "Read, but nothing that a profile can ask for:");
    std::map<std::string, std::vector<const LearnedSetting*>> no_place;  // "NoRdmaDevice" → settings
    std::vector<std::string> not_set;
    for (const LearnedSetting& setting : settings) {
      if (setting.agreement == Agreement::kNotSet) not_set.push_back(setting.key);
      if (setting.agreement != Agreement::kNotApplicable || setting.answers.empty()) continue;
      no_place[setting.answers.front().text].push_back(&setting);
    }
    Keys("Not set on any node:", not_set);
    for (const auto& [reason, all] : no_place) {
      std::vector<std::string> keys;
      for (const LearnedSetting* setting : all) keys.push_back(setting->key);
      // Each has a sentence of its own, with its own names in it; one shows what is meant.
      Keys("Does not apply: " + Safe(reason) + (all.size() == 1 ? ": " : ", for one: ") +
               Safe(all.front()->answers.front().why),
           keys);
    }
    std::set<std::string> foreign;
    for (const v1::ObservedNode& node : lesson_.nodes)
      for (const v1::ObservedPort& port : node.ports())
        if (port.port().role() != v1::PORT_ROLE_FABRIC) foreign.insert(port.port().name());
    Keys("Ports of another role than fabric are never written, and were not learned from:",
         {foreign.begin(), foreign.end()});
  }

  const Lesson& lesson_;
  const CatalogDeclarations& catalog_;
  const bool ports_declared_;
  std::string out_, group_;
  const SettingInfo* helped_ = nullptr;
  std::size_t written_ = 0;
  bool after_block_ = false;
};

// The role that all `nodes` have, or "".
std::string CommonRole(const std::vector<std::string>& nodes, const Resolved& in_force) {
  std::set<std::string> roles;
  for (const std::string& name : nodes) roles.insert(in_force.nodes.at(name).node.role);
  return roles.size() == 1 ? *roles.begin() : "";
}

// {"role": "gpu"} when they share one, else their names.
std::string Selector(const std::vector<std::string>& nodes, const std::string& role) {
  const Json selector =
      role.empty() ? Json{{"nodes", Json::array({FoldNames(nodes)})}} : Json{{"role", role}};
  return "{" + selector.begin().key() + ": " + selector.begin().value().dump() + "}";
}

// `ports:` for a cluster that declares none, from what its nodes could have; "" when nobody proposes any.
std::string ProposedPorts(const std::vector<const v1::ObservedNode*>& nodes, const Resolved& in_force) {
  std::map<std::string, std::vector<std::string>> alike;  // the ports' lines → nodes
  constexpr const char* kOn = "\x01";                     // where the selector goes
  for (const v1::ObservedNode* node : nodes) {
    std::string lines;
    for (const v1::ObservedPort& one : node->proposed()) {
      const v1::Port& port = one.port();
      lines += "  # proposed: " + Safe(one.message()) + "\n";
      lines +=
          "  - {name: " + Json(port.name()).dump() + ", select: {" +
          (port.pci().empty() ? "netdev: " + Json(port.netdev()).dump() : "pci: " + Json(port.pci()).dump()) +
          "}, role: fabric, on: " + kOn + "}\n";
    }
    if (!lines.empty()) alike[lines].push_back(node->node());
  }
  std::string text;
  for (auto& [lines, names] : alike) {
    const std::string on = Selector(names, alike.size() == 1 ? CommonRole(names, in_force) : "");
    for (const char c : lines) text += c == *kOn ? on : std::string(1, c);
  }
  return text;
}

std::string Commented(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    out += "# " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

// The clusters of the nodes as they are in force; one without ports gets those that were proposed, or, where
// they cannot be put in, a comment.
std::string ClustersText(const Lesson& lesson, bool insert, bool& proposed) {
  std::map<std::string, std::vector<const v1::ObservedNode*>> by_cluster;
  for (const v1::ObservedNode& node : lesson.nodes)
    by_cluster[lesson.in_force.nodes.at(node.node()).node.cluster].push_back(&node);
  std::string text;
  for (const Document& document : lesson.documents) {
    const auto* cluster = std::get_if<v1::Cluster>(&document.body);
    const auto nodes = by_cluster.find(document.name);
    if (cluster == nullptr || nodes == by_cluster.end()) continue;
    text += "---\n" + document.text + "\n";
    const std::string ports = ProposedPorts(nodes->second, lesson.in_force);
    if (ports.empty()) continue;
    proposed = true;
    text += insert && cluster->ports().empty()
                ? "ports:\n" + ports
                : "# Ports that could be declared; the settings above were read on them:\n" +
                      Commented("ports:\n" + ports);
  }
  return text;
}

std::vector<Problem> Check(const Lesson& lesson, const CatalogDeclarations& catalog, LearnedDocuments& made) {
  Loaded loaded = LoadDocuments(lesson.name + ".yaml", made.text);
  if (!loaded.problems.empty()) return loaded.problems;
  auto changes = ApplyDocuments(lesson.documents, std::move(loaded.documents), false);
  if (auto* bad = std::get_if<std::vector<Problem>>(&changes)) return *bad;
  auto resolved = Resolve(std::get<DocumentChanges>(changes).next, catalog);
  if (auto* bad = std::get_if<std::vector<Problem>>(&resolved)) return *bad;
  made.warnings = std::get<Resolved>(resolved).warnings;
  return {};
}

}  // namespace

Result<LearnedDocuments> WriteLesson(const Lesson& lesson, const CatalogDeclarations& catalog) {
  std::vector<std::string> names;
  for (const v1::ObservedNode& node : lesson.nodes) {
    if (!lesson.in_force.nodes.contains(node.node()))
      return Status(
          Code::kInvalidArgument,
          "node " + node.node() + " stands in no Cluster document that is in force; apply one with it first");
    names.push_back(node.node());
  }
  const std::string role = CommonRole(names, lesson.in_force);
  std::vector<std::string> selected = names;
  if (!role.empty())
    for (const auto& [name, node] : lesson.in_force.nodes)
      if (node.node.role == role) selected.push_back(name);

  LearnedDocuments made;
  made.settings = Learn(lesson.nodes, catalog, lesson.in_force, selected, "Profile/" + lesson.name);
  std::vector<Problem> problems;
  // First with the proposed ports in their cluster; where that makes no good document, beside it.
  for (const bool insert : {true, false}) {
    bool proposed = false;
    const std::string clusters = ClustersText(lesson, insert, proposed);
    ProfileWriter profile(lesson, catalog, insert || !proposed);
    made.text = profile.Write(made.settings, Selector(names, role)) + clusters;
    made.written = profile.written();
    problems = Check(lesson, catalog, made);
    if (problems.empty()) return made;
    if (!proposed) break;
  }
  return Status(Code::kInvalidArgument, ProblemsText(problems));
}

}  // namespace railwright::cli
