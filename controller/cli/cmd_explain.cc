#include "controller/cli/explain_view.h"
#include "controller/cli/verbs.h"

namespace railwright::cli {

ExitCode Run(Context& context, const ExplainOptions& options) {
  const Terminal& terminal = context.console.out_terminal();
  if (options.word.empty()) {
    if (context.table()) {
      context.console.Print(TopicsTable(context.catalog, terminal));
    } else {
      Emit(context, TopicsJson(context.catalog));
    }
    return ExitCode::kDone;
  }
  auto page = FindPage(context.catalog, options.word);
  if (!page.ok()) return FailUsage(context, page.status().message());
  if (context.table()) {
    context.console.Print(PageText(*page, terminal));
  } else {
    Emit(context, PageJson(*page));
  }
  return ExitCode::kDone;
}

}  // namespace railwright::cli
