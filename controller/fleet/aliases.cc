#include "controller/fleet/aliases.h"

#include <algorithm>

namespace railwright::fleet {
namespace {

// "Profile/a at site.yaml:8:24".
std::string Spot(const Document& document, const Wish& wish) {
  return document.id() + " at " + PlaceText(document, wish.place);
}

}  // namespace

Result<CatalogDeclarations::Match> FindKey(const CatalogDeclarations& catalog, std::string_view key) {
  const DcqcnAlias* alias = FindDcqcnAlias(key);
  if (alias == nullptr && key != kDcqcnAliasProfileKey) return catalog.Find(key);
  RW_ASSIGN_OR_RETURN(CatalogDeclarations::Match match,
                      catalog.Find(TargetKeyOf(alias != nullptr ? *alias : DcqcnAliases().front())));
  match.key = std::string(key);
  match.targets = TargetKind::kPort;
  return match;
}

Result<std::string> CanonicalValue(const CatalogDeclarations& catalog, std::string_view key,
                                   std::string_view value) {
  if (key == kDcqcnAliasProfileKey) {
    if (value == kDcqcnAliasProfile) return std::string(value);
    return Status(Code::kInvalidArgument,
                  std::string(key) + ": " + Quoted(value) + "; allowed: " + std::string(kDcqcnAliasProfile) +
                      " (dcqcn.alpha is dcqcn.initial_alpha_value, dcqcn.beta is dcqcn.rpg_ai_rate)");
  }
  const DcqcnAlias* alias = FindDcqcnAlias(key);
  if (alias == nullptr) return catalog.Canonical(key, value);
  const std::string register_key = TargetKeyOf(*alias);
  auto canonical = catalog.Canonical(register_key, value);
  if (canonical.ok()) return canonical;
  std::string message = canonical.status().message();
  if (message.find(register_key) == std::string::npos) message = register_key + ": " + message;
  return Status(canonical.status().code(), std::string(key) + " stands for " + message);
}

std::string AliasExpansion::Where::Text() const {
  std::string on;
  for (const std::string& target : targets) on += (on.empty() ? "" : ", ") + target;
  return on + " of " + Named({nodes.begin(), nodes.end()});
}

void AliasExpansion::Note(Telling& telling, const Voice& voice, const std::string& target,
                          const std::vector<std::size_t>& nodes) {
  telling.document = voice.profile->document;
  telling.where.targets.insert(target);
  for (const std::size_t i : nodes) telling.where.nodes.insert(inventory_.nodes[i].name);
}

void AliasExpansion::Expand(Voices& voices, const std::vector<std::size_t>& nodes) {
  const std::string first(kDcqcnAliasProfileKey);
  std::set<std::string> agreed;  // targets for which the profile of aliases is named
  std::map<std::string, std::set<const Document*>> named_by;
  for (auto at = voices.lower_bound({first, {}}); at != voices.end() && at->first.key == first;) {
    agreed.insert(at->first.target);
    for (const Voice& voice : at->second) {
      named_by[at->first.target].insert(voice.profile->document);
      profiles_.try_emplace(voice.profile->document, false);
    }
    at = voices.erase(at);
  }
  for (const DcqcnAlias& alias : DcqcnAliases()) {
    const std::string key(alias.key);
    for (auto at = voices.lower_bound({key, {}}); at != voices.end() && at->first.key == key;) {
      const std::string target = at->first.target;
      const std::vector<Voice> said = std::move(at->second);
      at = voices.erase(at);
      for (const Document* document : named_by[target]) profiles_[document] = true;
      const auto same = voices.find({TargetKeyOf(alias), target});
      for (const Voice& voice : said) {
        if (!agreed.contains(target)) {
          Note(alone_[{&alias, voice.wish}], voice, target, nodes);
        } else if (same != voices.end()) {
          const Voice& other = same->second.front();
          auto& [telling, document] = doubled_[{{&alias, voice.wish}, other.wish}];
          Note(telling, voice, target, nodes);
          document = other.profile->document;
        }
      }
      if (!agreed.contains(target) || same != voices.end()) continue;
      Note(expanded_[{&alias, said.front().wish}], said.front(), target, nodes);
      voices.emplace(KeyTarget{TargetKeyOf(alias), target}, said);
    }
  }
}

void AliasExpansion::Tell() {
  std::vector<std::string> lines;
  for (const auto& [said, telling] : expanded_) {
    const auto& [alias, wish] = said;
    lines.push_back(TargetKeyOf(*alias) + " " + wish->value + " on " + telling.where.Text() +
                    ", from the alias " + std::string(alias->key) + " of " + Spot(*telling.document, *wish) +
                    ": " + EffectOf(*alias, wish->value));
  }
  for (const auto& [document, used] : profiles_)
    if (!used)
      lines.push_back(document->id() + " sets " + std::string(kDcqcnAliasProfileKey) +
                      ", but no alias is set for the same ports");
  std::sort(lines.begin(), lines.end());  // the maps are in the order of memory
  warnings_.insert(warnings_.end(), lines.begin(), lines.end());
  for (const auto& [said, telling] : alone_) {
    const auto& [alias, wish] = said;
    complaints_.At(*telling.document, wish->place,
                   std::string(alias->key) + " on " + telling.where.Text() +
                       " is no register of any card but an alias; " + std::string(kDcqcnAliasRule) +
                       ". Add that, or write what it stands for: " + TargetKeyOf(*alias) + ": " +
                       wish->value);
  }
  for (const auto& [which, what] : doubled_) {
    const auto& [said, other] = which;
    const auto& [telling, document] = what;
    complaints_.At(*telling.document, said.second->place,
                   std::string(said.first->key) + " on " + telling.where.Text() + " stands for " +
                       TargetKeyOf(*said.first) + ", which " + Spot(*document, *other) +
                       " sets too; keep one of them");
  }
}

}  // namespace railwright::fleet
