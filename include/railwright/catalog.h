// CatalogDeclarations: what railctl and the controller may know of the settings: data and value syntax,
// no way to touch a machine.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/check.h"
#include "railwright/setting.h"

namespace railwright {

class CatalogDeclarations {
 public:
  CatalogDeclarations();  ///< of this build
  ~CatalogDeclarations();
  CatalogDeclarations(const CatalogDeclarations&) = delete;
  CatalogDeclarations& operator=(const CatalogDeclarations&) = delete;

  const std::vector<const SettingInfo*>& settings() const;
  const std::vector<const CheckInfo*>& checks() const;
  const std::string& hash() const;

  struct Match {
    const SettingInfo* info;
    std::string param;                       ///< canonical
    std::string key;                         ///< the full key in its one spelling
    TargetKind targets = TargetKind::kNode;  ///< of this very key (Setting::TargetsOf)
  };
  /// NotFound names the nearest known key.
  Result<Match> Find(std::string_view key) const;
  /// One spelling per meaning, or InvalidArgument with what is allowed.
  Result<std::string> Canonical(std::string_view key, std::string_view value) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace railwright
