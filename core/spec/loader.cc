#include "core/spec/loader.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "core/spec/message_walk.h"
#include "core/spec/source_text.h"
#include "core/spec/yaml_tree.h"
#include "railwright/explain.h"

namespace railwright {

namespace {

using spec::Problems;
using spec::YamlNode;

constexpr std::size_t kMostBytes = 8U << 20;

constexpr std::array<std::string_view, 3> kKinds{"Cluster", "Profile", "RolloutPolicy"};
const std::string kKindLines = R"("kind: Cluster", "kind: Profile" or "kind: RolloutPolicy")";
// Of the house plan, not of this version.
constexpr std::array<std::string_view, 5> kLaterKinds{"Topology", "SwitchProfile", "Playbook",
                                                      "CompatibilityRules", "AcceptancePlan"};

// The value of "kind", or nullptr after a problem.
const YamlNode* KindOf(const YamlNode& root, Problems& problems) {
  const std::string next = "; begin the document with " + kKindLines;
  if (root.kind != YamlNode::Kind::kMap) {
    problems.Add(root.place, "a document must be a map, found " + spec::Describe(root) + next, root.width);
    return nullptr;
  }
  for (std::size_t i = 0; i + 1 < root.items.size(); i += 2) {
    if (root.items[i].text != "kind") continue;
    const YamlNode& value = root.items[i + 1];
    if (value.kind != YamlNode::Kind::kScalar || value.text.empty()) {
      problems.Add(value.place,
                   "kind: expected Cluster, Profile or RolloutPolicy, found " + spec::Describe(value),
                   value.width);
      return nullptr;
    }
    if (std::find(kKinds.begin(), kKinds.end(), value.text) != kKinds.end()) return &value;
    if (std::find(kLaterKinds.begin(), kLaterKinds.end(), value.text) != kLaterKinds.end()) {
      problems.Add(value.place,
                   "kind " + value.text +
                       " is not supported by this version; it reads Cluster, Profile and RolloutPolicy",
                   value.width);
      return nullptr;
    }
    const std::string_view near = value.text.size() > 64 ? std::string_view() : Nearest(value.text, kKinds);
    problems.Add(value.place,
                 "unknown kind " + spec::Describe(value) +
                     (near.empty() ? std::string("; known are: Cluster, Profile, RolloutPolicy")
                                   : "; did you mean \"" + std::string(near) + "\"?"),
                 value.width);
    return nullptr;
  }
  problems.Add(root.place, "missing \"kind\"" + next, root.width);
  return nullptr;
}

void LoadOne(std::string_view file, const spec::Slice& slice, Problems& problems,
             std::vector<Document>& documents) {
  const std::size_t before = problems.size();
  const auto root = spec::ParseYaml(slice.text, slice.line, problems);
  if (!root) return;
  const YamlNode* kind = KindOf(*root, problems);
  if (kind == nullptr) return;
  Document document;
  document.kind = kind->text;
  document.file = file;
  document.line = slice.line;
  document.text = slice.text;
  spec::MessageWalk walk(file, document.places, problems);
  const auto fill = [&](auto& message) {
    walk.Fill(*root, message, "kind");
    document.name = message.name();
  };
  if (kind->text == "Cluster")
    fill(document.body.emplace<v1::Cluster>());
  else if (kind->text == "RolloutPolicy")
    fill(document.body.emplace<v1::RolloutPolicy>());
  else
    fill(document.body.emplace<v1::Profile>());
  if (problems.size() != before) return;
  document.places.Seal();
  documents.push_back(std::move(document));
}

const v1::Mark& MarkOf(const Document& document) {
  return std::visit([](const auto& body) -> const v1::Mark& { return body.mark(); }, document.body);
}

void RefuseDoubles(const std::vector<Document>& documents, Problems& problems) {
  std::map<std::string, const Document*> seen;
  for (const Document& document : documents) {
    const auto [first, fresh] = seen.emplace(document.id(), &document);
    if (fresh) continue;
    const v1::Mark& here = MarkOf(document);
    const v1::Mark& there = MarkOf(*first->second);
    problems.Add({static_cast<int>(here.line()), static_cast<int>(here.column())},
                 document.kind + " \"" + document.name + "\" is declared twice (first at line " +
                     std::to_string(there.line()) + "); rename one");
  }
}

}  // namespace

std::uint32_t Places::Key(std::string_view key) {
  std::uint32_t hash = 0x811c9dc5U;  // FNV-1a, 32 bit; a collision would only point at a neighbour
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193U;
  return hash;
}

void Places::Add(Place owner, int number, std::uint32_t sub, Place place) {
  entries_.push_back({owner, number, sub, place});
}

namespace {
template <class Entry>
auto Order(const Entry& e) {
  return std::tuple(e.owner.line, e.owner.column, e.number, e.sub);
}
}  // namespace

void Places::Seal() {
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return Order(a) < Order(b); });
}

Place Places::Of(const v1::Mark& owner, int number, std::uint32_t sub) const {
  const Entry wanted{{static_cast<int>(owner.line()), static_cast<int>(owner.column())}, number, sub, {}};
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), wanted,
                                      [](const Entry& a, const Entry& b) { return Order(a) < Order(b); });
  if (found == entries_.end() || Order(*found) != Order(wanted)) return wanted.owner;
  return found->place;
}

Loaded LoadDocuments(std::string_view file, std::string_view text, int first_line) {
  Loaded loaded;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark says nothing in UTF-8
  Problems problems(file, text, first_line);
  if (text.size() > kMostBytes) {
    problems.AddForFile("the file has " + std::to_string(text.size()) + " bytes; at most 8 MiB are read");
  } else if (auto bad = spec::FindBadBytes(text, first_line); !bad.message.empty()) {
    problems.Add(bad.place, std::move(bad.message));
  } else {
    const auto slices = spec::SplitDocuments(text, first_line);
    if (slices.empty()) problems.AddForFile("the file holds no document; begin one with " + kKindLines);
    for (const spec::Slice& slice : slices) {
      if (problems.full()) break;
      if (slice.empty)
        problems.Add({slice.marker_line, 1}, "no document follows this \"---\"; remove the line or write one",
                     3);
      else if (slice.directive_line != 0)
        problems.Add({slice.directive_line, 1}, "directives (%YAML, %TAG) are not accepted; remove the line");
      else
        LoadOne(file, slice, problems, loaded.documents);
    }
    RefuseDoubles(loaded.documents, problems);
  }
  loaded.problems = problems.Take();
  return loaded;
}

}  // namespace railwright
