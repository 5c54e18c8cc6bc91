// Console: where an offline command writes: data to `out`, everything else to `err`.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "core/text/exit_code.h"
#include "core/text/table.h"
#include "railwright/result.h"

namespace railwright::offline {

enum class Format : std::uint8_t { kTable, kJson, kYaml };

struct Console {
  std::ostream& out;
  std::ostream& err;
  Terminal terminal;  ///< of `out`

  /// The value as JSON or YAML. Not for kTable.
  void Print(const nlohmann::ordered_json& value, Format format) const;
  /// "railwright-agent: <sentence>" to `err`; the exit code that belongs to it: 4 for PermissionDenied,
  /// else 1.
  ExitCode Fail(const Status& status) const;
  /// A remark to `err`.
  void Note(const std::string& sentence) const;
};

/// The code of a report: 2 when anything is Drifted or Pending, 3 when anything is Unknown or it is not
/// complete.
ExitCode CodeOf(const nlohmann::ordered_json& status_shape);

/// A table of findings, the worst last, and a line with the verdict below it.
std::string FindingsTable(const std::vector<Finding>& findings, const Terminal& terminal);
std::string VerdictLine(const std::string& node, Verdict verdict, const std::vector<Finding>& findings,
                        const Terminal& terminal);

}  // namespace railwright::offline
