// spec: YAML documents → protobuf messages, by one generic walk over their descriptors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "railwright/result.h"
#include "railwright/v1/documents.pb.h"

namespace railwright {

/// Where something stands in its file, from 1; line 0 = the whole file.
struct Place {
  int line = 0;
  int column = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

/// The places of a document's plain values (texts, numbers, items of text lists, values of text maps), which
/// have no `mark` of their own. Messages carry theirs in their field `mark`.
class Places {
 public:
  /// Of the field `number` of the message marked `owner`; of one item or map value with `sub` (Index, Key).
  /// The owner's own place when the value was not written.
  Place Of(const v1::Mark& owner, int number, std::uint32_t sub = 0) const;
  static std::uint32_t Index(int index) { return static_cast<std::uint32_t>(index) + 1; }
  static std::uint32_t Key(std::string_view key);

  void Add(Place owner, int number, std::uint32_t sub, Place place);
  void Seal();  ///< after the last Add, before the first Of

 private:
  struct Entry {
    Place owner;
    int number;
    std::uint32_t sub;
    Place place;
  };
  std::vector<Entry> entries_;
};

/// One document, with where it came from.
struct Document {
  std::variant<v1::Cluster, v1::Profile, v1::RolloutPolicy> body;
  std::string kind;  ///< "Cluster", "Profile", "RolloutPolicy"
  std::string name;
  std::string file;
  int line = 0;      ///< of `file`, at which `text` begins
  std::string text;  ///< its own YAML, as written, with its comments, without blank lines at its ends
  Places places;
  std::string id() const { return kind + "/" + name; }  ///< "Profile/roce-lossless"
};

/// A problem in a file; all problems of a file are collected, not only the first.
struct Problem {
  std::string file;
  int line = 0;                  ///< from 1; 0 = the whole file
  int column = 0;                ///< from 1, in characters
  std::string message;           ///< `unknown field "prioritys"; did you mean "priorities"?`
  std::string excerpt;           ///< the line of the file with a caret below, or ""
  std::string ToString() const;  ///< "file:line:col: message"
};

struct Loaded {
  std::vector<Document> documents;
  std::vector<Problem> problems;  ///< empty = all well
};

/// More problems of one file than this are cut, and the last one says so.
inline constexpr std::size_t kMostProblems = 50;

/// Parses every YAML document of `text`. Never throws, never exits; inputs over 8 MiB, anchors, aliases,
/// tags, duplicate keys, nesting over 32 and invalid UTF-8 are problems. Scalars stay the text that was
/// written (`017` and `no` are text); numbers and booleans are read by the field's own type.
/// `first_line`: the line of `file` at which `text` begins, so that a stored document keeps its places.
Loaded LoadDocuments(std::string_view file, std::string_view text, int first_line = 1);

/// The line of `text` that is `place.line` of its file (`text` begins at `first_line`), with a caret under
/// `place.column`; "" when the place is outside.
std::string Excerpt(std::string_view text, int first_line, Place place, int width = 1);

}  // namespace railwright
