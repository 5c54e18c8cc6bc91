// The commands that need no controller. Each returns the exit code of the command contract.
#pragma once

#include <string>
#include <vector>

#include "agent/loop/state_dir.h"
#include "agent/offline/console.h"

namespace railwright::offline {

struct CheckOptions {
  std::vector<std::string> files;  ///< paths, folders, "-"
  std::string snapshot;            ///< "" = this machine
  std::string node;                ///< "" = this host's name, or the only node there is
  std::vector<std::string> ports;  ///< "rail0=fabric:eth1,10.10.0.1/24"
  Format format = Format::kTable;
};
/// Compares a machine, or a recorded one, with documents. Never writes.
ExitCode Check(const CheckOptions& options, const Console& console);

struct RecordOptions {
  std::string directory;
  bool raw = false;                ///< without redaction
  std::vector<std::string> files;  ///< documents whose keys are to be read too
  std::string node;
  std::vector<std::string> ports;
  std::string state_dir = kDefaultStateDir;  ///< the accepted state there is read too, when it can be
};
/// Writes down what all settings and checks read on this machine, as a snapshot for `check --snapshot`.
ExitCode Record(const RecordOptions& options, const Console& console);

/// Everything that this build can manage and check.
ExitCode PrintCatalog(Format format, const Console& console);

/// What the running agent last wrote down, or the last one that ran.
ExitCode PrintStatus(const std::string& state_dir, Format format, const Console& console);

struct PauseOptions {
  std::string state_dir = kDefaultStateDir;
  std::string key;  ///< "" = all
  std::string reason;
  bool resume = false;
};
/// Stops enforcement on this node at once, or ends that.
ExitCode PauseHere(const PauseOptions& options, const Console& console);

/// Becomes `railwright-agent-run`, found beside this program or in ../libexec/railwright, with the same
/// words. Returns only when it cannot.
ExitCode BecomeRun(const std::vector<std::string>& words, const Console& console);

}  // namespace railwright::offline
