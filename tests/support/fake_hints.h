// FakeHints: a source of hints that the test feeds.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "railwright/hints.h"

namespace railwright {

class FakeHints final : public Hints {
 public:
  void Push(Hint hint) { waiting_.push_back(std::move(hint)); }

  int fd() const override { return -1; }
  std::vector<Hint> Drain() override {
    std::vector<Hint> merged;
    for (Hint& hint : waiting_) {
      const auto same = std::find_if(merged.begin(), merged.end(),
                                     [&](const Hint& other) { return other.prefix == hint.prefix; });
      if (same == merged.end()) merged.push_back(std::move(hint));
    }
    waiting_.clear();
    return merged;
  }
  void Watch(const std::vector<std::string>& paths) override { watched = paths; }

  std::vector<std::string> watched;  ///< the last list given to Watch

 private:
  std::vector<Hint> waiting_;
};

}  // namespace railwright
