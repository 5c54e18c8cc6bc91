#include "controller/cli/shipped_templates.h"

#include <algorithm>
#include <utility>

namespace railwright::cli {

/// Generated from the folder: file name and text of each.
const std::vector<std::pair<std::string_view, std::string_view>>& TemplateFiles();

namespace {

std::string_view Trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

void Join(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) text += ' ';
  text += more;
}

}  // namespace

Template ReadTemplate(std::string_view file, std::string_view text) {
  Template out;
  out.file = file;
  out.text = text;
  std::string reason;
  bool settings = false, fresh = true;  // the comment above has ended
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    const std::string_view line = Trimmed(whole);
    if (line.empty()) {
      reason.clear();
      continue;
    }
    if (line.front() == '#') {
      const std::string_view words = Trimmed(line.substr(1));
      if (!settings && out.name.empty()) {
        // A command in it is no prose.
        if (!words.starts_with("railctl ")) Join(out.about, words);
        continue;
      }
      if (std::exchange(fresh, false)) reason.clear();
      Join(reason, words);
      continue;
    }
    fresh = true;
    const auto colon = line.find(": ");
    if (!settings) {
      if (line.starts_with("name: ")) out.name = Trimmed(line.substr(6));
      settings = line == "settings:";
      reason.clear();
    } else if (colon != std::string_view::npos) {
      out.settings.push_back(
          {std::string(line.substr(0, colon)), std::string(Trimmed(line.substr(colon + 2))), reason});
    }
  }
  return out;
}

const std::vector<Template>& ShippedTemplates() {
  static const std::vector<Template> all = [] {
    std::vector<Template> list;
    for (const auto& [file, text] : TemplateFiles()) {
      Template one = ReadTemplate(file, text);
      if (!one.settings.empty()) list.push_back(std::move(one));
    }
    std::sort(list.begin(), list.end(), [](const Template& a, const Template& b) { return a.name < b.name; });
    return list;
  }();
  return all;
}

}  // namespace railwright::cli
