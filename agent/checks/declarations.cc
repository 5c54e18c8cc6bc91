// CatalogDeclarations: the settings and checks of this build, without a way to touch a machine.
#include "railwright/catalog.h"

namespace railwright {

struct CatalogDeclarations::Impl {
  Catalog catalog = MakeCatalog();
  std::vector<std::unique_ptr<const Check>> checks = MakeChecks();
  std::vector<const SettingInfo*> setting_infos;
  std::vector<const CheckInfo*> check_infos;
};

CatalogDeclarations::CatalogDeclarations() : impl_(std::make_unique<Impl>()) {
  for (const auto& setting : impl_->catalog.settings()) impl_->setting_infos.push_back(&setting->info());
  for (const auto& check : impl_->checks) impl_->check_infos.push_back(&check->info());
}
CatalogDeclarations::~CatalogDeclarations() = default;

const std::vector<const SettingInfo*>& CatalogDeclarations::settings() const { return impl_->setting_infos; }
const std::vector<const CheckInfo*>& CatalogDeclarations::checks() const { return impl_->check_infos; }
const std::string& CatalogDeclarations::hash() const { return impl_->catalog.hash(); }

Result<CatalogDeclarations::Match> CatalogDeclarations::Find(std::string_view key) const {
  RW_ASSIGN_OR_RETURN(auto match, impl_->catalog.Find(key));
  const TargetKind targets = match.setting->TargetsOf(match.param);
  return Match{&match.setting->info(), std::move(match.param), std::move(match.key), targets};
}

Result<std::string> CatalogDeclarations::Canonical(std::string_view key, std::string_view value) const {
  RW_ASSIGN_OR_RETURN(auto match, impl_->catalog.Find(key));
  return match.setting->Canonical(match.param, value);
}

}  // namespace railwright
