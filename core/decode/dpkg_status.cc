#include "core/decode/dpkg_status.h"

#include <algorithm>

namespace railwright {
namespace {

std::string_view Trimmed(std::string_view text) {
  auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// One paragraph of the file, as far as it matters here.
struct Paragraph {
  std::string_view name, status, version, architecture;
  bool empty = true;
};

/// "hold ok installed" → want and state; the word between tells whether the entry itself is sound.
void Keep(const Paragraph& paragraph,
          std::map<std::string, std::vector<DebianPackage>, std::less<>>& packages) {
  std::string_view want = paragraph.status.substr(0, paragraph.status.find(' '));
  auto last = paragraph.status.rfind(' ');
  std::string_view state =
      last == std::string_view::npos ? std::string_view() : paragraph.status.substr(last + 1);
  if (paragraph.name.empty() || state.empty() || state == "not-installed" || state == "config-files") return;
  packages[std::string(paragraph.name)].push_back({.architecture = std::string(paragraph.architecture),
                                                   .version = std::string(paragraph.version),
                                                   .state = std::string(state),
                                                   .hold = want == "hold"});
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// "~" sorts before the end, the end before letters, letters before everything else. A digit ends this part.
int Weight(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  const char c = text[at];
  if (c == '~') return -1;
  if (IsDigit(c)) return 0;
  if (IsAlpha(c)) return c;
  return static_cast<unsigned char>(c) + 256;
}

int ComparePart(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    while ((i < a.size() && !IsDigit(a[i])) || (j < b.size() && !IsDigit(b[j]))) {
      const int left = Weight(a, i), right = Weight(b, j);
      if (left != right) return left - right;
      ++i;
      ++j;
    }
    while (i < a.size() && a[i] == '0') ++i;
    while (j < b.size() && b[j] == '0') ++j;
    std::size_t i0 = i, j0 = j;
    while (i < a.size() && IsDigit(a[i])) ++i;
    while (j < b.size() && IsDigit(b[j])) ++j;
    if (i - i0 != j - j0) return i - i0 < j - j0 ? -1 : 1;  // without leading zeros, longer is larger
    if (int order = a.substr(i0, i - i0).compare(b.substr(j0, j - j0)); order != 0) return order;
  }
  return 0;
}

/// Splits "epoch:upstream-revision"; a missing epoch or revision is "0".
void Split(std::string_view version, std::string_view& epoch, std::string_view& upstream,
           std::string_view& revision) {
  epoch = revision = "0";
  if (auto colon = version.find(':'); colon != std::string_view::npos) {
    epoch = version.substr(0, colon);
    version.remove_prefix(colon + 1);
  }
  upstream = version;
  if (auto dash = version.rfind('-'); dash != std::string_view::npos) {
    upstream = version.substr(0, dash);
    revision = version.substr(dash + 1);
  }
}

}  // namespace

Result<DpkgStatus> DpkgStatus::Decode(std::string_view text) {
  DpkgStatus result;
  Paragraph paragraph;
  std::size_t number = 0;
  auto end = [&] {
    if (!paragraph.empty) Keep(paragraph, result.packages_);
    paragraph = Paragraph();
  };
  while (!text.empty()) {
    ++number;
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (Trimmed(line).empty()) {
      end();
      continue;
    }
    if (line[0] == ' ' || line[0] == '\t') {  // goes on with the field above
      if (paragraph.empty)
        return Status(Code::kDataLoss, "package database: line " + std::to_string(number) +
                                           " continues a field that never began");
      continue;
    }
    auto colon = line.find(':');
    if (colon == std::string_view::npos)
      return Status(Code::kDataLoss,
                    "package database: line " + std::to_string(number) + " is no \"Field: value\"");
    paragraph.empty = false;
    std::string_view field = line.substr(0, colon), value = Trimmed(line.substr(colon + 1));
    if (field == "Package") {
      // Policy 5.6.1; with a colon in it, a name could not be told from one with an architecture.
      if (value.find_first_of(": \t") != std::string_view::npos)
        return Status(Code::kDataLoss,
                      "package database: line " + std::to_string(number) + " is no name of a package");
      paragraph.name = value;
    }
    if (field == "Status") paragraph.status = value;
    if (field == "Version") paragraph.version = value;
    if (field == "Architecture") paragraph.architecture = value;
  }
  end();
  return result;
}

const DebianPackage* DpkgStatus::Find(std::string_view name) const {
  std::string_view architecture;
  if (auto colon = name.find(':'); colon != std::string_view::npos) {
    architecture = name.substr(colon + 1);
    name = name.substr(0, colon);
  }
  auto it = packages_.find(name);
  if (it == packages_.end()) return nullptr;
  if (architecture.empty()) {
    auto dpkg = packages_.find("dpkg");
    std::string_view native =
        dpkg == packages_.end() ? std::string_view() : dpkg->second.front().architecture;
    for (const DebianPackage& one : it->second)
      if (one.architecture == native || one.architecture == "all") return &one;
    return &it->second.front();
  }
  for (const DebianPackage& one : it->second)
    if (one.architecture == architecture) return &one;
  return nullptr;
}

std::vector<std::string> DpkgStatus::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, list] : packages_)
    for (const DebianPackage& one : list)
      names.push_back(list.size() == 1 ? name : name + ":" + one.architecture);
  std::sort(names.begin(), names.end());
  return names;
}

int CompareDebianVersions(std::string_view a, std::string_view b) {
  std::string_view epoch[2], upstream[2], revision[2];
  Split(a, epoch[0], upstream[0], revision[0]);
  Split(b, epoch[1], upstream[1], revision[1]);
  if (int order = ComparePart(epoch[0], epoch[1]); order != 0) return order;
  if (int order = ComparePart(upstream[0], upstream[1]); order != 0) return order;
  return ComparePart(revision[0], revision[1]);
}

}  // namespace railwright
