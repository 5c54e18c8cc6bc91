#include "agent/journal/file_journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <utility>

#include "agent/journal/record.h"
#include "core/files/descriptor.h"

namespace railwright {
namespace {

// Rewritten in passing when it holds this much more than is alive: a fight over a knob adds two lines a
// minute.
constexpr std::size_t kCompactAbove = 1 << 20;

Status WriteAll(int fd, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return FromErrno(errno, name);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return Ok();
}

Result<std::string> ReadAll(int fd, const std::string& name) {
  std::string text;
  char buffer[64 * 1024];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0) {
      if (errno == EINTR) continue;
      return FromErrno(errno, name);
    }
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

// Whether `text`, whole lines and perhaps a torn one, was never synced: ends, and the one record at most
// whose sync was under way.
bool NeverSynced(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos || end + 1 == text.size()) return true;
    const std::string_view line = text.substr(0, end);
    const auto record = ParseRecord(line);
    if (record.ok() ? record->op != JournalRecord::Op::kEnd : line.find('\0') == std::string_view::npos)
      return false;
    text.remove_prefix(end + 1);
  }
  return true;
}

class FileJournal final : public Journal {
 public:
  explicit FileJournal(std::string path) : path_(std::move(path)) {}

  Status Open();

  Status RecordOriginal(const Original& original) override {
    const auto known = originals_.find({original.key, original.target});
    if (known != originals_.end() && known->second.max_disruption == original.max_disruption) return Ok();
    JournalRecord record;
    record.op = JournalRecord::Op::kOriginal;
    record.original = known == originals_.end() ? original : known->second;
    record.original.max_disruption = original.max_disruption;
    return Append(record, /*durable=*/true);
  }
  Status Begin(const OpenStep& step) override {
    JournalRecord record;
    record.op = JournalRecord::Op::kBegin;
    record.step = step;
    return Append(record, /*durable=*/true);
  }
  // Not synced: an end that is lost makes the step be looked at once more, and costs nothing else.
  Status End(const std::string& key, const std::string& target) override {
    if (!open_.contains({key, target})) return Ok();
    JournalRecord record;
    record.op = JournalRecord::Op::kEnd;
    record.key = key;
    record.target = target;
    return Append(record, /*durable=*/false);
  }
  Status Forget(const std::string& key, const std::string& target) override {
    if (!originals_.contains({key, target})) return Ok();
    JournalRecord record;
    record.op = JournalRecord::Op::kForget;
    record.key = key;
    record.target = target;
    return Append(record, /*durable=*/true);
  }
  Status RecordPrepared(const std::vector<std::string>& paths) override {
    if (paths == prepared_) return Ok();
    JournalRecord record;
    record.op = JournalRecord::Op::kPrepared;
    record.prepared = paths;
    return Append(record, /*durable=*/true);
  }
  Status RecordAwaited(const AwaitedBoot& awaited) override {
    const auto known = awaited_.find({awaited.key, awaited.target});
    if (known != awaited_.end() && known->second == awaited) return Ok();
    JournalRecord record;
    record.op = JournalRecord::Op::kAwaited;
    record.awaited = awaited;
    return Append(record, /*durable=*/true);
  }
  Status ForgetAwaited(const std::string& key, const std::string& target) override {
    if (!awaited_.contains({key, target})) return Ok();
    JournalRecord record;
    record.op = JournalRecord::Op::kForgetAwaited;
    record.key = key;
    record.target = target;
    return Append(record, /*durable=*/true);
  }
  Status RecordTry(const OpenTry& open) override {
    if (try_ == open) return Ok();
    JournalRecord record;
    record.op = JournalRecord::Op::kTry;
    record.open = open;
    return Append(record, /*durable=*/true);
  }
  Status EndTry() override {
    if (!try_) return Ok();
    JournalRecord record;
    record.op = JournalRecord::Op::kEndTry;
    return Append(record, /*durable=*/true);
  }
  Status RecordFailedTry(const FailedTry& failed) override {
    const auto known = failed_tries_.find({failed.key, failed.target});
    if (known != failed_tries_.end() && known->second == failed) return Ok();
    JournalRecord record;
    record.op = JournalRecord::Op::kFailedTry;
    record.failed = failed;
    return Append(record, /*durable=*/true);
  }
  Status ForgetFailedTry(const std::string& key, const std::string& target) override {
    if (!failed_tries_.contains({key, target})) return Ok();
    JournalRecord record;
    record.op = JournalRecord::Op::kForgetFailedTry;
    record.key = key;
    record.target = target;
    return Append(record, /*durable=*/true);
  }

