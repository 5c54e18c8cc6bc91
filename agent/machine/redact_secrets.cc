#include <algorithm>
#include <cctype>

#include "agent/machine/redact.h"

namespace railwright::machine {
namespace {

bool IsKeyChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

/// Whether what stands behind this name is secret: password, token, *_key …
bool IsSecretKey(std::string_view key) {
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (std::string_view word : {"password", "passwd", "passphrase", "secret", "token", "credential", "apikey",
                                "privatekey", "community"})
    if (lower.find(word) != std::string::npos) return true;
  const std::string_view last = std::string_view(lower).substr(lower.find_last_of("_-.") + 1);
  return last == "key" || last == "psk" || last == "auth" || last == "pass";
}

/// The end of a value that begins at `at`: its closing quote, or a blank, or with `to_line_end` the line's
/// end.
std::size_t ValueEnd(std::string_view text, std::size_t at, bool to_line_end) {
  return std::min(text.find_first_of(to_line_end ? "\r\n" : " \t\r\n;,&\"'}])", at), text.size());
}

}  // namespace

/// `name = value`, `name: value`, `"name": "value"`; with `lines` a value that begins a line's only
/// assignment runs to the end of the line, as in INI files; without, to the next blank, as on the kernel's
/// command line.
std::string Redactor::WithoutSecrets(std::string_view text, bool lines) {
  std::string result;
  std::size_t at = 0;
  bool line_start = true;
  auto copy_to = [&](std::size_t end) {
    result += text.substr(at, end - at);
    at = end;
  };
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("-----BEGIN ") &&
        rest.substr(0, rest.find('\n')).find("PRIVATE KEY") != std::string_view::npos) {
      copy_to(at + std::min(rest.find('\n'), rest.size()));
      result += "\nREDACTED\n";
      at = std::min(text.find("-----END", at), text.size());
      continue;
    }
    if (rest.starts_with("://")) {  // user:password@host
      copy_to(at + 3);
      const std::size_t end = std::min(text.find_first_of("/ \t\r\n\"'", at), text.size());
      const std::size_t user = text.substr(at, end - at).rfind('@');
      if (user != std::string_view::npos) {
        result += "REDACTED";
        at += user;
      }
      continue;
    }
    if (!IsKeyChar(text[at]) || (at > 0 && IsKeyChar(text[at - 1]))) {
      line_start =
          text[at] == '\n' || (line_start && (text[at] == ' ' || text[at] == '\t' || text[at] == '"'));
      copy_to(at + 1);
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && IsKeyChar(text[end])) ++end;
    const std::string_view key = text.substr(at, end - at);
    std::size_t value = end;
    if (value < text.size() && (text[value] == '"' || text[value] == '\'')) ++value;
    value = std::min(text.find_first_not_of(" \t", value), text.size());
    const bool first = line_start;
    line_start = false;
    if (!IsSecretKey(key) || value >= text.size() || (text[value] != '=' && text[value] != ':')) {
      copy_to(end);
      continue;
    }
    value = std::min(text.find_first_not_of(" \t", value + 1), text.size());
    const bool quoted = value < text.size() && (text[value] == '"' || text[value] == '\'');
    std::size_t value_end = 0;
    if (quoted) {
      value_end = std::min(text.find(text[value], value + 1), text.size());
      ++value;
    } else {
      value_end = ValueEnd(text, value, lines && first);
    }
    copy_to(value);
    if (value_end > value)
      result += Replacement(secrets_, text.substr(value, value_end - value), "REDACTED-");
    at = value_end;
  }
  return result;
}

}  // namespace railwright::machine
