// Profile documents, checked by the catalogue and ready to be laid over nodes.
#pragma once

#include <string>
#include <vector>

#include "controller/fleet/inventory.h"

namespace railwright::fleet {

/// One value of one setting, and what it is for.
struct Wish {
  enum class Scope : std::uint8_t { kNode, kAllPorts, kRole, kPort };  // the later, the more specific
  Scope scope = Scope::kNode;
  PortRole role = PortRole::kUnspecified;  // kRole
  std::string port;                        // kPort
  std::string value;                       // canonical
  Place place;

  bool Covers(const Port& declared) const;
};

struct CompiledSetting {
  std::string key;  // in its one spelling
  TargetKind targets = TargetKind::kNode;
  std::vector<Wish> wishes;  // most specific first
};

struct CompiledProfile {
  const Document* document = nullptr;
  Selector selector;
  Mode mode = Mode::kObserve;
  Disruption max_disruption = Disruption::kTrafficBlip;
  int precedence = 0;
  std::vector<CompiledSetting> settings;
  std::vector<std::size_t> nodes;  // of the inventory, that it selects
};

/// What one profile says about one (key, target).
struct Voice {
  const CompiledProfile* profile;
  const Wish* wish;
};

/// Checks keys, values, targets and selectors. The order is that of the documents.
std::vector<CompiledProfile> CompileProfiles(const std::vector<Document>& documents,
                                             const CatalogDeclarations& catalog, const Inventory& inventory,
                                             Complaints& complaints, std::vector<std::string>& warnings);

}  // namespace railwright::fleet
