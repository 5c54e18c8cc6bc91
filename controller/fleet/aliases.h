// Keys that documents may hold and no agent ever sees: dcqcn.alpha and dcqcn.beta, expanded to the registers
// that they stand for.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "controller/fleet/profiles.h"
#include "core/decode/dcqcn_alias.h"

namespace railwright::fleet {

/// As CatalogDeclarations::Find; an alias, and the profile of aliases, is found as a key of ports.
Result<CatalogDeclarations::Match> FindKey(const CatalogDeclarations& catalog, std::string_view key);
/// As CatalogDeclarations::Canonical; an alias takes what its register takes.
Result<std::string> CanonicalValue(const CatalogDeclarations& catalog, std::string_view key,
                                   std::string_view value);

/// Expands the aliases of one set of nodes after the other, and then tells all of them at once: every
/// expansion as a warning that names what it does, so that each plan shows it; and what is refused.
class AliasExpansion {
 public:
  using Voices = std::map<KeyTarget, std::vector<Voice>>;

  AliasExpansion(const Inventory& inventory, Complaints& complaints, std::vector<std::string>& warnings)
      : inventory_(inventory), complaints_(complaints), warnings_(warnings) {}

  /// Puts what was said under an alias under its register, with the place where it was said. `nodes` have
  /// these voices. Refused, and left out: an alias of a target without the profile of aliases, and one whose
  /// register is set too.
  void Expand(Voices& voices, const std::vector<std::size_t>& nodes);
  void Tell();

 private:
  // Where the same is to be told of several targets and nodes.
  struct Where {
    std::set<std::string> targets;
    std::set<std::string> nodes;
    std::string Text() const;
  };
  using Said = std::pair<const DcqcnAlias*, const Wish*>;
  struct Telling {
    const Document* document = nullptr;
    Where where;
  };

  void Note(Telling& telling, const Voice& voice, const std::string& target,
            const std::vector<std::size_t>& nodes);

  const Inventory& inventory_;
  Complaints& complaints_;
  std::vector<std::string>& warnings_;
  std::map<Said, Telling> expanded_, alone_;
  std::map<std::pair<Said, const Wish*>, std::pair<Telling, const Document*>> doubled_;
  std::map<const Document*, bool>
      profiles_;  // that name the profile of aliases: whether an alias stood beside
};

}  // namespace railwright::fleet
