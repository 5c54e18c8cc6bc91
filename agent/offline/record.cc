#include <filesystem>
#include <iostream>
#include <memory>

#include "agent/machine/linux_machine.h"
#include "agent/offline/commands.h"
#include "agent/offline/documents.h"
#include "agent/offline/proposal.h"
#include "agent/reconcile/reconciler.h"
#include "agent/reconcile/survey.h"
#include "core/files/whole_file.h"
#include "core/wire/wire.h"

namespace railwright::offline {
namespace {

// What is declared for this node, from the documents given or from the state that its agent accepted.
Result<DesiredState> Declared(const RecordOptions& options, std::vector<Port> ports, const Console& console) {
  if (!options.files.empty()) {
    RW_ASSIGN_OR_RETURN(auto documents, ReadDocuments(options.files, std::cin));
    RW_ASSIGN_OR_RETURN(ChosenNode chosen, ChooseNode(std::move(documents), CatalogDeclarations(),
                                                      {options.node, HostName(), std::move(ports)}));
    for (const std::string& warning : chosen.warnings) console.Note("note: " + warning);
    return std::move(chosen.state);
  }
  DesiredState state;
  v1::DesiredState kept;
  const auto bytes = ReadWhole(options.state_dir + "/desired.bin");
  if (bytes.ok() && kept.ParseFromString(*bytes)) {
    auto accepted = FromWire(kept);
    if (accepted.ok()) state = std::move(*accepted);
  }
  if (!ports.empty()) state.ports = std::move(ports);
  return state;
}

// The declared ports, and every other interface that could be one: nothing is written here.
void AddEveryPort(DesiredState& state, const Machine& machine) {
  const NodeFacts declared = BindPorts(machine, state);
  int number = 0;
  for (Port port : EveryPort(machine)) {
    bool known = false;
    for (const BoundPort& bound : declared.ports) known = known || bound.netdev == port.netdev;
    if (known) continue;
    port.name = "recorded" + std::to_string(number++);
    state.ports.push_back(std::move(port));
  }
}

}  // namespace

ExitCode Record(const RecordOptions& options, const Console& console) {
  auto ports = ParsePorts(options.ports);
  if (!ports.ok()) {
    console.Fail(ports.status());
    return ExitCode::kUsage;
  }
  std::error_code error;
  if (std::filesystem::exists(options.directory, error) &&
      !std::filesystem::is_empty(options.directory, error)) {
    console.Fail(
        Status(Code::kAlreadyExists,
               options.directory + " is not empty; name a new folder, or one without anything in it"));
    return ExitCode::kUsage;
  }
  auto declared = Declared(options, std::move(*ports), console);
  if (!declared.ok()) return console.Fail(declared.status());

  const std::unique_ptr<Machine> machine = MakeLinuxMachine();
  auto made = MakeRecordingMachine(*machine, options.directory, !options.raw);
  if (!made.ok()) return console.Fail(made.status());
  std::unique_ptr<Machine> recording = std::move(*made);

  DesiredState state = std::move(*declared);
  AddEveryPort(state, *recording);
  const Catalog catalog = MakeCatalog();
  [[maybe_unused]] const NodeReport report = CheckOnce(*recording, catalog, MakeChecks(), state);
  // What each setting answers is in the recording, errors included.
  [[maybe_unused]] const auto seen = ObserveEverything(*recording, catalog, BindPorts(*recording, state));
  [[maybe_unused]] const auto proposal =
      LikelyPorts(*recording);  // so that `check` can propose from a recording
  recording.reset();            // writes what is still held back

  std::uintmax_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(options.directory, error))
    if (entry.is_regular_file(error)) ++files;
  if (error) return console.Fail(FromErrno(error.value(), options.directory));
  console.out << options.directory << ": " << files << " files"
              << (options.raw ? ", NOT redacted: it holds addresses and serial numbers as they are\n"
                              : ", redacted; look through it before you send it\n")
              << "next: railwright-agent check --snapshot " << options.directory << " -f PROFILE\n";
  return ExitCode::kDone;
}

}  // namespace railwright::offline
