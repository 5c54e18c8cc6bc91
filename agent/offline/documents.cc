#include "agent/offline/documents.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "controller/fleet/resolve.h"
#include "core/files/whole_file.h"
#include "railwright/explain.h"

namespace railwright::offline {
namespace {

constexpr std::size_t kMostBytes = std::size_t{8} << 20;  // the loader's own limit

Result<std::vector<std::string>> FilesOf(const std::string& path) {
  struct stat info {};
  if (path == "-") return std::vector<std::string>{path};
  if (::stat(path.c_str(), &info) != 0) return FromErrno(errno, path);
  if (!S_ISDIR(info.st_mode)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string extension = entry.path().extension().string();
    if ((extension == ".yaml" || extension == ".yml") && entry.path().filename().string().front() != '.')
      files.push_back(entry.path().string());
  }
  if (error) return FromErrno(error.value(), path);
  if (files.empty()) return Status(Code::kNotFound, path + ": no *.yaml or *.yml in this folder");
  std::sort(files.begin(), files.end());
  return files;
}

Status AsStatus(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += "\n";
    text += problem.ToString();
    if (!problem.excerpt.empty()) text += "\n" + problem.excerpt;
    while (text.ends_with('\n')) text.pop_back();
  }
  return Status(Code::kInvalidArgument, text);
}

bool IsBdf(const std::string& text) {  // "0000:18:00.0"
  if (text.size() != 12 || text[4] != ':' || text[7] != ':' || text[10] != '.') return false;
  return text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos;
}

// A Cluster of this one machine, written as an operator would, so that the same rules judge it.
std::string ClusterText(const std::string& node, const std::vector<Port>& ports) {
  const auto quote = [](const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  std::string text = "kind: Cluster\nname: this-machine\nnodes: [{name: " + quote(node) + "}]\n";
  if (!ports.empty()) text += "ports:\n";
  for (const Port& port : ports) {
    text += "  - {name: " + quote(port.name) + ", role: " + std::string(Name(port.role)) + ", select: {" +
            (port.pci.empty() ? "netdev: " + quote(port.netdev) : "pci: " + quote(port.pci)) + "}";
    if (!port.addresses.empty()) {
      text += ", addresses: [";
      for (std::size_t i = 0; i < port.addresses.size(); ++i)
        text += (i == 0 ? "" : ", ") + quote(port.addresses[i]);
      text += "]";
    }
    text += "}\n";
  }
  return text;
}

Result<const ResolvedNode*> Pick(const Resolved& resolved, const NodeChoice& choice) {
  std::vector<std::string> names;
  for (const auto& [name, node] : resolved.nodes) names.push_back(name);
  const std::string some = names.size() > 40 ? std::to_string(names.size()) + " nodes" : FoldNames(names);
  if (!choice.node.empty()) {
    if (const auto found = resolved.nodes.find(choice.node); found != resolved.nodes.end())
      return &found->second;
    const std::vector<std::string_view> known(names.begin(), names.end());
    const std::string_view near = Nearest(choice.node, known);
    return Status(Code::kNotFound,
                  "--node " + choice.node + " is in no Cluster document" +
                      (near.empty() ? std::string() : "; did you mean " + std::string(near) + "?") +
                      " There is: " + some);
  }
  for (const std::string& name : {choice.host, choice.host.substr(0, choice.host.find('.'))})
    if (const auto found = resolved.nodes.find(name); found != resolved.nodes.end()) return &found->second;
  if (resolved.nodes.size() == 1) return &resolved.nodes.begin()->second;
  return Status(Code::kNotFound, "this host, " + choice.host +
                                     ", is in no Cluster document; say which node it is "
                                     "with --node. There is: " +
                                     some);
}

}  // namespace

Result<std::vector<Document>> ReadDocuments(const std::vector<std::string>& paths, std::istream& in) {
  std::vector<Document> documents;
  std::vector<Problem> problems;
  std::vector<std::string> seen;
  for (const std::string& path : paths) {
    RW_ASSIGN_OR_RETURN(const std::vector<std::string> files, FilesOf(path));
    for (const std::string& file : files) {
      if (std::find(seen.begin(), seen.end(), file) != seen.end()) continue;
      seen.push_back(file);
      std::string text;
      if (file == "-") {
        text.assign(std::istreambuf_iterator<char>(in), {});
      } else {
        RW_ASSIGN_OR_RETURN(text, ReadWhole(file, kMostBytes));
      }
      Loaded loaded = LoadDocuments(file == "-" ? "stdin" : file, text);
      std::move(loaded.documents.begin(), loaded.documents.end(), std::back_inserter(documents));
      std::move(loaded.problems.begin(), loaded.problems.end(), std::back_inserter(problems));
    }
  }
  if (!problems.empty()) return AsStatus(problems);
  if (documents.empty())
    return Status(Code::kInvalidArgument,
                  "no document was given; one begins with `kind: Cluster` or `kind: Profile`");
  return documents;
}

Result<Port> ParsePort(const std::string& text) {
  const auto bad = [&](const std::string& why) {
    return Status(Code::kInvalidArgument,
                  "--port " + text + ": " + why +
                      "; write NAME=ROLE:DEVICE[,ADDRESS…], as in "
                      "rail0=fabric:ens3f0np0,10.10.0.1/24 or rail0=fabric:0000:18:00.0");
  };
  Port port;
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return bad("no name before \"=\"");
  port.name = text.substr(0, equals);
  std::string rest = text.substr(equals + 1);
  for (auto comma = rest.rfind(','); comma != std::string::npos; comma = rest.rfind(',')) {
    if (comma + 1 == rest.size()) return bad("an empty address");
    port.addresses.insert(port.addresses.begin(), rest.substr(comma + 1));
    rest.resize(comma);
  }
  const auto colon = rest.find(':');
  if (colon == std::string::npos) return bad("no role before the device");
  const auto role = ParsePortRole(rest.substr(0, colon));
  if (!role) return bad("\"" + rest.substr(0, colon) + "\" is no role (fabric, storage, management)");
  port.role = *role;
  const std::string device = rest.substr(colon + 1);
  if (device.empty()) return bad("no device after the role");
  (IsBdf(device) ? port.pci : port.netdev) = device;
  return port;
}

Result<ChosenNode> ChooseNode(std::vector<Document> documents, const CatalogDeclarations& catalog,
                              const NodeChoice& choice) {
  ChosenNode chosen;
  const bool has_cluster = std::any_of(documents.begin(), documents.end(), [](const Document& document) {
    return std::holds_alternative<v1::Cluster>(document.body);
  });
  if (has_cluster && !choice.ports.empty())
    return Status(Code::kInvalidArgument,
                  "--port is for profiles without a Cluster document; there is one, and it "
                  "declares the ports");
  if (!has_cluster) {
    const std::string node = !choice.node.empty()  ? choice.node
                             : choice.host.empty() ? "this-node"
                                                   : choice.host;
    Loaded machine = LoadDocuments("--port", ClusterText(node, choice.ports));
    if (!machine.problems.empty()) return AsStatus(machine.problems);
    for (Document& document : documents) {
      auto* profile = std::get_if<v1::Profile>(&document.body);
      if (profile == nullptr || !profile->has_for_()) continue;
      profile->clear_for_();
      chosen.warnings.push_back(document.id() +
                                ": taken for this machine, whatever its `for` says, since no "
                                "Cluster document tells what this machine is");
    }
    std::move(machine.documents.begin(), machine.documents.end(), std::back_inserter(documents));
  }
  const auto outcome = Resolve(documents, catalog);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&outcome)) return AsStatus(*problems);
  const auto& resolved = std::get<Resolved>(outcome);
  for (const std::string& warning : resolved.warnings) chosen.warnings.push_back(warning);
  NodeChoice who = choice;
  if (!has_cluster) who.node.clear();  // there is but one
  RW_ASSIGN_OR_RETURN(const ResolvedNode* node, Pick(resolved, who));
  chosen.state.node = node->node.name;
  chosen.state.cluster = node->node.cluster;
  chosen.state.ports = node->node.ports;
  chosen.state.settings = *node->settings;
  if (const auto subnets = resolved.cluster_subnets.find(node->node.cluster);
      subnets != resolved.cluster_subnets.end())
    chosen.state.subnets = subnets->second;
  return chosen;
}

}  // namespace railwright::offline
