#include "tests/support/memory_journal.h"

#include "tests/support/faulty_machine.h"

namespace railwright {

Status MemoryJournal::Note(std::string line) {
  ++calls;
  if (calls == die_at) throw Died{};
  if (calls == fail_at || (fail_from > 0 && calls >= fail_from)) return error;
  log.push_back(std::move(line));
  return Ok();
}

Status MemoryJournal::RecordOriginal(const Original& original) {
  RW_RETURN_IF_ERROR(Note("original " + original.key + " " + original.target));
  for (Original& one : originals_) {
    if (one.key != original.key || one.target != original.target) continue;
    one.max_disruption = original.max_disruption;
    return Ok();
  }
  originals_.push_back(original);
  return Ok();
}

Status MemoryJournal::Begin(const OpenStep& step) {
  RW_RETURN_IF_ERROR(Note("begin " + step.key + " " + step.target));
  std::erase_if(open_, [&](const OpenStep& o) { return o.key == step.key && o.target == step.target; });
  open_.push_back(step);
  return Ok();
}

Status MemoryJournal::End(const std::string& key, const std::string& target) {
  RW_RETURN_IF_ERROR(Note("end " + key + " " + target));
  std::erase_if(open_, [&](const OpenStep& o) { return o.key == key && o.target == target; });
  return Ok();
}

Status MemoryJournal::Forget(const std::string& key, const std::string& target) {
  RW_RETURN_IF_ERROR(Note("forget " + key + " " + target));
  std::erase_if(originals_, [&](const Original& o) { return o.key == key && o.target == target; });
  return Ok();
}

Status MemoryJournal::RecordPrepared(const std::vector<std::string>& paths) {
  RW_RETURN_IF_ERROR(Note("prepared " + std::to_string(paths.size())));
  prepared_ = paths;
  return Ok();
}

Status MemoryJournal::RecordAwaited(const AwaitedBoot& awaited) {
  RW_RETURN_IF_ERROR(Note("awaited " + awaited.key + " " + awaited.target));
  std::erase_if(awaited_, [&](const AwaitedBoot& one) {
    return one.key == awaited.key && one.target == awaited.target;
  });
  awaited_.push_back(awaited);
  return Ok();
}

Status MemoryJournal::ForgetAwaited(const std::string& key, const std::string& target) {
  RW_RETURN_IF_ERROR(Note("forget-awaited " + key + " " + target));
  std::erase_if(awaited_, [&](const AwaitedBoot& one) { return one.key == key && one.target == target; });
  return Ok();
}

Status MemoryJournal::RecordTry(const OpenTry& open) {
  RW_RETURN_IF_ERROR(Note("try " + std::to_string(open.steps.size())));
  try_ = open;
  return Ok();
}

Status MemoryJournal::EndTry() {
  if (!try_) return Ok();
  RW_RETURN_IF_ERROR(Note("end-try"));
  try_.reset();
  return Ok();
}

Status MemoryJournal::RecordFailedTry(const FailedTry& failed) {
  RW_RETURN_IF_ERROR(Note("failed-try " + failed.key + " " + failed.target));
  std::erase_if(failed_tries_,
                [&](const FailedTry& one) { return one.key == failed.key && one.target == failed.target; });
  failed_tries_.push_back(failed);
  return Ok();
}

Status MemoryJournal::ForgetFailedTry(const std::string& key, const std::string& target) {
  RW_RETURN_IF_ERROR(Note("forget-failed-try " + key + " " + target));
  std::erase_if(failed_tries_, [&](const FailedTry& one) { return one.key == key && one.target == target; });
  return Ok();
}

std::optional<AwaitedBoot> MemoryJournal::AwaitedOf(const std::string& key, const std::string& target) const {
  for (const AwaitedBoot& one : awaited_)
    if (one.key == key && one.target == target) return one;
  return std::nullopt;
}

std::optional<Original> MemoryJournal::OriginalOf(const std::string& key, const std::string& target) const {
  for (const Original& original : originals_)
    if (original.key == key && original.target == target) return original;
  return std::nullopt;
}

}  // namespace railwright
