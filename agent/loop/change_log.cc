#include "agent/loop/change_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/files/whole_file.h"
#include "core/text/shapes.h"
#include "railwright/unix_time.h"

namespace railwright {
namespace {

using Json = nlohmann::ordered_json;

/// No node comes near it; a file that says more is damaged, and numbers must be able to go on.
constexpr std::uint64_t kLastNumber = std::numeric_limits<std::int64_t>::max();

std::string Line(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string Header(std::uint64_t next) { return Line({{"next", next}}); }

// As the operator's tools show it, and what the controller has to know beside that.
Json ToFile(const ChangeRecord& change) {
  Json object = ToJson(change);
  if (change.with_link) object["with_link"] = true;
  return object;
}

std::optional<ChangeKind> ParseKind(const std::string& text) {
  for (const ChangeKind kind : {ChangeKind::kIntended, ChangeKind::kCorrective, ChangeKind::kRestored,
                                ChangeKind::kUndone, ChangeKind::kDrift, ChangeKind::kContended})
    if (Name(kind) == text) return kind;
  return std::nullopt;
}

std::optional<ChangeRecord> ParseRecord(const Json& object) {
  try {
    ChangeRecord change;
    const auto kind = ParseKind(object.at("kind").get<std::string>());
    if (!kind) return std::nullopt;
    // A number with a fraction or beyond 64 bits is converted to nothing that was meant.
    for (const char* name : {"sequence", "generation"})
      if (!object.at(name).is_number_unsigned()) return std::nullopt;
    for (const char* name : {"at_unix_us", "took_us"})
      if (!object.at(name).is_number_integer()) return std::nullopt;
    change.kind = *kind;
    change.sequence = object.at("sequence").get<std::uint64_t>();
    change.key = object.at("key").get<std::string>();
    change.target = object.at("target").get<std::string>();
    change.from = object.at("from").get<std::string>();
    change.to = object.at("to").get<std::string>();
    change.by = object.at("by").get<std::string>();
    change.noticed = object.at("noticed").get<std::string>();
    change.ok = object.at("ok").get<bool>();
    change.message = object.at("message").get<std::string>();
    change.generation.value = object.at("generation").get<std::uint64_t>();
    const auto at = FromUnixMicros(object.at("at_unix_us").get<std::int64_t>());
    if (!at || change.sequence >= kLastNumber) return std::nullopt;
    change.at = *at;
    change.took = std::chrono::microseconds(object.at("took_us").get<std::int64_t>());
    change.with_link = object.value("with_link", false);  // older files have none
    if (change.sequence == 0) return std::nullopt;
    return change;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

// Appends and syncs. On an error the file's end is not sure.
Status AppendDurably(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return FromErrno(errno, path);
  Status status;
  while (!text.empty() && status.ok()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) status = FromErrno(errno, path);
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (status.ok() && ::fdatasync(fd) != 0) status = FromErrno(errno, path);
  ::close(fd);
  return status;
}

}  // namespace

Status ChangeLog::Open() {
  const auto text = ReadWhole(path_, 256U << 20);
  if (!text.ok()) return text.status().code() == Code::kNotFound ? Rewrite() : text.status();
  std::string_view rest = *text;
  while (true) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) break;
    const Json object = Json::parse(rest.substr(0, end), nullptr, false);
    rest.remove_prefix(end + 1);
    if (object.is_object() && object.contains("next") && object["next"].is_number_unsigned()) {
      const auto next = object["next"].get<std::uint64_t>();
      if (next <= kLastNumber)
        next_ = std::max(next_, next);
      else
        ++damaged_;
      continue;
    }
    const auto change = object.is_object() ? ParseRecord(object) : std::nullopt;
    if (!change || (!pending_.empty() && change->sequence <= pending_.back().sequence)) {
      ++damaged_;
      continue;
    }
    pending_.push_back(*change);
    next_ = std::max(next_, change->sequence + 1);
  }
  return Rewrite();
}

Status ChangeLog::Append(std::vector<ChangeRecord> changes) {
  for (ChangeRecord& change : changes) {
    change.sequence = next_++;
    unwritten_.push_back(std::move(change));
  }
  return Flush();
}

Status ChangeLog::Flush() {
  if (unwritten_.size() > kMost) {  // only while the disk is full
    dropped_ += unwritten_.size() - kMost;
    unwritten_.erase(unwritten_.begin(), unwritten_.end() - static_cast<std::ptrdiff_t>(kMost));
  }
  if (unwritten_.empty() && !torn_) return Ok();
  if (torn_ || pending_.size() + unwritten_.size() > kMost || lines_ > 4 * pending_.size() + 1024) {
    RW_RETURN_IF_ERROR(Rewrite());
  } else {
    std::string text;
    for (const ChangeRecord& change : unwritten_) text += Line(ToFile(change));
    if (Status status = AppendDurably(path_, text); !status.ok()) {
      // Half a line may be there; the next one must not be glued to it.
      if (::truncate(path_.c_str(), static_cast<off_t>(size_)) != 0) torn_ = true;
      return status.Within("history");
    }
    size_ += text.size();
    lines_ += unwritten_.size();
    pending_.insert(pending_.end(), unwritten_.begin(), unwritten_.end());
    unwritten_.clear();
  }
  return Ok();
}

Status ChangeLog::Rewrite() {
  std::deque<ChangeRecord> all = pending_;
  all.insert(all.end(), unwritten_.begin(), unwritten_.end());
  const std::size_t excess = all.size() > kMost ? all.size() - kMost : 0;
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(excess));
  std::string text = Header(next_);
  for (const ChangeRecord& change : all) text += Line(ToFile(change));
  RW_RETURN_IF_ERROR(WriteWholeFile(path_, text).Within("history"));
  dropped_ += excess;
  size_ = text.size();
  lines_ = all.size();
  torn_ = false;
  pending_ = std::move(all);
  unwritten_.clear();
  return Ok();
}

void ChangeLog::Acknowledge(std::uint64_t sequence) {
  while (!pending_.empty() && pending_.front().sequence <= sequence) pending_.pop_front();
  // What is stored elsewhere may stand here twice after a crash, so nothing need be written now. Once in a
  // while the file is made short again; if that fails, the next Append tries it.
  if (pending_.empty() && lines_ > 1024) {
    if (Status status = Rewrite(); !status.ok()) torn_ = true;
  }
}

Status ChangeLog::Adopt(std::uint64_t stored) {
  if (stored < next_) {
    Acknowledge(stored);
    return Ok();
  }
  next_ = stored + 1;
  for (ChangeRecord& change : pending_) change.sequence = next_++;
  for (ChangeRecord& change : unwritten_) change.sequence = next_++;
  return Rewrite();
}

}  // namespace railwright
