// MemoryJournal: a journal that outlives the reconciler but not the test.
#pragma once

#include <string>
#include <vector>

#include "railwright/journal.h"

namespace railwright {

/// Keeps what FileJournal would keep. `fail_at` and `die_at` count the writing calls from 1; 0 = never.
class MemoryJournal final : public Journal {
 public:
  Status RecordOriginal(const Original& original) override;
  Status Begin(const OpenStep& step) override;
  Status End(const std::string& key, const std::string& target) override;
  Status Forget(const std::string& key, const std::string& target) override;
  Status RecordPrepared(const std::vector<std::string>& paths) override;
  Status RecordAwaited(const AwaitedBoot& awaited) override;
  Status ForgetAwaited(const std::string& key, const std::string& target) override;
  Status RecordTry(const OpenTry& open) override;
  Status EndTry() override;
  Status RecordFailedTry(const FailedTry& failed) override;
  Status ForgetFailedTry(const std::string& key, const std::string& target) override;

  std::optional<Original> OriginalOf(const std::string& key, const std::string& target) const override;
  std::vector<Original> Originals() const override { return originals_; }
  std::vector<OpenStep> OpenSteps() const override { return open_; }
  std::vector<std::string> Prepared() const override { return prepared_; }
  std::optional<AwaitedBoot> AwaitedOf(const std::string& key, const std::string& target) const override;
  std::vector<AwaitedBoot> Awaited() const override { return awaited_; }
  std::optional<OpenTry> Try() const override { return try_; }
  std::vector<FailedTry> FailedTries() const override { return failed_tries_; }

  int fail_at = 0;    ///< this writing call answers `error`
  int fail_from = 0;  ///< this one and all later ones do
  int die_at = 0;     ///< Died is thrown before this call took effect
  int calls = 0;      ///< writing calls so far
  Status error{Code::kResourceExhausted, "journal: No space left on device", 28};
  /// "original link.mtu rail0", "begin link.mtu rail0", "end …", "forget …", "prepared N", "awaited …",
  /// "forget-awaited …", "try N" (steps), "end-try", "failed-try …", "forget-failed-try …".
  std::vector<std::string> log;

 private:
  Status Note(std::string line);

  std::vector<Original> originals_;
  std::vector<OpenStep> open_;
  std::vector<std::string> prepared_;
  std::vector<AwaitedBoot> awaited_;
  std::optional<OpenTry> try_;
  std::vector<FailedTry> failed_tries_;
};

}  // namespace railwright
