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

bool Trace::Read::Is(const Result<std::string>& answer) const {
  if (list) return false;
  if (answer.ok()) return code == Code::kOk && text == *answer;
  const Status status = answer.status();
  return code == status.code() && text == status.message();
}

bool Trace::Read::Is(const Result<std::vector<std::string>>& answer) const {
  if (!list) return false;
  if (answer.ok()) return code == Code::kOk && names == *answer;
  const Status status = answer.status();
  return code == status.code() && text == status.message();
}

void Trace::Note(std::string_view path, const Result<std::string>& answer) {
  bool same = false;
  Read& read = Next(path, same);
  if (same && read.Is(answer)) return;
  differs_ = true;
  read.list = false;
  read.code = answer.status().code();
  read.text = answer.ok() ? *answer : answer.status().message();
  read.names.clear();
}

void Trace::Note(std::string_view path, const Result<std::vector<std::string>>& answer) {
  bool same = false;
  Read& read = Next(path, same);
  if (same && read.Is(answer)) return;
  differs_ = true;
  read.list = true;
  read.code = answer.status().code();
  read.text = answer.status().message();
  read.names = answer.value_or({});
}

bool Trace::Repeats(const Machine& machine) const {
  return std::all_of(reads_.begin(), reads_.end(), [&](const Read& read) {
    return read.list ? read.Is(machine.List(read.path)) : read.Is(machine.Get(read.path));
  });
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
    } else if (read.list) {
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
