#include "railwright/catalog.h"
#include "agent/offline/commands.h"
#include "core/text/shapes.h"

namespace railwright::offline {

ExitCode PrintCatalog(Format format, const Console& console) {
  const CatalogDeclarations catalog;
  if (format != Format::kTable) {
    console.Print(CatalogShape(catalog.settings(), catalog.checks(), catalog.hash()), format);
    return ExitCode::kDone;
  }
  Table settings(
      {{"SETTING"}, {"CODE"}, {"TARGETS"}, {"DISRUPTION"}, {"NOTICED"}, {"VALUES", false, 40}, {"HELP"}});
  for (const SettingInfo* info : catalog.settings())
    settings.Add({Cell(info->key, Tone::kStrong), info->code,
                  info->targets == TargetKind::kPort ? "port" : "node", std::string(Name(info->disruption)),
                  info->noticed.by_event ? info->noticed.source : "scan", info->syntax, info->help});
  Table checks({{"CHECK"}, {"CODE"}, {"NOTICED"}, {"HELP"}});
  for (const CheckInfo* info : catalog.checks())
    checks.Add({Cell(info->key, Tone::kStrong), info->code,
                info->noticed.by_event ? info->noticed.source : "scan", info->help});
  console.out << settings.Render(console.terminal) << "\n" << checks.Render(console.terminal);
  return ExitCode::kDone;
}

}  // namespace railwright::offline
