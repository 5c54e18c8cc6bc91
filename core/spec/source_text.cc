#include "core/spec/source_text.h"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace railwright::spec {

namespace {

// Longest part of a line that an excerpt shows, in characters.
constexpr std::size_t kExcerptWidth = 100;

std::string_view Line(std::string_view text, int index) {
  std::size_t at = 0;
  for (int i = 0; i < index; ++i) {
    at = text.find('\n', at);
    if (at == std::string_view::npos) return {};
    ++at;
  }
  std::string_view line = text.substr(at, text.find('\n', at) - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool Blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

bool CommentOrBlank(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  return first == std::string_view::npos || line[first] == '#';
}

std::size_t Characters(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// "---" or "..." followed by the end of the line or a blank.
bool IsMarker(std::string_view line, std::string_view marker) {
  return line.starts_with(marker) &&
         (line.size() == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\r');
}

}  // namespace

int Utf8At(std::string_view text, std::size_t at, char32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    code = lead;
    return 1;
  }
  const int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + static_cast<std::size_t>(length) > text.size()) return 0;
  code = lead & (0x7F >> length);
  for (int i = 1; i < length; ++i) {
    if ((byte(static_cast<std::size_t>(i)) & 0xC0) != 0x80) return 0;
    code = (code << 6) | (byte(static_cast<std::size_t>(i)) & 0x3F);
  }
  // Overlong forms, surrogates, past the last code point.
  if ((length == 3 && code < 0x800) || (length == 4 && code < 0x10000) || code > 0x10FFFF ||
      (code >= 0xD800 && code <= 0xDFFF))
    return 0;
  return length;
}

BadBytes FindBadBytes(std::string_view text, int first_line) {
  Place place{first_line, 1};
  for (std::size_t at = 0; at < text.size();) {
    char32_t code = 0;
    const int length = Utf8At(text, at, code);
    if (length == 0) {
      char message[96];
      std::snprintf(message, sizeof message, "invalid UTF-8 (byte 0x%02x); save the file as UTF-8",
                    static_cast<unsigned char>(text[at]));
      return {place, message};
    }
    if (code == '\n') {
      ++place.line;
      place.column = 1;
      ++at;
      continue;
    }
    const bool carriage_return = code == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
    const bool control = (code < 0x20 && code != '\t' && !carriage_return) ||
                         (code >= 0x7F && code <= 0x9F) || code == 0xFFFE || code == 0xFFFF || code == 0xFEFF;
    // Bidirectional overrides and line separators: what a person sees is not what a program reads.
    const bool reorders = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
                          code == 0x2028 || code == 0x2029;
    if (control || reorders) {
      char message[96];
      if (code == 0)
        std::snprintf(message, sizeof message, "a NUL byte; the file is not text, or is damaged");
      else
        std::snprintf(message, sizeof message, "the %s U+%04X is not accepted; remove it",
                      control ? "control character" : "invisible character", static_cast<unsigned>(code));
      return {place, message};
    }
    ++place.column;
    at += static_cast<std::size_t>(length);
  }
  return {};
}

std::vector<Slice> SplitDocuments(std::string_view text, int first_line) {
  std::vector<Slice> slices;
  Slice open{{}, first_line, 0, true, 0};
  std::size_t begin = 0, end = 0;  // of the open slice; end: after its last line that is not blank
  int line = first_line;
  const auto close = [&](std::size_t next_begin, int next_line, int marker_line) {
    open.text = text.substr(begin, end > begin ? end - begin : 0);
    // Text without a "---" before it and without content is no document: a file's head, or what follows
    // "...".
    if (!open.empty || open.marker_line != 0) slices.push_back(open);
    open = Slice{{}, next_line, marker_line, true, 0};
    begin = end = next_begin;
  };
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t newline = text.find('\n', at);
    const std::size_t next = newline == std::string_view::npos ? text.size() : newline + 1;
    const std::string_view row =
        text.substr(at, (newline == std::string_view::npos ? text.size() : newline) - at);
    if (IsMarker(row, "---")) {
      const bool content = !CommentOrBlank(row.substr(3));
      close(content ? at : next, content ? line : line + 1, line);
      if (content) {
        open.empty = false;
        end = next;
      }
    } else if (IsMarker(row, "...")) {
      close(next, line + 1, 0);
    } else {
      // A directive stands before the "---" of its document; elsewhere "%" begins no value either.
      if (open.empty && row.starts_with('%') && open.directive_line == 0) open.directive_line = line;
      if (!CommentOrBlank(row)) open.empty = false;
      if (!Blank(row)) {
        end = next;
      } else if (end == begin) {  // blank lines before a document are none of it
        begin = end = next;
        open.line = line + 1;
      }
    }
    at = next;
  }
  close(text.size(), line, 0);
  return slices;
}

void Problems::Add(Place place, std::string message, int width) {
  if (full()) return;
  if (list_.size() == kMostProblems) {
    list_.push_back(
        {file_, 0, 0, "more problems follow; the first " + std::to_string(kMostProblems) + " are shown", {}});
    return;
  }
  if (starts_.empty()) {
    starts_.push_back(0);
    for (std::size_t at = 0; (at = text_.find('\n', at)) != std::string_view::npos;) starts_.push_back(++at);
  }
  const auto line = [&](std::size_t index) {
    return text_.substr(starts_[index], text_.find('\n', starts_[index]) - starts_[index]);
  };
  const auto last = static_cast<int>(starts_.size()) - 1;
  int index = std::clamp(place.line - first_line_, 0, last);
  if (place.line - first_line_ > last || Blank(line(static_cast<std::size_t>(index)))) {
    // At the end of the text (or of what YAML was reading): show where that ends.
    while (index > 0 && Blank(line(static_cast<std::size_t>(index)))) --index;
    place.column = std::numeric_limits<int>::max();
  }
  // libfyaml counts on behind the end of an empty block scalar.
  const int behind = static_cast<int>(Characters(line(static_cast<std::size_t>(index)))) + 1;
  place.column = std::clamp(place.column, 1, behind);
  place.line = index + first_line_;
  const std::string_view shown = text_.substr(starts_[static_cast<std::size_t>(index)]);
  list_.push_back(
      {file_, place.line, place.column, std::move(message), Excerpt(shown, place.line, place, width)});
}

void Problems::AddForFile(std::string message) { list_.push_back({file_, 0, 0, std::move(message), {}}); }

std::vector<Problem> Problems::Take() {
  std::stable_sort(list_.begin(), list_.end() - (full() ? 1 : 0), [](const Problem& a, const Problem& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
  });
  return std::move(list_);
}

}  // namespace railwright::spec

