#include <algorithm>

#include "controller/cli/verbs.h"
#include "core/wire/wire.h"

namespace railwright::cli {
namespace {

template <class A, class B>
std::vector<std::string> Lacking(const A& has, const B& wanted) {
  std::vector<std::string> missing;
  for (const std::string& one : wanted)
    if (std::find(has.begin(), has.end(), one) == has.end()) missing.push_back(one);
  return missing;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string WireText(unsigned wire, unsigned oldest) {
  return wire == oldest ? std::to_string(wire) : std::to_string(oldest) + " to " + std::to_string(wire);
}

}  // namespace

ExitCode Run(Context& context, const VersionOptions& options) {
  const std::vector<std::string>& features = WireFeatures();
  Json json = {{"client",
                {{"version", RAILWRIGHT_VERSION},
                 {"wire", kWire},
                 {"wire_min", kWireMin},
                 {"features", features},
                 {"catalog_hash", context.catalog.hash()}}},
               {"controller", context.controller.address()},
               {"server", nullptr}};
  std::string text =
      std::string("railctl     ") + RAILWRIGHT_VERSION + ", wire " + WireText(kWire, kWireMin) + "\n";
  Outcome outcome;
  Status failed;
  if (!options.client_only) {
    auto answer =
        context.controller.Version({}, Waiting(context, "the controller at " + context.controller.address()));
    if (answer.ok()) {
      const std::vector<std::string> theirs(answer->features().begin(), answer->features().end());
      const std::vector<std::string> server_lacks = Lacking(theirs, features),
                                     client_lacks = Lacking(features, theirs);
      json["server"] = {{"version", answer->version()},           {"wire", answer->wire()},
                        {"wire_min", answer->wire_min()},         {"features", theirs},
                        {"catalog_hash", answer->catalog_hash()}, {"generation", answer->generation()},
                        {"read_only", answer->read_only()},       {"problem", answer->problem()}};
      json["missing"] = {{"client", client_lacks}, {"server", server_lacks}};
      text += "controller  " + answer->version() + ", wire " + WireText(answer->wire(), answer->wire_min()) +
              ", generation " + std::to_string(answer->generation()) + ", at " +
              context.controller.address() + "\n";
      if (!server_lacks.empty()) text += "the controller lacks: " + Joined(server_lacks) + "\n";
      if (!client_lacks.empty()) text += "this railctl lacks: " + Joined(client_lacks) + "\n";
      if (!answer->catalog_hash().empty() && answer->catalog_hash() != context.catalog.hash())
        text +=
            "the catalogues differ: explain shows this railctl's settings, the controller checks by its "
            "own\n";
      if (!answer->read_only().empty())
        text += "the controller takes no changes: " + answer->read_only() + "\n";
      if (!answer->problem().empty())
        text += "the documents in force cannot be resolved: " + answer->problem() + "\n";
      if (answer->wire_min() > kWire || answer->wire() < kWireMin)
        failed = Status(Code::kInternal, "no wire revision in common; update the older of the two");
    } else {
      failed = answer.status();
    }
  }
  if (context.table()) {
    context.console.Print(text);
  } else {
    Emit(context, json);
  }
  if (!failed.ok()) outcome.Add(Fail(context, failed));
  return outcome.code();
}

}  // namespace railwright::cli
