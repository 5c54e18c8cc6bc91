// The documents that `railctl learn` writes, as YAML with comments. Pure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "controller/cli/learned.h"
#include "core/spec/loader.h"

namespace railwright::cli {

/// Everything that the documents are made from.
struct Lesson {
  std::string name;                     ///< of the profile: "learned"
  std::vector<v1::ObservedNode> nodes;  ///< that answered, sorted by name
  std::vector<v1::NotAnswered> silent;  ///< that did not
  std::vector<Document> documents;      ///< in force
  Resolved in_force;                    ///< of them
  std::uint64_t generation = 0;         ///< in force
  bool majority = false;                ///< where nodes differ, write what most have
  std::chrono::system_clock::time_point at;
};

struct LearnedDocuments {
  std::string text;  ///< the file: the clusters of the nodes, then the profile
  std::vector<LearnedSetting> settings;
  std::size_t written = 0;            ///< keys of the profile
  std::vector<std::string> warnings;  ///< of the resolver, about the documents as they would be
};

/// The file, checked as the controller would check it: it is parsed, put beside the documents in force and
/// resolved. InvalidArgument when that finds problems, or when a node stands in no Cluster document.
Result<LearnedDocuments> WriteLesson(const Lesson& lesson, const CatalogDeclarations& catalog);

}  // namespace railwright::cli
