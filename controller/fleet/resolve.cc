#include "controller/fleet/resolve.h"

#include <algorithm>
#include <set>

#include "controller/fleet/aliases.h"
#include "controller/fleet/complaints.h"
#include "controller/fleet/inventory.h"
#include "controller/fleet/profiles.h"

namespace railwright {

namespace {

using fleet::AliasExpansion;
using fleet::CompiledProfile;
using fleet::CompiledSetting;
using fleet::Complaints;
using fleet::Inventory;
using fleet::Voice;
using fleet::Wish;

// Two profiles that disagree about a key, wherever they do.
struct Conflict {
  Voice first, second;
  std::set<std::string> targets;
  std::set<std::string> nodes;
};

// Nodes that the same profiles select and that have the same ports (but for addresses) have the same
// settings.
struct Family {
  std::vector<const CompiledProfile*> profiles;  // highest precedence first, then in the order of documents
  const InventoryNode* example = nullptr;
  std::vector<std::size_t> nodes;
};

class Layering {
 public:
  Layering(const Inventory& inventory, const std::vector<CompiledProfile>& profiles, Complaints& complaints,
           std::vector<std::string>& warnings)
      : inventory_(inventory),
        profiles_(profiles),
        complaints_(complaints),
        aliases_(inventory, complaints, warnings) {}

  void Run(Resolved& resolved);

 private:
  std::vector<Family> Families() const;
  ResolvedNode Settle(const Family& family);
  void Speak(const CompiledProfile& profile, const InventoryNode& node);
  void Note(const std::string& key, const std::string& target, const Voice& a, const Voice& b,
            const Family& family);
  void TellConflicts();

