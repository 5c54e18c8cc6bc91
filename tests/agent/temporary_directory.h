// TemporaryDirectory: a folder that is gone after the test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace railwright {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    char name[] = "/tmp/railwright-agent-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace railwright
