#include "core/decode/cpu_list.h"

#include <algorithm>

#include "core/decode/fields.h"
#include "core/decode/values.h"

namespace railwright {

Result<CpuList> CpuList::Parse(std::string_view text) {
  const auto refused = [&] {
    return Status(Code::kInvalidArgument, Quoted(text) + " is no list of CPUs (0-31,64-95)");
  };
  CpuList list;
  std::string_view rest = Trimmed(text);
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view piece = rest.substr(0, comma);
    const auto dash = piece.find('-');
    const auto first = ParseNumber(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : ParseNumber(piece.substr(dash + 1));
    if (!first.ok() || !last.ok() || *first > *last || *last >= kMost) return refused();
    list.ranges_.push_back({static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last)});
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) return refused();  // the list was cut
  }
  std::sort(list.ranges_.begin(), list.ranges_.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  std::vector<Range> joined;
  for (const Range& range : list.ranges_) {
    if (!joined.empty() && range.first <= joined.back().last + 1)
      joined.back().last = std::max(joined.back().last, range.last);
    else
      joined.push_back(range);
  }
  list.ranges_ = std::move(joined);
  return list;
}

std::string CpuList::Text() const {
  std::string text;
  for (const Range& range : ranges_) {
    if (!text.empty()) text += ',';
    text += std::to_string(range.first);
    if (range.last != range.first) text += "-" + std::to_string(range.last);
  }
  return text;
}

std::uint32_t CpuList::Count() const {
  std::uint32_t count = 0;
  for (const Range& range : ranges_) count += range.last - range.first + 1;
  return count;
}

bool CpuList::Covers(const CpuList& other) const {
  return std::all_of(other.ranges_.begin(), other.ranges_.end(), [&](const Range& wanted) {
    return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
      return range.first <= wanted.first && wanted.last <= range.last;
    });
  });
}

CpuList CpuList::Both(const CpuList& other) const {
  CpuList both;
  auto a = ranges_.begin(), b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    const Range common{std::max(a->first, b->first), std::min(a->last, b->last)};
    if (common.first <= common.last) both.ranges_.push_back(common);
    a->last < b->last ? ++a : ++b;
  }
  return both;
}

}  // namespace railwright