  const Inventory& inventory_;
  const std::vector<CompiledProfile>& profiles_;
  Complaints& complaints_;
  AliasExpansion aliases_;
  AliasExpansion::Voices voices_;  // of the family at hand
  std::map<std::tuple<std::string, const CompiledProfile*, const CompiledProfile*>, Conflict> conflicts_;
};

std::vector<Family> Layering::Families() const {
  std::vector<std::vector<const CompiledProfile*>> of_node(inventory_.nodes.size());
  for (const CompiledProfile& profile : profiles_)
    for (const std::size_t i : profile.nodes) of_node[i].push_back(&profile);
  using Shape = std::vector<std::pair<std::string, PortRole>>;
  std::map<std::pair<std::vector<const CompiledProfile*>, Shape>, Family> families;
  for (std::size_t i = 0; i < inventory_.nodes.size(); ++i) {
    Shape shape;
    for (const Port& port : inventory_.nodes[i].ports) shape.emplace_back(port.name, port.role);
    Family& family = families[{of_node[i], std::move(shape)}];
    if (family.nodes.empty()) {
      family.profiles = of_node[i];
      std::stable_sort(family.profiles.begin(), family.profiles.end(),
                       [](const auto* a, const auto* b) { return a->precedence > b->precedence; });
      family.example = &inventory_.nodes[i];
    }
    family.nodes.push_back(i);
  }
  std::vector<Family> out;
  for (auto& [key, family] : families) out.push_back(std::move(family));
  return out;
}

void Layering::Speak(const CompiledProfile& profile, const InventoryNode& node) {
  for (const CompiledSetting& setting : profile.settings) {
    if (setting.targets == TargetKind::kNode) {
      for (const Wish& wish : setting.wishes) voices_[{setting.key, {}}].push_back({&profile, &wish});
      continue;
    }
    for (const Port& port : node.ports) {
      // The most specific wish of a profile is what it says about a port.
      const auto wish = std::find_if(setting.wishes.begin(), setting.wishes.end(),
                                     [&](const Wish& w) { return w.Covers(port); });
      if (wish != setting.wishes.end()) voices_[{setting.key, port.name}].push_back({&profile, &*wish});
    }
  }
}

ResolvedNode Layering::Settle(const Family& family) {
  voices_.clear();
  for (const CompiledProfile* profile : family.profiles) Speak(*profile, *family.example);
  aliases_.Expand(voices_, family.nodes);
  std::vector<SettingSpec> settings;
  std::map<KeyTarget, std::vector<Layer>> all_layers;
  for (const auto& [at, voices] : voices_) {
    std::vector<Layer> layers;
    for (const Voice& voice : voices) {
      const Document& document = *voice.profile->document;
      layers.push_back({voice.wish->value,
                        voice.profile->mode,
                        voice.profile->precedence,
                        {document.id(), fleet::PlaceText(document, voice.wish->place)}});
      const Voice& winner = voices.front();
      if (voice.profile->precedence == winner.profile->precedence &&
          (voice.wish->value != winner.wish->value || voice.profile->mode != winner.profile->mode))
        Note(at.key, at.target, winner, voice, family);
    }
    const Layer& top = layers.front();
    settings.push_back(
        {at.key, at.target, top.value, top.mode, top.origin, voices.front().profile->max_disruption});
    all_layers.emplace_hint(all_layers.end(), at, std::move(layers));
  }
  ResolvedNode out;
  out.settings = std::move(settings);
  out.layers = std::move(all_layers);
  return out;
}

void Layering::Note(const std::string& key, const std::string& target, const Voice& a, const Voice& b,
                    const Family& family) {
  Conflict& conflict =
      conflicts_.try_emplace({key, a.profile, b.profile}, Conflict{a, b, {}, {}}).first->second;
  conflict.targets.insert(target);
  for (const std::size_t i : family.nodes) conflict.nodes.insert(inventory_.nodes[i].name);
}

void Layering::TellConflicts() {
  for (const auto& [which, conflict] : conflicts_) {
    const auto& [first, second, targets, nodes] = conflict;
    std::string on;
    for (const std::string& target : targets)
      if (!target.empty()) on += (on.empty() ? " on " : ", ") + target;
    const auto says = [](const Voice& voice) {
      return fleet::Quoted(voice.wish->value) + " (" + std::string(Name(voice.profile->mode)) + ")";
    };
    complaints_.At(
        *second.profile->document, second.wish->place,
        "conflict: " + std::get<0>(which) + on + " of " + fleet::Named({nodes.begin(), nodes.end()}) +
            " is " + says(first) + " by " + first.profile->document->id() + " at " +
            fleet::PlaceText(*first.profile->document, first.wish->place) + ", and " + says(second) + " by " +
            second.profile->document->id() + "; give the one that shall win a higher " +
            "\"precedence\" (both have " + std::to_string(first.profile->precedence) + ")");
  }
}

void Layering::Run(Resolved& resolved) {
  for (const Family& family : Families()) {
    const ResolvedNode settled = Settle(family);
    for (const std::size_t i : family.nodes) {
      const InventoryNode& node = inventory_.nodes[i];
      ResolvedNode& out = resolved.nodes[node.name];
      out.node = node;
      out.settings = settled.settings;
      out.layers = settled.layers;
    }
  }
  TellConflicts();
  aliases_.Tell();
}

}  // namespace

std::variant<Resolved, std::vector<Problem>> Resolve(const std::vector<Document>& documents,
                                                     const CatalogDeclarations& catalog,
                                                     ResolveOptions options) {
  Resolved resolved;
  Complaints complaints;
  fleet::RefuseDoubles(documents, complaints);
  Inventory inventory = fleet::BuildInventory(documents, options, complaints, resolved.warnings);
  const std::vector<CompiledProfile> profiles =
      fleet::CompileProfiles(documents, catalog, inventory, complaints, resolved.warnings);
  resolved.rollout = fleet::CompileRolloutPolicy(documents, inventory, complaints, resolved.warnings);
  // Conflicts of values that are wrong themselves would only distract.
  if (complaints.empty()) Layering(inventory, profiles, complaints, resolved.warnings).Run(resolved);
  if (!complaints.empty()) return complaints.Take();
  resolved.cluster_subnets = std::move(inventory.cluster_subnets);
  return resolved;
}

}  // namespace railwright