namespace railwright {

std::string Problem::ToString() const {
  if (file.empty()) return message;
  if (line == 0) return file + ": " + message;
  return file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + message;
}

std::string Excerpt(std::string_view text, int first_line, Place place, int width) {
  if (place.line < first_line || place.column < 1) return {};
  const std::string_view line = spec::Line(text, place.line - first_line);
  // Characters, not bytes; a tab is shown as one blank so that the caret stands right. Only the shown part is
  // kept.
  const auto wanted = static_cast<std::size_t>(place.column - 1);
  const std::size_t from = wanted > spec::kExcerptWidth - 20 ? wanted - (spec::kExcerptWidth - 20) : 0;
  std::string shown;
  std::size_t count = 0;
  bool more = false;
  for (std::size_t at = 0; at < line.size() && !more;) {
    char32_t code = 0;
    const int length = spec::Utf8At(line, at, code);
    const std::size_t bytes = static_cast<std::size_t>(std::max(length, 1));
    if (count >= from + spec::kExcerptWidth) {
      more = true;
    } else if (count++ >= from) {
      const bool plain = length > 0 && code >= 0x20 && code != 0x7F;
      shown += plain ? line.substr(at, bytes) : std::string_view(code == '\t' && length == 1 ? " " : "?");
    }
    at += bytes;
  }
  const std::size_t caret = std::max(std::min(wanted, count), from);
  const std::string number = std::to_string(place.line);
  std::string out = "  " + number + " | ";
  std::string below = "  " + std::string(number.size(), ' ') + " | ";
  if (from > 0) {
    out += "…";
    below += ' ';
  }
  out += shown + (more ? "…" : "");
  below += std::string(caret - from, ' ') + '^';
  const std::size_t room = count > caret ? count - caret : 1;
  below += std::string(std::min(static_cast<std::size_t>(std::max(width, 1)), room) - 1, '~');
  return out + "\n" + below;
}

}  // namespace railwright
