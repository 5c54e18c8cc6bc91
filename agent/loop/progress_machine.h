// ProgressMachine: a machine that tells that its user is at work.
#pragma once

#include <functional>
#include <utility>

#include "railwright/machine.h"

namespace railwright {

/// Passes everything on; calls `at_work` before each operation, in the caller's thread. A pass over a slow
/// machine takes long and yet is no loop that hangs: this is how the difference shows.
class ProgressMachine final : public Machine {
 public:
  /// `inner` outlives it.
  ProgressMachine(Machine& inner, std::function<void()> at_work)
      : inner_(inner), at_work_(std::move(at_work)) {}

  Result<std::string> Get(std::string_view path) const override {
    at_work_();
    return inner_.Get(path);
  }
  Result<std::vector<std::string>> List(std::string_view path) const override {
    at_work_();
    return inner_.List(path);
  }
  Status Set(std::string_view path, std::string_view value) override {
    at_work_();
    return inner_.Set(path, value);
  }

 private:
  Machine& inner_;
  const std::function<void()> at_work_;
};

}  // namespace railwright
