#include "tests/support/faulty_machine.h"

namespace railwright {

bool FaultyMachine::ReadFails() const {
  ++reads_;
  return reads_ == faults.fail_read || (faults.fail_reads_from > 0 && reads_ >= faults.fail_reads_from);
}

Result<std::string> FaultyMachine::Get(std::string_view path) const {
  if (ReadFails()) return faults.error.Within(path);
  if (const auto stale = stale_.find(path); stale != stale_.end()) {
    if (stale->second.left-- > 0) return stale->second.before;
    stale_.erase(stale);
  }
  return inner_.Get(path);
}

Result<std::vector<std::string>> FaultyMachine::List(std::string_view path) const {
  if (ReadFails()) return faults.error.Within(path);
  return inner_.List(path);
}

Status FaultyMachine::Set(std::string_view path, std::string_view value) {
  ++writes_;
  if (writes_ == faults.die_before_write) throw Died{};
  if (writes_ == faults.fail_write || (faults.fail_writes_from > 0 && writes_ >= faults.fail_writes_from))
    return faults.error.Within(path);
  if (writes_ == faults.ignore_write) return Ok();
  if (faults.stale_reads > 0)
    stale_.insert_or_assign(std::string(path), Stale{inner_.Get(path), faults.stale_reads});
  const std::string taken =
      faults.clamp ? faults.clamp(std::string(path), std::string(value)) : std::string(value);
  Status status = inner_.Set(path, taken);
  if (writes_ == faults.die_after_write) throw Died{};
  if (writes_ == faults.half_write) return faults.error.Within(path);
  return status;
}

}  // namespace railwright
