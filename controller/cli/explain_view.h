// What a key, a code or a reason word means: from the catalogue and the reason pages, offline. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "controller/cli/shipped_templates.h"
#include "core/decode/dcqcn_alias.h"
#include "core/text/table.h"
#include "railwright/catalog.h"
#include "railwright/explain.h"

namespace railwright::cli {

/// One page.
struct Page {
  std::variant<const SettingInfo*, const CheckInfo*, const ReasonPage*, const DcqcnAlias*, const Template*>
      about;
  std::string asked;  ///< the key as asked, of a family: "sysctl.net.ipv4.ip_forward"
  std::string param;  ///< what stands for <…>
};

/// The page of a setting or check key (a family's member too), an alias of one, a code in any case, a reason
/// word in any case, or a shipped template by the name of its profile. NotFound names the nearest.
Result<Page> FindPage(const CatalogDeclarations& catalog, std::string_view word);
/// Every key, code and reason word that FindPage knows.
std::vector<std::string> Topics(const CatalogDeclarations& catalog);

nlohmann::ordered_json PageJson(const Page& page);
std::string PageText(const Page& page, const Terminal& terminal);

/// {hash, settings[], checks[], reasons[]}
nlohmann::ordered_json TopicsJson(const CatalogDeclarations& catalog);
std::string TopicsTable(const CatalogDeclarations& catalog, const Terminal& terminal);

}  // namespace railwright::cli
