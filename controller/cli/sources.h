// The operator's files: read once, checked here, sent as they are, so that both ends see the same bytes.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "core/spec/loader.h"
#include "railwright/result.h"
#include "railwright/v1/admin.pb.h"

namespace railwright::cli {

/// Reads files, the *.yaml and *.yml of directories (not below them, sorted, hidden ones left out) and "-"
/// for `in`. Every error names the path: no such file, not readable, over 8 MiB, a directory without YAML.
Result<std::vector<v1::SourceFile>> ReadSources(const std::vector<std::string>& paths, std::istream& in);

/// Everything that can be found wrong without the controller; empty = nothing. Sources that hold no document
/// at all are a problem: with --prune they would remove everything.
std::vector<Problem> CheckSources(const std::vector<v1::SourceFile>& sources);

/// "file:line:col: message" and the excerpt, one problem after another.
std::string ProblemsText(const std::vector<Problem>& problems);

/// The controller's message with an excerpt below every line that begins with a place in one of `sources`.
std::string WithExcerpts(std::string_view message, const std::vector<v1::SourceFile>& sources);

}  // namespace railwright::cli
