#include "core/decode/dpkg_status.h"

#include <algorithm>
#include <cstring>

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

  /// Where the value of a field goes; null for the many that do not matter.
  std::string_view* Kept(std::string_view field) {
    switch (field.size()) {
      case 6: return field == "Status" ? &status : nullptr;
      case 7: return field == "Package" ? &name : field == "Version" ? &version : nullptr;
      case 12: return field == "Architecture" ? &architecture : nullptr;
      default: return nullptr;
    }
  }
};

/// "hold ok installed" → want and state; the word between tells whether the entry itself is sound.
void Keep(const Paragraph& paragraph, std::vector<DebianPackage>& packages) {
  std::string_view want = paragraph.status.substr(0, paragraph.status.find(' '));
  auto last = paragraph.status.rfind(' ');
  std::string_view state =
      last == std::string_view::npos ? std::string_view() : paragraph.status.substr(last + 1);
  if (paragraph.name.empty() || state.empty() || state == "not-installed" || state == "config-files") return;
  packages.push_back({.name = paragraph.name,
                      .architecture = paragraph.architecture,
                      .version = paragraph.version,
                      .state = state,
                      .hold = want == "hold"});
}

bool ByName(const DebianPackage& a, const DebianPackage& b) { return a.name < b.name; }

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
  // A million bytes at each check: the first byte tells what most lines are.
  for (const char *at = text.data(), *const all = at + text.size(); at < all;) {
    ++number;
    const void* const newline = std::memchr(at, '\n', static_cast<std::size_t>(all - at));
    const char* const past = newline == nullptr ? all : static_cast<const char*>(newline);
    const std::string_view line(at, static_cast<std::size_t>(past - at));
    at = past + (newline == nullptr ? 0 : 1);
    const char first = line.empty() ? ' ' : line[0];
    const bool indented = first == ' ' || first == '\t' || first == '\r';
    if (indented && line.find_first_not_of(" \t\r") == std::string_view::npos) {
      end();
      continue;
    }
    if (first == ' ' || first == '\t') {  // goes on with the field above
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
    std::string_view* const kept = paragraph.Kept(line.substr(0, colon));
    if (kept == nullptr) continue;
    *kept = Trimmed(line.substr(colon + 1));
    // Policy 5.6.1; with a colon in it, a name could not be told from one with an architecture.
    if (kept == &paragraph.name && kept->find_first_of(": \t") != std::string_view::npos)
      return Status(Code::kDataLoss,
                    "package database: line " + std::to_string(number) + " is no name of a package");
  }
  end();
  // dpkg writes them in order, mostly.
  if (!std::is_sorted(result.packages_.begin(), result.packages_.end(), ByName))
    std::stable_sort(result.packages_.begin(), result.packages_.end(), ByName);
  return result;
}

std::string DpkgStatus::Index() const {
  std::string text;
  for (const DebianPackage& one : packages_) {
    for (const std::string_view field : {one.name, one.architecture, one.version, one.state})
      text.append(field).append("\t");
    text.append(one.hold ? "1\n" : "0\n");
  }
  return text;
}

Result<DpkgStatus> DpkgStatus::DecodeIndex(std::string_view text) {
  DpkgStatus result;
  // Growing by doubling touches each page twice, and fresh pages are what a short-lived program pays for.
  result.packages_.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    DebianPackage one;
    for (std::string_view* const field : {&one.name, &one.architecture, &one.version, &one.state}) {
      const auto tab = line.find('\t');
      if (tab == std::string_view::npos) return Status(Code::kDataLoss, "package index: a line is cut short");
      *field = line.substr(0, tab);
      line.remove_prefix(tab + 1);
    }
    if (line != "0" && line != "1") return Status(Code::kDataLoss, "package index: a line has no end");
    one.hold = line == "1";
    result.packages_.push_back(one);
  }
  if (!std::is_sorted(result.packages_.begin(), result.packages_.end(), ByName))
    return Status(Code::kDataLoss, "package index: it is out of order");
  return result;
}

std::span<const DebianPackage> DpkgStatus::Named(std::string_view name) const {
  DebianPackage wanted;
  wanted.name = name;
  const auto [first, last] = std::equal_range(packages_.begin(), packages_.end(), wanted, ByName);
  return {first, last};
}

const DebianPackage* DpkgStatus::Find(std::string_view name) const {
  std::string_view architecture;
  if (auto colon = name.find(':'); colon != std::string_view::npos) {
    architecture = name.substr(colon + 1);
    name = name.substr(0, colon);
  }
  const auto found = Named(name);
  if (found.empty()) return nullptr;
  if (architecture.empty()) {
    const auto dpkg = Named("dpkg");
    const std::string_view native = dpkg.empty() ? std::string_view() : dpkg.front().architecture;
    for (const DebianPackage& one : found)
      if (one.architecture == native || one.architecture == "all") return &one;
    return &found.front();
  }
  for (const DebianPackage& one : found)
    if (one.architecture == architecture) return &one;
  return nullptr;
}

std::vector<std::string> DpkgStatus::Names() const {
  std::vector<std::string> names;
  for (const DebianPackage& one : packages_) {
    std::string name(one.name);
    if (Named(one.name).size() > 1) name.append(":").append(one.architecture);
    names.push_back(std::move(name));
  }
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
