// Context: what every verb is handed, and the few things that all of them do.
#pragma once

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "controller/cli/client.h"
#include "controller/cli/console.h"
#include "controller/cli/exit_code.h"
#include "controller/cli/options.h"
#include "railwright/catalog.h"

namespace railwright::cli {

using Json = nlohmann::ordered_json;

struct Context {
  const Globals& globals;
  Console& console;
  AdminClient& controller;
  const CatalogDeclarations& catalog;
  const std::atomic<bool>& interrupted;
  std::string author;  ///< "root@host"; what root says that he is, over the Unix socket
  const Logins& logins;

  bool table() const { return globals.format == Format::kTable; }
  /// `globals.timeout`, or `otherwise` when none was given.
  std::chrono::milliseconds TimeoutOr(std::chrono::milliseconds otherwise) const {
    return globals.timeout.count() > 0 ? globals.timeout : otherwise;
  }
};

/// Which controller, and by which login: the Unix socket that was named; else what the context says, whose
/// address another one may replace; else the Unix socket of this host, which is told by a null login. Fills
/// in `globals.controller`. InvalidArgument: no address; the errors of Logins::Load.
Result<std::shared_ptr<const Login>> ChooseLogin(Globals& globals, const Logins& logins);

/// The login with a certificate that has a third of its life before it, renewed when it has not. An error
/// only when it has expired and no other is given.
Result<std::shared_ptr<const Login>> Refreshed(std::shared_ptr<const Login> login, const Logins& logins,
                                               const std::string& controller, Console& console,
                                               const std::atomic<bool>& interrupted);

/// Options of a call that shows "waiting for …" on stderr when it takes long. The line stands until data or a
/// note is written.
CallOptions Waiting(Context& context, const std::string& for_what,
                    std::chrono::milliseconds deadline = std::chrono::seconds(10));

/// Says why a call failed and gives its exit code; 130 when Ctrl-C was the reason.
ExitCode Fail(Context& context, const Status& status);
/// A wrong name or file: the message, exit 64.
ExitCode FailUsage(Context& context, const std::string& message);

/// As Fail, but NotFound and InvalidArgument are about a name that was typed: exit 64.
ExitCode FailNamed(Context& context, const Status& status);

/// The value as JSON or YAML to stdout. Not for tables.
void Emit(Context& context, const Json& value);

/// The value as one object of a stream: a line of JSON, or a document of YAML; written at once. Not for
/// tables.
void EmitObject(Context& context, const Json& value);

/// The status of the selected nodes. NotFound names a node that is not in the inventory and the nearest
/// known.
Result<v1::StatusResponse> AskStatus(Context& context, const std::vector<std::string>& nodes);

/// Whether to go on: yes was given, or the question was answered with y. Otherwise the exit code of the verb:
/// 64 without a terminal (the message names --yes), 130 after a no.
struct Consent {
  bool given = false;
  ExitCode otherwise = ExitCode::kDone;
};
Consent AskConsent(Context& context, bool yes, const std::string& question);

}  // namespace railwright::cli
