// Documents on the command line → what one node should be.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "core/spec/loader.h"
#include "railwright/catalog.h"
#include "railwright/result.h"
#include "railwright/state.h"

namespace railwright::offline {

/// Reads files, folders (their *.yaml and *.yml) and "-" (`in`). Every problem of every file goes into the
/// message, with its excerpt.
Result<std::vector<Document>> ReadDocuments(const std::vector<std::string>& paths, std::istream& in);

/// A port as a person names it: "rail0=fabric:ens3f0np0,10.10.0.1/24" or "rail0=fabric:0000:18:00.0".
/// InvalidArgument shows the form.
Result<Port> ParsePort(const std::string& text);

struct NodeChoice {
  std::string node;         ///< as asked for; "" = by host name
  std::string host;         ///< this host's name, as far as it is known
  std::vector<Port> ports;  ///< of --port; only without a Cluster among the documents
};
struct ChosenNode {
  DesiredState state;                 ///< generation 0: nobody stored it
  std::vector<std::string> warnings;  ///< for standard error
};
/// With a Cluster: resolves the documents as the controller would, and takes one node. Without: the profiles
/// are meant for this machine, whatever their selectors say, and its ports are those of --port.
Result<ChosenNode> ChooseNode(std::vector<Document> documents, const CatalogDeclarations& catalog,
                              const NodeChoice& choice);

}  // namespace railwright::offline
