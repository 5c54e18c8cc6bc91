#include "core/decode/pci_tree.h"

#include <algorithm>

#include "core/decode/fields.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

bool IsLowerHex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

// "pci0000:15", a host bridge's bus.
bool IsHostBridge(std::string_view text) {
  constexpr std::string_view kName = "pci";
  if (!text.starts_with(kName)) return false;
  text.remove_prefix(kName.size());
  const auto colon = text.find(':');
  return colon != std::string_view::npos && colon >= 4 && IsLowerHex(text.substr(0, colon)) &&
         text.size() == colon + 3 && IsLowerHex(text.substr(colon + 1));
}

Status Refuse(std::string_view line, const std::string& why) {
  return Status(Code::kInvalidArgument, "PCI function " + Quoted(line) + ": " + why);
}

Result<PciFunction> ParseLine(std::string_view line) {
  PciFunction function;
  const auto blank = line.find(' ');
  for (const std::string_view part : Words(line.substr(0, blank), "/")) function.path.emplace_back(part);
  if (function.path.size() < 2 || !IsHostBridge(function.path.front()) ||
      !std::all_of(function.path.begin() + 1, function.path.end(),
                   [](const auto& one) { return IsBdf(one); }))
    return Refuse(line, "its way is no host bridge followed by PCI addresses");
  function.bdf = function.path.back();
  const auto fields =
      Fields::Parse(blank == std::string_view::npos ? std::string_view() : line.substr(blank + 1));
  if (!fields.ok()) return Refuse(line, fields.status().message());
  if (const auto* value = fields->Find("class")) function.class_ = *value;
  if (const auto* value = fields->Find("id")) function.id = *value;
  if (const auto* value = fields->Find("driver")) function.driver = *value;
  if (function.class_.size() != 6 || !IsLowerHex(function.class_))
    return Refuse(line, "class is no six hexadecimal digits");
  return function;
}

}  // namespace

bool PciFunction::IsGpu() const {
  return id.starts_with("10de:") && (class_.starts_with("0300") || class_.starts_with("0302"));
}

Result<PciTree> PciTree::Parse(std::string_view text) {
  PciTree tree;
  for (const std::string_view line : Lines(text)) {
    if (line.empty()) continue;
    RW_ASSIGN_OR_RETURN(PciFunction function, ParseLine(line));
    if (tree.Find(function.bdf) != nullptr) return Refuse(line, "is there twice");
    tree.functions_.push_back(std::move(function));
  }
  return tree;
}

std::string PciTree::LineOf(const PciFunction& function) {
  Fields fields;
  fields.Set("class", function.class_);
  fields.Set("id", function.id);
  if (!function.driver.empty()) fields.Set("driver", function.driver);
  return Joined(function.path, "/") + " " + fields.Text();
}

const PciFunction* PciTree::Find(std::string_view bdf) const {
  const auto found = std::find_if(functions_.begin(), functions_.end(),
                                  [&](const PciFunction& one) { return one.bdf == bdf; });
  return found == functions_.end() ? nullptr : &*found;
}

std::size_t CommonPath(const PciFunction& a, const PciFunction& b) {
  const std::size_t most = std::min(a.path.size(), b.path.size()) - 1;
  std::size_t common = 0;
  while (common < most && a.path[common] == b.path[common]) ++common;
  return common;
}

PciNearness NearnessOf(const PciFunction& a, const PciFunction& b) {
  const std::size_t common = CommonPath(a, b);
  if (common == 0) return PciNearness::kApart;
  return common == 1 ? PciNearness::kSameHostBridge : PciNearness::kSameSwitch;
}

bool IsBdf(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon < 4 || colon > 8 || !IsLowerHex(text.substr(0, colon)))
    return false;
  text.remove_prefix(colon + 1);
  return text.size() == 7 && IsLowerHex(text.substr(0, 2)) && text[2] == ':' &&
         IsLowerHex(text.substr(3, 2)) && text[5] == '.' && text[6] >= '0' && text[6] <= '7';
}

}  // namespace railwright
