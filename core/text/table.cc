#include "core/text/table.h"

#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <cstdlib>

#include "railwright/utf8.h"

namespace railwright {
namespace {

// wcwidth() of C.UTF-8, whatever the process's own locale is. Debian's libc always has C.UTF-8. Loading it
// maps some 350 kB, so it is loaded once, and kept.
class Utf8Locale {
 public:
  Utf8Locale() {
    static const locale_t kLocale = newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
    if (kLocale != locale_t{}) before_ = uselocale(kLocale);
  }
  ~Utf8Locale() {
    if (before_ != locale_t{}) uselocale(before_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t before_{};
};

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::size_t WidthOf(char32_t value) {
  const int width = wcwidth(static_cast<wchar_t>(value));
  return width < 0 ? 1 : static_cast<std::size_t>(width);
}

// The longest beginning of `text` that takes at most `columns`.
std::string_view Beginning(std::string_view text, std::size_t columns) {
  if (IsPlain(text)) return text.substr(0, columns);
  const Utf8Locale locale;
  std::size_t used = 0, bytes = 0;
  while (bytes < text.size()) {
    const CodePoint next = FrontCodePoint(text.substr(bytes));
    const std::size_t width = WidthOf(next.value);
    if (used + width > columns) break;
    used += width;
    bytes += next.bytes;
  }
  return text.substr(0, bytes);
}

std::string Cut(std::string text, std::size_t columns, const Terminal& terminal) {
  if (columns == 0 || DisplayWidth(text) <= columns) return text;
  const std::string_view dots = terminal.utf8 ? "…" : "...";
  const std::size_t dots_width = terminal.utf8 ? 1 : 3;
  if (columns <= dots_width) return std::string(Beginning(text, columns));
  return std::string(Beginning(text, columns - dots_width)) + std::string(dots);
}

const char* Escape(Tone tone) {  // ECMA-48 SGR; the eight basic colours follow the terminal's own theme
  switch (tone) {
    case Tone::kGood: return "\033[32m";
    case Tone::kWarn: return "\033[33m";
    case Tone::kBad: return "\033[31m";
    case Tone::kDim: return "\033[2m";
    case Tone::kStrong: return "\033[1m";
    case Tone::kPlain: break;
  }
  return "";
}

}  // namespace

Terminal Terminal::Of(int fd) {
  const auto environment = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  Terminal terminal;
  const bool is_terminal = isatty(fd) == 1;
  terminal.colour = is_terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  std::string_view locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (locale.empty()) locale = environment(name);
  std::string upper(locale);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  // Into a pipe or file UTF-8 is always right: the reader is a program, or an editor.
  terminal.utf8 =
      !is_terminal || upper.find("UTF-8") != std::string::npos || upper.find("UTF8") != std::string::npos;
  winsize size{};
  if (is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0) terminal.width = size.ws_col;
  return terminal;
}

std::size_t DisplayWidth(std::string_view text) {
  if (IsPlain(text)) return text.size();
  const Utf8Locale locale;
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint next = FrontCodePoint(text);
    width += WidthOf(next.value);
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string Printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint next = FrontCodePoint(text);
    if (!next.valid) {
      out += "\xef\xbf\xbd";  // U+FFFD
    } else if (next.value == '\n') {
      out += "\\n";
    } else if (next.value == '\t') {
      out += "\\t";
    } else if (next.value < 0x20 || (next.value >= 0x7f && next.value < 0xa0)) {  // C0, DEL, C1
      out += "\\x";
      out += kDigits[next.value >> 4];
      out += kDigits[next.value & 15];
    } else if (next.value >= 0x202a && next.value <= 0x202e) {  // bidirectional overrides reorder a line
      out += "\xef\xbf\xbd";
    } else {
      out += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return out;
}

std::string Coloured(std::string_view text, Tone tone, const Terminal& terminal) {
  if (!terminal.colour || tone == Tone::kPlain || text.empty()) return std::string(text);
  return Escape(tone) + std::string(text) + "\033[0m";
}

std::string Table::Render(const Terminal& terminal, bool headers) const {
  if (rows_.empty()) return {};
  constexpr std::size_t kGap = 2;
  std::vector<std::vector<Cell>> lines;
  if (headers) {
    std::vector<Cell> head;
    for (const Column& column : columns_) head.emplace_back(column.header, Tone::kDim);
    lines.push_back(std::move(head));
  }
  lines.insert(lines.end(), rows_.begin(), rows_.end());

  std::vector<std::size_t> widths(columns_.size(), 0);
  for (std::vector<Cell>& line : lines) {
    line.resize(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      line[i].text = Cut(Printable(line[i].text), columns_[i].max_width, terminal);
      widths[i] = std::max(widths[i], DisplayWidth(line[i].text));
    }
  }
  // What is left for the last column on this terminal; at least ten, or cutting would leave nothing to read.
  std::size_t last_width = 0;
  if (terminal.width > 0 && !columns_.empty()) {
    std::size_t before = 0;
    for (std::size_t i = 0; i + 1 < columns_.size(); ++i) before += widths[i] + kGap;
    last_width = std::max<std::size_t>(10, terminal.width > before ? terminal.width - before : 0);
  }

  std::string out;
  for (const std::vector<Cell>& line : lines) {
    std::string pending;  // blanks are written only before something visible
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool last = i + 1 == columns_.size();
      const std::string text = last ? Cut(line[i].text, last_width, terminal) : line[i].text;
      const std::size_t width = DisplayWidth(text);
      const std::size_t padding = width < widths[i] ? widths[i] - width : 0;
      if (columns_[i].right) pending.append(padding, ' ');
      if (!text.empty()) {
        out += pending;
        pending.clear();
        out += Coloured(text, line[i].tone, terminal);
      }
      if (!columns_[i].right) pending.append(padding, ' ');
      pending.append(kGap, ' ');
    }
    out += '\n';
  }
  return out;
}

Cell VerdictCell(Verdict verdict, const Terminal& terminal) {
  const auto cell = [&](const char* glyph, const char* ascii, Tone tone) {
    return Cell(std::string(terminal.utf8 ? glyph : ascii) + " " + std::string(Name(verdict)), tone);
  };
  switch (verdict) {
    case Verdict::kCompliant: return cell("✓", "+", Tone::kGood);
    case Verdict::kDrifted: return cell("✗", "x", Tone::kBad);
    case Verdict::kPending: return cell("…", "~", Tone::kWarn);
    case Verdict::kNotApplicable: return cell("-", "-", Tone::kDim);
    case Verdict::kUnknown: break;
  }
  return cell("?", "?", Tone::kWarn);
}

}  // namespace railwright
