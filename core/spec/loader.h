// spec: YAML documents → protobuf messages, by one generic walk over their descriptors.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "railwright/result.h"
#include "railwright/v1/documents.pb.h"

namespace railwright {

/// One document, with where it came from.
struct Document {
  std::variant<v1::Cluster, v1::Profile> body;
  std::string kind;  ///< "Cluster", "Profile"
  std::string name;
  std::string file;
  int line = 0;
  std::string text;                                     ///< its own YAML, as written
  std::string id() const { return kind + "/" + name; }  ///< "Profile/roce-lossless"
};

/// A problem in a file; all problems of a file are collected, not only the first.
struct Problem {
  std::string file;
  int line = 0;                  ///< from 1; 0 = the whole file
  int column = 0;                ///< from 1
  std::string message;           ///< `unknown field "prioritys"; did you mean "priorities"?`
  std::string excerpt;           ///< the line of the file with a caret below, or ""
  std::string ToString() const;  ///< "file:line:col: message"
};

struct Loaded {
  std::vector<Document> documents;
  std::vector<Problem> problems;  ///< empty = all well
};

/// Parses every YAML document of `text`. Never throws, never exits; inputs over 8 MiB, anchors, aliases,
/// tags, duplicate keys, nesting over 32 and invalid UTF-8 are problems. Scalars stay the text that was
/// written
/// (`017` and `no` are text); numbers and booleans are read by the field's own type.
Loaded LoadDocuments(std::string_view file, std::string_view text);

}  // namespace railwright
