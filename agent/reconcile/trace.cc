#include "agent/reconcile/trace.h"

#include <algorithm>

#include "agent/reconcile/text.h"

namespace railwright {

bool Related(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  return b.starts_with(a) && (a.empty() || a.size() == b.size() || a.back() == '/' || b[a.size()] == '/');
}

void Trace::Start() {
  used_ = 0;
  differs_ = version_ == 0;
}

Trace::Read& Trace::Next(std::string_view path, bool& same) {
  if (used_ == reads_.size()) reads_.emplace_back();
  Read& read = reads_[used_++];
  same = read.path == path;
  if (!same) read.path = path;
  return read;
}

void Trace::Note(std::string_view path, const Result<std::string>& answer) {
  bool same = false;
  Read& read = Next(path, same);
  const Status status = answer.ok() ? Status() : answer.status();
  const std::string& text = answer.ok() ? *answer : status.message();
  if (same && read.code == status.code() && read.text == text && read.names.empty()) return;
  differs_ = true;
  read.code = status.code();
  read.text = text;
  read.names.clear();
}

void Trace::Note(std::string_view path, const Result<std::vector<std::string>>& answer) {
  static const std::vector<std::string> kNone;
  bool same = false;
  Read& read = Next(path, same);
  const Status status = answer.ok() ? Status() : answer.status();
  const std::vector<std::string>& names = answer.ok() ? *answer : kNone;
  if (same && read.code == status.code() && read.text == status.message() && read.names == names) return;
  differs_ = true;
  read.code = status.code();
  read.text = status.message();
  read.names = names;
}

void Trace::Finish() {
  if (used_ != reads_.size()) {
    reads_.resize(used_);
    differs_ = true;
  }
  if (differs_) ++version_;
}

bool Trace::Touches(std::string_view prefix) const {
  return std::any_of(reads_.begin(), reads_.end(),
                     [&](const Read& read) { return Related(read.path, prefix); });
}

std::vector<std::string> Trace::Evidence() const {
  std::vector<std::string> lines;
  for (const Read& read : reads_) {
    std::string line = read.path;
    if (read.code != Code::kOk) {
      line += ": ";
      line += Name(read.code);
      // Messages begin with what they are about; the path stands here already.
      std::string_view message = read.text;
      if (message.starts_with(read.path)) {
        message.remove_prefix(read.path.size());
        if (message.starts_with(": ")) message.remove_prefix(2);
      }
      if (!message.empty()) line.append(": ").append(message);
    } else if (!read.names.empty()) {
      line += " = [";
      for (std::size_t i = 0; i < read.names.size(); ++i)
        line.append(i == 0 ? "" : " ").append(read.names[i]);
      line += "]";
    } else {
      line += " = ";
      // A large value is cut before it is copied and cleaned.
      line += std::string_view(read.text).substr(0, 256);
    }
    line = OneLine(line);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

void Trace::AppendPaths(std::vector<std::string>& paths) const {
  for (const Read& read : reads_) paths.push_back(read.path);
}

Result<std::string> TracingMachine::Get(std::string_view path) const {
  auto answer = inner_.Get(path);
  trace_.Note(path, answer);
  return answer;
}

Result<std::vector<std::string>> TracingMachine::List(std::string_view path) const {
  auto answer = inner_.List(path);
  trace_.Note(path, answer);
  return answer;
}

Status TracingMachine::Set(std::string_view path, std::string_view) {
  return Status(Code::kInternal, std::string(path) + ": written while only looking");
}

}  // namespace railwright
