#include "core/decode/ufw_status.h"

#include <algorithm>

#include "core/decode/values.h"

namespace railwright {
namespace {

std::optional<UfwRule::Action> ActionOf(std::string_view word) {
  if (word == "ALLOW") return UfwRule::Action::kAllow;
  if (word == "DENY") return UfwRule::Action::kDeny;
  if (word == "REJECT") return UfwRule::Action::kReject;
  if (word == "LIMIT") return UfwRule::Action::kLimit;
  return std::nullopt;
}

// "22", "80,443", "1,2,100:200"; false when it is something else.
bool ReadPorts(std::string_view text, std::vector<UfwEnd::Ports>& ports) {
  std::vector<UfwEnd::Ports> read;
  for (const std::string_view one : Words(text, ",")) {
    const auto colon = one.find(':');
    const auto first = ParseWhole(one.substr(0, colon), 0, 65535);
    const auto last = colon == std::string_view::npos ? first : ParseWhole(one.substr(colon + 1), 0, 65535);
    if (!first.ok() || !last.ok() || *last < *first) return false;
    read.push_back({static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)});
  }
  if (read.empty()) return false;
  ports = std::move(read);
  return true;
}

bool IsAddress(std::string_view word) {
  const std::string_view address = word.substr(0, word.find('/'));
  const bool dotted = std::count(address.begin(), address.end(), '.') == 3 &&
                      address.find_first_not_of("0123456789.") == std::string_view::npos;
  const bool colons = std::count(address.begin(), address.end(), ':') >= 2 &&
                      address.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  return dotted || colons;
}

// "10.10.10.10 8080 on enp34s0", "22/tcp (v6)", "10.0.0.1/esp", "Apache Full", "Anywhere (v6) on eth0".
UfwEnd ReadEnd(const std::vector<std::string_view>& words, bool& ipv6) {
  UfwEnd end;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "(v6)") {
      ipv6 = true;
    } else if (word == "on" && i + 1 < words.size()) {
      end.interface = words[++i];
    } else if (word == "Anywhere") {
      continue;
    } else if (IsAddress(word)) {
      // A prefix length, a protocol, or both: "10.4.0.0/16/esp".
      const auto parts = Words(word, "/");
      end.address = parts[0];
      for (std::size_t part = 1; part < parts.size(); ++part) {
        if (ParseWhole(parts[part], 0, 128).ok())
          end.address += "/" + std::string(parts[part]);
        else
          end.protocol = parts[part];
      }
      ipv6 = ipv6 || parts[0].find(':') != std::string_view::npos;
    } else {
      const auto slash = word.find('/');
      if (ReadPorts(word.substr(0, slash), end.ports)) {
        if (slash != std::string_view::npos) end.protocol = word.substr(slash + 1);
      } else if (word.starts_with("Anywhere/")) {
        end.protocol = word.substr(slash + 1);
      } else {
        end.application += (end.application.empty() ? "" : " ") + std::string(word);
      }
    }
  }
  return end;
}

// "Default: deny (incoming), allow (outgoing), disabled (routed)"
void ReadDefaults(std::string_view line, UfwStatus& status) {
  for (const std::string_view part : Words(line, ",")) {
    const auto words = Words(part);
    if (words.size() != 2) continue;
    if (words[1] == "(incoming)") status.default_in = words[0];
    if (words[1] == "(outgoing)") status.default_out = words[0];
    if (words[1] == "(routed)") status.default_routed = words[0];
  }
}

}  // namespace

Result<UfwStatus> DecodeUfwStatus(std::string_view text) {
  UfwStatus status;
  bool known = false, rules = false;
  int number = 0;
  for (std::string_view line : Lines(text)) {
    ++number;
    line = Trimmed(line);
    if (line.starts_with("Status:")) {
      status.active = Trimmed(line.substr(7)) == "active";
      known = true;
    } else if (line.starts_with("Default:")) {
      ReadDefaults(line.substr(8), status);
    } else if (line.starts_with("--")) {
      rules = true;
    } else if (rules && !line.empty()) {
      UfwRule rule;
      rule.line = number;
      rule.text = line;
      const std::string_view bare = Trimmed(line.substr(0, line.find('#')));
      auto words = Words(bare);
      const auto action =
          std::find_if(words.begin(), words.end(), [](std::string_view one) { return ActionOf(one); });
      if (action == words.end() || action == words.begin())
        return Status(Code::kInvalidArgument, "ufw status line " + std::to_string(number) +
                                                  ": no ALLOW, DENY, REJECT or LIMIT in " + Quoted(line));
      rule.action = *ActionOf(*action);
      auto from = action + 1;
      if (from != words.end() && (*from == "IN" || *from == "OUT" || *from == "FWD")) {
        rule.direction = *from == "IN"    ? UfwRule::Direction::kIn
                         : *from == "OUT" ? UfwRule::Direction::kOut
                                          : UfwRule::Direction::kForward;
        ++from;
      }
      rule.to = ReadEnd({words.begin(), action}, rule.ipv6);
      rule.from = ReadEnd({from, words.end()}, rule.ipv6);
      status.rules.push_back(std::move(rule));
    }
  }
  if (!known) return Status(Code::kInvalidArgument, "ufw status: no \"Status:\" line");
  return status;
}

}  // namespace railwright