  std::optional<Original> OriginalOf(const std::string& key, const std::string& target) const override {
    const auto found = originals_.find({key, target});
    if (found == originals_.end()) return std::nullopt;
    return found->second;
  }
  std::vector<Original> Originals() const override {
    std::vector<Original> list;
    for (const auto& [place, original] : originals_) list.push_back(original);
    return list;
  }
  std::vector<OpenStep> OpenSteps() const override {
    std::vector<OpenStep> list;
    for (const auto& [place, step] : open_) list.push_back(step);
    return list;
  }
  std::vector<std::string> Prepared() const override { return prepared_; }
  std::optional<AwaitedBoot> AwaitedOf(const std::string& key, const std::string& target) const override {
    const auto found = awaited_.find({key, target});
    if (found == awaited_.end()) return std::nullopt;
    return found->second;
  }
  std::vector<AwaitedBoot> Awaited() const override {
    std::vector<AwaitedBoot> list;
    for (const auto& [place, awaited] : awaited_) list.push_back(awaited);
    return list;
  }
  std::optional<OpenTry> Try() const override { return try_; }
  std::vector<FailedTry> FailedTries() const override {
    std::vector<FailedTry> list;
    for (const auto& [place, failed] : failed_tries_) list.push_back(failed);
    return list;
  }

 private:
  using Place = std::pair<std::string, std::string>;

  Status Append(const JournalRecord& record, bool durable);
  void Take(const JournalRecord& record);
  Status Load(std::string_view text);
  /// Writes what is alive to a new file and puts it in the place of the old one, durably.
  Status Rewrite();

  std::string path_;
  Descriptor file_;        // open for appending
  std::size_t size_ = 0;   // up to the end of the last whole record
  std::size_t alive_ = 0;  // size after the last rewrite
  bool torn_ = false;      // what the disk holds is not sure; only a rewrite helps
  std::size_t lines_ = 0;

  std::map<Place, Original> originals_;
  std::map<Place, OpenStep> open_;
  std::vector<std::string> prepared_;
  std::map<Place, AwaitedBoot> awaited_;
  std::optional<OpenTry> try_;
  std::map<Place, FailedTry> failed_tries_;
};

void FileJournal::Take(const JournalRecord& record) {
  switch (record.op) {
    case JournalRecord::Op::kOriginal:
      originals_.try_emplace({record.original.key, record.original.target}, record.original)
          .first->second.max_disruption = record.original.max_disruption;
      break;
    case JournalRecord::Op::kBegin: open_[{record.step.key, record.step.target}] = record.step; break;
    case JournalRecord::Op::kEnd: open_.erase({record.key, record.target}); break;
    case JournalRecord::Op::kForget: originals_.erase({record.key, record.target}); break;
    case JournalRecord::Op::kPrepared: prepared_ = record.prepared; break;
    case JournalRecord::Op::kAwaited:
      awaited_[{record.awaited.key, record.awaited.target}] = record.awaited;
      break;
    case JournalRecord::Op::kForgetAwaited: awaited_.erase({record.key, record.target}); break;
    case JournalRecord::Op::kTry: try_ = record.open; break;
    case JournalRecord::Op::kEndTry: try_.reset(); break;
    case JournalRecord::Op::kFailedTry:
      failed_tries_[{record.failed.key, record.failed.target}] = record.failed;
      break;
    case JournalRecord::Op::kForgetFailedTry: failed_tries_.erase({record.key, record.target}); break;
  }
}

Status FileJournal::Load(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) break;  // torn: the machine died while this line was written
    const std::string_view line = text.substr(0, end);
    const auto record = ParseRecord(line);
    if (!record.ok()) {
      // What was not synced can lack a block in the middle, as zeros, and have the next. A lost end costs a
      // second look.
      if (line.find('\0') != std::string_view::npos && NeverSynced(text.substr(end + 1))) break;
      return Status(
          Code::kDataLoss,
          path_ + ":" + std::to_string(lines_ + 1) + ": damaged record: " + record.status().message() +
              ". It holds the values from before Railwright's first writes: restore the file from a "
              "backup, or move it away and lose them");
    }
    Take(*record);
    ++lines_;
    size_ += end + 1;
    text.remove_prefix(end + 1);
  }
  return Ok();
}

