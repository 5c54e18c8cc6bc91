// A saved plan, as `railctl apply --plan` reads it: a file that came from somebody else.
#include "controller/cli/plan_file.h"

#include "tests/fuzz/fuzz.h"

using namespace railwright;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::TemporaryFolder folder;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string path = folder.path() + "/plan";
  folder.Write("plan", text);
  const auto plan = cli::ReadPlanFile(path);
  if (!plan.ok()) {
    ALWAYS(plan.status().code() == Code::kInvalidArgument, plan.status().message());
    return 0;
  }
  ALWAYS(!plan->plan_hash.empty() && !plan->sources.empty(), text);
  ALWAYS(cli::WritePlanFile(path, *plan).ok(), text);
  const auto again = cli::ReadPlanFile(path);
  ALWAYS(again.ok() && again->plan_hash == plan->plan_hash && again->base_generation == plan->base_generation,
         text);
  ALWAYS(again->sources.size() == plan->sources.size(), text);
  for (std::size_t i = 0; i < plan->sources.size(); ++i)
    ALWAYS(again->sources[i].name() == plan->sources[i].name() &&
               again->sources[i].text() == plan->sources[i].text(),
           plan->sources[i].text(), text);
  return 0;
}
