// What an agent and a controller say to each other: the first byte tells which of the two.
#include "core/wire/wire.h"
#include "railwright/utf8.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;

namespace {

void CheckFinding(const v1::Finding& message) {
  const Finding finding = FromWire(message);
  ALWAYS(FromWire(ToWire(finding)) == finding, finding.key, finding.message);
}

void CheckChange(const v1::ChangeRecord& message) {
  const v1::ChangeRecord again = ToWire(FromWire(message));
  ALWAYS(ToWire(FromWire(again)).SerializeAsString() == again.SerializeAsString(), message.key());
}

void CheckReport(const v1::Report& message) {
  NodeReport report;
  report.generation = Generation{message.generation()};
  report.verdict = FromWire(message.verdict());
  for (const v1::Finding& finding : message.findings()) {
    CheckFinding(finding);
    report.findings.push_back(FromWire(finding));
  }
  for (const v1::ChangeRecord& change : message.changes()) CheckChange(change);
  const std::string hash = ReportHash(report);
  ALWAYS(hash.size() == 64 && HashPrefix8(hash).size() == 8, hash);
  NodeReport other = report;
  for (Finding& finding : other.findings) finding = FromWire(ToWire(finding));
  ALWAYS(ReportHash(other) == hash, hash);
  (void)HashPrefix8(message.hash());
}

void CheckPlan(const v1::Plan& message) {
  const Plan plan = FromWire(message);
  const Plan again = FromWire(ToWire(plan));
  ALWAYS(again.steps == plan.steps && again.findings == plan.findings, plan.node);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const bool agent = (input.Byte() & 1) != 0;
  const std::string_view bytes = input.Rest();
  if (agent) {
    v1::AgentMessage message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return 0;
    CheckReport(message.report());
    CheckPlan(message.result().plan());
    return 0;
  }
  v1::ControllerMessage message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return 0;
  for (const v1::Pause& pause : message.pauses().pauses())
    ALWAYS(FromWire(ToWire(FromWire(pause))) == FromWire(pause), pause.key());
  (void)FromWire(message.desired());
  (void)FromWire(message.command().plan());
  return 0;
}
