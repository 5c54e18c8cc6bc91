// FaultyMachine: any machine, with the faults that real ones show.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "railwright/machine.h"

namespace railwright {

/// Thrown by FaultyMachine and MemoryJournal where the test wants the agent to die (kill -9): nothing that
/// comes after it in the code under test may happen. Tests catch it, drop the agent and start a new one over
/// the same machine and journal.
struct Died {};

/// What goes wrong, counted from 1 over the life of the machine; 0 = never.
struct Faults {
  int fail_write = 0;        ///< this Set answers `error` and changes nothing
  int fail_writes_from = 0;  ///< this Set and all later ones do
  int fail_read = 0;         ///< this Get or List answers `error`
  int fail_reads_from = 0;   ///< this one and all later ones do
  int ignore_write = 0;      ///< this Set answers Ok and changes nothing
  int half_write = 0;        ///< this Set takes effect and yet answers `error`
  int die_before_write = 0;  ///< Died is thrown, the value not written
  int die_after_write = 0;   ///< Died is thrown, the value written
  Status error{Code::kInternal, "injected fault: Input/output error", 5};
  /// What the kernel makes of a written value ("clamped"); empty = takes it as it is.
  std::function<std::string(const std::string& path, const std::string& value)> clamp{};
  /// After each Set of a path, so many Gets of it still show the value from before.
  int stale_reads = 0;
};

class FaultyMachine final : public Machine {
 public:
  /// `inner` outlives it.
  FaultyMachine(Machine& inner, Faults planned) : faults(std::move(planned)), inner_(inner) {}

  Result<std::string> Get(std::string_view path) const override;
  Result<std::vector<std::string>> List(std::string_view path) const override;
  Status Set(std::string_view path, std::string_view value) override;

  int reads() const { return reads_; }
  int writes() const { return writes_; }

  Faults faults;  ///< may be changed between calls

 private:
  bool ReadFails() const;

  Machine& inner_;
  mutable int reads_ = 0;
  int writes_ = 0;
  struct Stale {
    Result<std::string> before;
    int left;
  };
  mutable std::map<std::string, Stale, std::less<>> stale_;
};

}  // namespace railwright
