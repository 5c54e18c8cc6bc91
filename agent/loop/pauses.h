// Pauses: what an operator has stopped, from both sides: the controller's list, and this node's own.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "railwright/result.h"
#include "railwright/state.h"

namespace railwright {

/// The text of a file of pauses: {"pauses":[{"node","key","by","reason"}…]}.
std::string FormatPauses(const std::vector<Pause>& pauses);
/// DataLoss says what is wrong.
Result<std::vector<Pause>> ParsePauses(std::string_view text);

/// Whether one of them stops `key`, a key of the setting whose catalogue key is `family` ("sysctl.<name>"). A
/// pause without a key stops everything.
bool Stops(const std::vector<Pause>& pauses, std::string_view key, std::string_view family);

/// `railwright-agent pause`, as seen from the running agent: a file that may change at any moment.
class PauseFile {
 public:
  explicit PauseFile(std::string path) : path_(std::move(path)) {}
  /// Looks whether the file has changed and, if so, reads it: one stat() otherwise. True when the list is
  /// another than before. A file that cannot be read stops everything: it is there because somebody wanted to
  /// stop.
  bool Look();
  const std::vector<Pause>& pauses() const { return pauses_; }

 private:
  struct Stamp {
    bool there = false;
    unsigned long inode = 0;
    long size = 0, seconds = 0, nanoseconds = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  std::string path_;
  Stamp stamp_;
  std::vector<Pause> pauses_;
};

}  // namespace railwright
