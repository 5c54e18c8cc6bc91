// Problems of documents that were read well but do not fit together.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "controller/fleet/quote.h"
#include "core/spec/loader.h"

namespace railwright::fleet {

/// Collects problems with file, place and excerpt; at most kMost, then one that says that there are more.
class Complaints {
 public:
  static constexpr std::size_t kMost = 100;

  void At(const Document& document, Place place, std::string message, int width = 1);
  void At(const Document& document, const v1::Mark& mark, std::string message, int width = 1);
  /// About no file ("no node is declared").
  void Everywhere(std::string message);

  bool empty() const { return list_.empty(); }
  /// In the order of files, then of places.
  std::vector<Problem> Take();

 private:
  std::vector<Problem> list_;
  std::map<std::string, std::size_t> file_order_;
};

/// The same kind and name twice, with both places.
void RefuseDoubles(const std::vector<Document>& documents, Complaints& complaints);

Place PlaceOf(const v1::Mark& mark);
/// "site.yaml:14:5".
std::string PlaceText(const Document& document, Place place);
/// `; did you mean "x"?`, or `; <all>: a, b, c` (at most 12) when nothing is near.
std::string DidYouMean(std::string_view typed, const std::vector<std::string_view>& known,
                       std::string_view all);
/// Folded names of at most 100,000 nodes, cut for a sentence: "gpu-[001-004]" or "gpu-001 and 3 more".
std::string Named(const std::vector<std::string>& nodes);

}  // namespace railwright::fleet
