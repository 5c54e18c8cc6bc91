// What the self-tests see of the source tree.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace railwright::repo {

inline std::filesystem::path Root() { return RAILWRIGHT_SOURCE_DIR; }

inline std::string ReadText(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Files below `folder` (relative to the root) with one of the endings; paths relative to the root, sorted.
inline std::vector<std::string> FilesBelow(const std::string& folder,
                                           const std::vector<std::string>& endings) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Root() / folder)) {
    if (!entry.is_regular_file()) continue;
    for (const std::string& ending : endings) {
      if (entry.path().extension() == ending)
        files.push_back(std::filesystem::relative(entry.path(), Root()).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace railwright::repo
