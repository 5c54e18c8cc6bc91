#include "agent/machine/set_valued.h"

#include <algorithm>
#include <cerrno>
#include <set>

#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

std::vector<std::string> TextsOf(const std::vector<SetItem>& items) {
  std::vector<std::string> texts;
  for (const SetItem& item : items) texts.push_back(item.text);
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

/// What is there, for the end of an error's message.
std::string Now(const SetKind& kind) {
  const auto items = kind.read();
  if (!items.ok()) return "; reading back failed too: " + items.status().message();
  std::string text = "; now there: ";
  const auto texts = TextsOf(*items);
  if (texts.empty()) text += "nothing";
  for (const std::string& one : texts) text += (&one == &texts.front() ? "" : ", ") + one;
  return text;
}

Status WithNow(const Status& status, const SetKind& kind) {
  return Status(status.code(), status.message() + Now(kind), status.error_number());
}

bool WasGone(const Status& status) {
  const int error = status.error_number();
  return error == ESRCH || error == ENOENT || error == EADDRNOTAVAIL || error == ENODEV;
}

}  // namespace

Result<std::string> ReadSet(const SetKind& kind) {
  RW_ASSIGN_OR_RETURN(const auto items, kind.read());
  return JoinLines(TextsOf(items));
}

Status MakeSetSo(NetlinkSocket& socket, const SetKind& kind, std::map<std::string, NetlinkMessage> wanted) {
  RW_ASSIGN_OR_RETURN(const auto before, kind.read());
  std::vector<std::pair<std::string, NetlinkMessage>> removals;
  for (const SetItem& item : before) {
    if (wanted.contains(item.text)) continue;
    NetlinkMessage remove(kind.remove_type, 0);
    remove.Raw(item.reply.payload);
    removals.emplace_back(item.text, std::move(remove));
  }
  for (auto& [text, message] : removals) {
    const Status status = socket.Do(message, std::string(kind.path) + ": removing " + text);
    if (!status.ok() && !WasGone(status)) return WithNow(status, kind);
  }
  // Read again: the kernel removes with an address its secondary ones and the routes that use it.
  Result<std::vector<SetItem>> rest = kind.read();
  if (!rest.ok()) return rest.status();
  const auto present = TextsOf(*rest);
  for (auto& [text, message] : wanted) {
    if (std::binary_search(present.begin(), present.end(), text)) continue;
    const Status status = socket.Do(message, std::string(kind.path) + ": adding " + text);
    if (!status.ok() && status.error_number() != EEXIST) return WithNow(status, kind);
  }
  RW_ASSIGN_OR_RETURN(const auto after, kind.read());
  std::vector<std::string> lines;
  for (const auto& [text, message] : wanted) lines.push_back(text);
  if (TextsOf(after) != lines)
    return WithNow(Status(Code::kAborted, std::string(kind.path) +
                                              ": the kernel took every change, yet not this "
                                              "set is there (asked for: " +
                                              (lines.empty() ? "nothing" : JoinLines(lines)) + ")"),
                   kind);
  return Ok();
}

Words::Words(std::string_view line) {
  for (;;) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return;
    line.remove_prefix(begin);
    words_.push_back(line.substr(0, line.find_first_of(" \t")));
    line.remove_prefix(words_.back().size());
  }
}

bool Words::TakeIf(std::string_view word) {
  if (Peek() != word) return false;
  ++at_;
  return true;
}

}  // namespace railwright::machine
