// ChangeLog: a node's history until the controller has stored it. Durable before it is relied upon.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "railwright/result.h"
#include "railwright/state.h"

namespace railwright {

/// One append-only file of JSON lines. It owns the numbers: they grow by one and never repeat, also not when
/// the file was lost (Adopt). One thread uses it.
class ChangeLog {
 public:
  /// More than this many unstored records: the oldest are dropped and counted. A controller that stays away
  /// for days must not fill the disk. About 10 MiB.
  static constexpr std::size_t kMost = 20'000;

  explicit ChangeLog(std::string path) : path_(std::move(path)) {}
  /// Reads what is there. A torn last line is dropped; damaged lines are left out and counted in `damaged()`:
  /// history is worth less than a node that runs.
  Status Open();

  /// Numbers the records and writes them; durable when Ok. On an error they are kept in memory and written
  /// with the next call of Append or Flush; `pending` does not show them before.
  Status Append(std::vector<ChangeRecord> changes);
  Status Flush();
  /// The controller has stored everything up to `sequence`.
  void Acknowledge(std::uint64_t sequence);
  /// What a Welcome says. A stored number that was never given here means that this file was lost: numbers go
  /// on above it, also those of the records that wait.
  Status Adopt(std::uint64_t stored);

  /// Durable and not yet stored, oldest first.
  const std::deque<ChangeRecord>& pending() const { return pending_; }
  std::uint64_t next() const { return next_; }
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t damaged() const { return damaged_; }

 private:
  Status Rewrite();

  std::string path_;
  std::deque<ChangeRecord> pending_;
  std::vector<ChangeRecord> unwritten_;  // numbered
  std::uint64_t next_ = 1;
  std::size_t size_ = 0;   // up to the last whole line
  std::size_t lines_ = 0;  // records in the file, dead ones included
  bool torn_ = true;       // the file's end is not sure: only a rewrite helps
  std::uint64_t dropped_ = 0, damaged_ = 0;
};

}  // namespace railwright
