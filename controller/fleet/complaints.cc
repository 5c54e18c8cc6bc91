#include "controller/fleet/complaints.h"

#include <algorithm>
#include <tuple>

#include "controller/fleet/resolve.h"
#include "railwright/explain.h"

namespace railwright::fleet {

void Complaints::At(const Document& document, Place place, std::string message, int width) {
  if (list_.size() > kMost) return;
  if (list_.size() == kMost) {
    Everywhere("more problems follow; the first " + std::to_string(kMost) + " are shown");
    return;
  }
  file_order_.emplace(document.file, file_order_.size());
  list_.push_back({document.file, place.line, place.column, std::move(message),
                   Excerpt(document.text, document.line, place, width)});
}

void Complaints::At(const Document& document, const v1::Mark& mark, std::string message, int width) {
  At(document, PlaceOf(mark), std::move(message), width);
}

void Complaints::Everywhere(std::string message) { list_.push_back({{}, 0, 0, std::move(message), {}}); }

std::vector<Problem> Complaints::Take() {
  // What names no file comes last, as does the note that there are more.
  const auto order = [&](const Problem& problem) {
    const auto found = file_order_.find(problem.file);
    return std::tuple(found == file_order_.end() ? file_order_.size() : found->second, problem.line,
                      problem.column);
  };
  std::stable_sort(list_.begin(), list_.end(),
                   [&](const Problem& a, const Problem& b) { return order(a) < order(b); });
  return std::move(list_);
}

Place PlaceOf(const v1::Mark& mark) {
  return {static_cast<int>(mark.line()), static_cast<int>(mark.column())};
}

std::string PlaceText(const Document& document, Place place) {
  return document.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string DidYouMean(std::string_view typed, const std::vector<std::string_view>& known,
                       std::string_view all) {
  // A longer word is no slip of the hand.
  const std::string_view near = typed.size() <= 64 ? Nearest(typed, known) : std::string_view();
  if (!near.empty()) return "; did you mean \"" + std::string(near) + "\"?";
  if (known.empty()) return {};
  constexpr std::size_t kShown = 12;
  std::string out = "; " + std::string(all) + ": ";
  for (std::size_t i = 0; i < known.size() && i < kShown; ++i)
    out += (i > 0 ? ", " : "") + std::string(known[i]);
  if (known.size() > kShown) out += " …";
  return out;
}

std::string Named(const std::vector<std::string>& nodes) {
  std::string folded = FoldNames(nodes);
  if (folded.size() <= 60) return folded;
  return nodes.front() + " and " + std::to_string(nodes.size() - 1) + " more";
}

void RefuseDoubles(const std::vector<Document>& documents, Complaints& complaints) {
  std::map<std::string, const Document*> seen;
  for (const Document& document : documents) {
    const auto [first, fresh] = seen.emplace(document.id(), &document);
    if (fresh) continue;
    const auto mark = [](const Document& d) {
      return std::visit([](const auto& body) { return PlaceOf(body.mark()); }, d.body);
    };
    complaints.At(document, mark(document),
                  document.kind + " " + Quoted(document.name) + " is declared twice (first at " +
                      PlaceText(*first->second, mark(*first->second)) + "); rename one");
  }
}

}  // namespace railwright::fleet
