#include "controller/fleet/profiles.h"

#include <algorithm>
#include <map>
#include <set>

#include "controller/fleet/aliases.h"

namespace railwright::fleet {

namespace {

class ProfileCompiler {
 public:
  ProfileCompiler(const Document& document, const CatalogDeclarations& catalog, const Inventory& inventory,
                  Complaints& complaints, std::vector<std::string>& warnings)
      : document_(document),
        catalog_(catalog),
        inventory_(inventory),
        complaints_(complaints),
        warnings_(warnings) {}

  CompiledProfile Compile(const v1::Profile& profile);

 private:
  void Select(const v1::Profile& profile, CompiledProfile& out);
  void CompileEntry(const v1::SettingEntry& entry, CompiledSetting& out);
  void AddPortWishes(const v1::SettingEntry& entry, CompiledSetting& out);
  void Add(CompiledSetting& out, Wish wish, const v1::SettingValue& value);
  bool ReadScope(const v1::TextMapEntry& entry, std::string_view key, Wish& wish);
  void WarnOfIdleWishes(const CompiledProfile& profile);
  void WarnOfForeignPorts(const CompiledProfile& profile);
  static std::string Text(const v1::SettingValue& value);

  const Document& document_;
  const CatalogDeclarations& catalog_;
  const Inventory& inventory_;
  Complaints& complaints_;
  std::vector<std::string>& warnings_;
};

CompiledProfile ProfileCompiler::Compile(const v1::Profile& profile) {
  CompiledProfile out;
  out.document = &document_;
  out.mode = ParseMode(profile.mode()).value_or(Mode::kObserve);
  out.max_disruption = ParseDisruption(profile.max_disruption()).value_or(Disruption::kTrafficBlip);
  out.precedence = profile.precedence();
  Select(profile, out);
  std::map<std::string, const v1::SettingEntry*> seen;
  for (const v1::SettingEntry& entry : profile.settings()) {
    const auto match = FindKey(catalog_, entry.key());
    if (!match.ok()) {
      complaints_.At(document_, entry.mark(), match.status().message(), static_cast<int>(entry.key().size()));
      continue;
    }
    const auto [first, fresh] = seen.emplace(match->key, &entry);
    if (!fresh) {
      complaints_.At(document_, entry.mark(),
                     "setting " + match->key + " is given twice (first at " +
                         PlaceText(document_, PlaceOf(first->second->mark())) + ")",
                     static_cast<int>(entry.key().size()));
      continue;
    }
    CompiledSetting setting{match->key, match->targets, {}};
    CompileEntry(entry, setting);
    out.settings.push_back(std::move(setting));
  }
  if (profile.settings().empty())
    warnings_.push_back(document_.id() + " has no settings");
  else if (out.nodes.empty())
    warnings_.push_back(document_.id() + " selects no node");
  else
    WarnOfIdleWishes(out);
  if (out.mode == Mode::kEnforce) WarnOfForeignPorts(out);
  return out;
}

void ProfileCompiler::Select(const v1::Profile& profile, CompiledProfile& out) {
  const v1::NodeSelector& selector = profile.for_();
  out.selector = CompileSelector(document_, selector, complaints_);
  if (!selector.role().empty() && !inventory_.roles.contains(selector.role()))
    complaints_.At(
        document_, document_.places.Of(selector.mark(), v1::NodeSelector::kRoleFieldNumber),
        "no node has the role " + Quoted(selector.role()) +
            DidYouMean(selector.role(), {inventory_.roles.begin(), inventory_.roles.end()}, "roles in use"),
        static_cast<int>(selector.role().size()));
  std::vector<std::string> missing;
  for (const std::string& name : out.selector.names)
    if (!inventory_.by_name.contains(name)) missing.push_back(name);
  if (!missing.empty()) {
    std::sort(missing.begin(), missing.end());
    warnings_.push_back(document_.id() + " names " + Named(missing) + ", which no cluster declares");
  }
  const auto take = [&](std::size_t i) {
    if (out.selector.Matches(inventory_.nodes[i])) out.nodes.push_back(i);
  };
  if (!out.selector.by_name) {
    for (std::size_t i = 0; i < inventory_.nodes.size(); ++i) take(i);
  } else {
    for (const std::string& name : out.selector.names)
      if (const auto found = inventory_.by_name.find(name); found != inventory_.by_name.end())
        take(found->second);
    std::sort(out.nodes.begin(), out.nodes.end());
  }
}

std::string ProfileCompiler::Text(const v1::SettingValue& value) {
  if (value.form_case() == v1::SettingValue::kScalar) return value.scalar();
  std::string out;
  for (const std::string& item : value.list().items()) {
    if (!out.empty()) out += ',';
    out += item;
  }
  return out;
}

void ProfileCompiler::Add(CompiledSetting& out, Wish wish, const v1::SettingValue& value) {
  wish.place = PlaceOf(value.mark());
  auto canonical = CanonicalValue(catalog_, out.key, wish.value);
  if (!canonical.ok()) {
    std::string message = canonical.status().message();
    if (message.find(out.key) == std::string::npos) message = out.key + ": " + message;
    complaints_.At(
        document_, wish.place, std::move(message),
        value.form_case() == v1::SettingValue::kScalar ? static_cast<int>(value.scalar().size()) : 1);
    return;
  }
  wish.value = std::move(*canonical);
  out.wishes.push_back(std::move(wish));
}

void ProfileCompiler::CompileEntry(const v1::SettingEntry& entry, CompiledSetting& out) {
  if (out.targets == TargetKind::kPort) return AddPortWishes(entry, out);
  Wish wish;
  const v1::SettingValue& value = entry.value();
  if (value.form_case() == v1::SettingValue::kMap) {
    // A flat map of a node's setting: "k=v", joined by blanks.
    for (const v1::TextMapEntry& part : value.map().entries()) {
      if (!wish.value.empty()) wish.value += ' ';
      wish.value += part.key() + "=" + Text(part.value());
    }
  } else {
    wish.value = Text(value);
  }
  Add(out, std::move(wish), value);
}

void ProfileCompiler::AddPortWishes(const v1::SettingEntry& entry, CompiledSetting& out) {
  const v1::SettingValue& value = entry.value();
  if (value.form_case() != v1::SettingValue::kMap) {
    Wish wish;
    wish.scope = Wish::Scope::kRole;
    wish.role = PortRole::kFabric;
    wish.value = Text(value);
    return Add(out, std::move(wish), value);
  }
  if (value.map().entries().empty())
    complaints_.At(document_, value.mark(), out.key + ": an empty map sets nothing; write {fabric: VALUE}");
  for (const v1::TextMapEntry& part : value.map().entries()) {
    Wish wish;
    if (!ReadScope(part, out.key, wish)) continue;
    wish.value = Text(part.value());
    Add(out, std::move(wish), part.value());
  }
  std::stable_sort(out.wishes.begin(), out.wishes.end(),
                   [](const Wish& a, const Wish& b) { return a.scope > b.scope; });
}

bool ProfileCompiler::ReadScope(const v1::TextMapEntry& entry, std::string_view key, Wish& wish) {
  const std::string& word = entry.key();
  const auto role = ParsePortRole(word);
  if (word == kAllPortsWord) {
    wish.scope = Wish::Scope::kAllPorts;
  } else if (role && *role != PortRole::kUnspecified) {
    wish.scope = Wish::Scope::kRole;
    wish.role = *role;
  } else if (inventory_.port_names.contains(word)) {
    wish.scope = Wish::Scope::kPort;
    wish.port = word;
  } else {
    std::vector<std::string_view> known{"fabric", "storage", "management", kAllPortsWord};
    known.insert(known.end(), inventory_.port_names.begin(), inventory_.port_names.end());
    complaints_.At(document_, entry.mark(),
                   std::string(key) + ": " + Quoted(word) + " is neither a port role nor a declared port" +
                       DidYouMean(word, known, "known are"),
                   static_cast<int>(word.size()));
    return false;
  }
  return true;
}

// Values that some selected nodes have no port for.
void ProfileCompiler::WarnOfIdleWishes(const CompiledProfile& profile) {
  struct Idle {
    std::vector<std::string> keys;
    std::vector<std::string> nodes;
  };
  std::map<std::string, Idle> idle;  // "fabric ports" → who lacks them
  for (const CompiledSetting& setting : profile.settings)
    for (const Wish& wish : setting.wishes) {
      if (wish.scope == Wish::Scope::kNode) continue;
      const std::string what = wish.scope == Wish::Scope::kPort   ? "port " + wish.port
                               : wish.scope == Wish::Scope::kRole ? std::string(Name(wish.role)) + " ports"
                                                                  : "ports";
      const auto [found, fresh] = idle.try_emplace(what);
      Idle& entry = found->second;
      if (fresh)
        for (const std::size_t i : profile.nodes) {
          const InventoryNode& node = inventory_.nodes[i];
          if (std::none_of(node.ports.begin(), node.ports.end(),
                           [&](const Port& p) { return wish.Covers(p); }))
            entry.nodes.push_back(node.name);
        }
      if (entry.keys.empty() || entry.keys.back() != setting.key) entry.keys.push_back(setting.key);
    }
  for (const auto& [what, entry] : idle) {
    if (entry.nodes.empty()) continue;
    std::string keys;
    for (const std::string& key : entry.keys) keys += (keys.empty() ? "" : ", ") + key;
    warnings_.push_back(document_.id() + " sets " + keys + " on " + what + ", which " + Named(entry.nodes) +
                        (entry.nodes.size() == 1 ? " does not have" : " do not have"));
  }
}

// Ports that an agent reads but never writes, whatever a profile says.
void ProfileCompiler::WarnOfForeignPorts(const CompiledProfile& profile) {
  std::set<std::pair<std::string_view, PortRole>> ports;
  for (const std::size_t i : profile.nodes)
    for (const Port& port : inventory_.nodes[i].ports)
      if (port.role != PortRole::kFabric) ports.emplace(port.name, port.role);
  for (const auto& [name, role] : ports) {
    Port port;
    port.name = name;
    port.role = role;
    std::string keys;
    for (const CompiledSetting& setting : profile.settings)
      if (std::any_of(setting.wishes.begin(), setting.wishes.end(),
                      [&](const Wish& wish) { return wish.Covers(port); }))
        keys += (keys.empty() ? "" : ", ") + setting.key;
    if (!keys.empty())
      warnings_.push_back(document_.id() + " enforces " + keys + " on port " + port.name + " (" +
                          std::string(Name(role)) + "); only fabric ports are written, others are reported");
  }
}

}  // namespace

bool Wish::Covers(const Port& declared) const {
  switch (scope) {
    case Scope::kNode: return false;
    case Scope::kAllPorts: return true;
    case Scope::kRole: return declared.role == role;
    case Scope::kPort: return declared.name == port;
  }
  return false;
}

std::vector<CompiledProfile> CompileProfiles(const std::vector<Document>& documents,
                                             const CatalogDeclarations& catalog, const Inventory& inventory,
                                             Complaints& complaints, std::vector<std::string>& warnings) {
  std::vector<CompiledProfile> out;
  for (const Document& document : documents)
    if (const auto* profile = std::get_if<v1::Profile>(&document.body))
      out.push_back(ProfileCompiler(document, catalog, inventory, complaints, warnings).Compile(*profile));
  return out;
}

}  // namespace railwright::fleet
