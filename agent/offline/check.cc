#include <unistd.h>

#include <array>
#include <chrono>
#include <iostream>

#include "agent/machine/linux_machine.h"
#include "agent/offline/commands.h"
#include "agent/offline/documents.h"
#include "agent/offline/proposal.h"
#include "agent/reconcile/reconciler.h"
#include "core/text/shapes.h"

namespace railwright::offline {

std::string HostName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

Result<std::vector<Port>> ParsePorts(const std::vector<std::string>& texts) {
  std::vector<Port> ports;
  for (const std::string& text : texts) {
    RW_ASSIGN_OR_RETURN(ports.emplace_back(), ParsePort(text));
  }
  return ports;
}

ExitCode Check(const CheckOptions& options, const Console& console) {
  auto ports = ParsePorts(options.ports);
  if (!ports.ok()) {
    console.Fail(ports.status());
    return ExitCode::kUsage;
  }
  auto documents = ReadDocuments(options.files, std::cin);
  if (!documents.ok()) return console.Fail(documents.status());
  auto machine = options.snapshot.empty() ? Result<std::unique_ptr<Machine>>(MakeLinuxMachine(
                                                {.ruleset_file = kRulesetFile, .package_file = kPackageFile}))
                                          : OpenSnapshotMachine(options.snapshot);
  if (!machine.ok()) return console.Fail(machine.status());

  const CatalogDeclarations declarations;
  const bool no_ports = ports->empty();
  auto chosen = ChooseNode(std::move(*documents), declarations,
                           {options.node, options.snapshot.empty() ? HostName() : "", std::move(*ports)});
  if (!chosen.ok()) {
    const ExitCode code = console.Fail(chosen.status());
    // Inference proposes and does not decide: what could be meant by ports that nobody declared.
    if (no_ports) console.err << ProposePorts(**machine);
    return code;
  }
  for (const std::string& warning : chosen->warnings) console.Note("note: " + warning);

  const Catalog catalog = MakeCatalog();
  const auto checks = MakeChecks();
  const NodeReport report = CheckOnce(**machine, catalog, checks, chosen->state);
  const auto shape = StatusShape(report.generation, {{report.node, report.generation, report.verdict, false,
                                                      std::chrono::system_clock::now(), report.findings}});
  if (options.format == Format::kTable) {
    console.out << FindingsTable(report.findings, console.terminal);
    if (!report.findings.empty()) console.out << "\n";
    console.out << VerdictLine(report.node, report.verdict, report.findings, console.terminal);
  } else {
    console.Print(shape, options.format);
  }
  if (chosen->state.ports.empty() && no_ports) console.err << ProposePorts(**machine);
  return CodeOf(shape);
}

}  // namespace railwright::offline
