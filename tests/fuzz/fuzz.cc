#include "tests/fuzz/fuzz.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

namespace railwright::fuzz {

std::string Seen(std::string_view text) {
  constexpr std::size_t kMost = 400;
  std::string seen = "\"";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      seen += c;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
    seen += escaped;
  }
  return seen + (text.size() > kMost ? "\" …" : "\"");
}

std::string Seen(std::string_view first, std::string_view second) {
  return Seen(first) + "\n  and " + Seen(second);
}

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder()
    : path_(fs::temp_directory_path() / ("railwright-fuzz-" + std::to_string(std::random_device{}()))) {
  if (!fs::create_directory(path_)) Broken("a new folder", __FILE__, path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

void TemporaryFolder::Write(const std::string& name, std::string_view bytes) const {
  const fs::path file = fs::path(path_) / name;
  if (!fs::exists(file.parent_path())) fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace railwright::fuzz