Status FileJournal::Open() {
  Descriptor existing(::open(path_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  if (!existing) {
    if (errno != ENOENT) return FromErrno(errno, path_);
    return Rewrite();
  }
  struct stat info {};
  if (::fstat(existing.get(), &info) != 0) return FromErrno(errno, path_);
  if (!S_ISREG(info.st_mode))
    return Status(Code::kFailedPrecondition, path_ + ": not a regular file; name another journal");
  RW_ASSIGN_OR_RETURN(const std::string text, ReadAll(existing.get(), path_));
  RW_RETURN_IF_ERROR(Load(text));
  const std::size_t live = originals_.size() + open_.size() + (prepared_.empty() ? 0 : 1) + awaited_.size() +
                           (try_ ? 1 : 0) + failed_tries_.size();
  if (size_ != text.size() || lines_ != live) return Rewrite();
  file_ = std::move(existing);
  alive_ = size_;
  return Ok();
}

Status FileJournal::Rewrite() {
  std::string text;
  std::size_t lines = 0;
  const auto add = [&](const JournalRecord& record) {
    text += FormatRecord(record);
    ++lines;
  };
  for (const auto& [place, original] : originals_) {
    JournalRecord record;
    record.op = JournalRecord::Op::kOriginal;
    record.original = original;
    add(record);
  }
  for (const auto& [place, step] : open_) {
    JournalRecord record;
    record.op = JournalRecord::Op::kBegin;
    record.step = step;
    add(record);
  }
  if (!prepared_.empty()) {
    JournalRecord record;
    record.op = JournalRecord::Op::kPrepared;
    record.prepared = prepared_;
    add(record);
  }
  for (const auto& [place, awaited] : awaited_) {
    JournalRecord record;
    record.op = JournalRecord::Op::kAwaited;
    record.awaited = awaited;
    add(record);
  }
  if (try_) {
    JournalRecord record;
    record.op = JournalRecord::Op::kTry;
    record.open = *try_;
    add(record);
  }
  for (const auto& [place, failed] : failed_tries_) {
    JournalRecord record;
    record.op = JournalRecord::Op::kFailedTry;
    record.failed = failed;
    add(record);
  }

  const std::string temporary = path_ + ".new";
  // 0600: a file's former content may be a secret.
  Descriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return FromErrno(errno, temporary);
  const auto give_up = [&](Status status) {
    ::unlink(temporary.c_str());
    return status;
  };
  if (Status status = WriteAll(file.get(), text, temporary); !status.ok()) return give_up(std::move(status));
  if (::fsync(file.get()) != 0) return give_up(FromErrno(errno, temporary));
  if (::rename(temporary.c_str(), path_.c_str()) != 0) return give_up(FromErrno(errno, path_));
  file_ = std::move(file);
  size_ = alive_ = text.size();
  lines_ = lines;
  torn_ = true;  // until the new name is durable too

  const auto slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path_.substr(0, slash);
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return FromErrno(errno, folder);
  if (::fsync(directory.get()) != 0) return FromErrno(errno, folder);
  torn_ = false;
  return Ok();
}

Status FileJournal::Append(const JournalRecord& record, bool durable) {
  if (torn_ || (size_ > kCompactAbove && size_ > 4 * alive_)) {
    Status status = Rewrite();
    if (!status.ok() && torn_) return status.Within("journal");
  }
  const std::string line = FormatRecord(record);
  Status status = WriteAll(file_.get(), line, path_);
  if (status.ok() && durable && ::fdatasync(file_.get()) != 0) {
    status = FromErrno(errno, path_);
    // After a failed sync the kernel may have dropped the pages and call them clean: only a new file is sure.
    torn_ = true;
  }
  if (!status.ok()) {
    // Part of the line may be there; the next one must not be glued to it.
    if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) torn_ = true;
    return status.Within("journal");
  }
  size_ += line.size();
  ++lines_;
  Take(record);
  return Ok();
}

}  // namespace

Result<std::unique_ptr<Journal>> OpenFileJournal(const std::string& path) {
  auto journal = std::make_unique<FileJournal>(path);
  RW_RETURN_IF_ERROR(journal->Open().Within("journal"));
  return Result<std::unique_ptr<Journal>>(std::move(journal));
}

}  // namespace railwright
