#include "core/decode/dcb_app.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "core/decode/fields.h"
#include "core/decode/values.h"

namespace railwright {
namespace {

struct Selector {
  std::uint8_t number;
  std::string_view name;
  std::uint16_t greatest;  // protocol
};
constexpr Selector kSelectors[] = {{DcbApp::kEthertype, "ethertype", 0xffff},
                                   {DcbApp::kStream, "stream", 0xffff},
                                   {DcbApp::kDgram, "dgram", 0xffff},
                                   {DcbApp::kAny, "any", 0xffff},
                                   {DcbApp::kDscp, "dscp", 63},
                                   {DcbApp::kPcp, "pcp", 15}};

constexpr std::string_view kForm =
    "SELECTOR PROTOCOL prio 0…7, where SELECTOR is ethertype, stream, dgram, any, dscp or pcp";

Result<std::uint16_t> ParseProtocol(const Selector& selector, std::string_view text) {
  if (text.starts_with("0x") && text.size() > 2 && text.size() <= 6) {
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
    if (error == std::errc() && end == text.data() + text.size() && number <= selector.greatest)
      return number;
  }
  RW_ASSIGN_OR_RETURN(const auto number, ParseWhole(text, 0, selector.greatest));
  return static_cast<std::uint16_t>(number);
}

}  // namespace

Result<DcbApp> DcbApp::FromBytes(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kSize)
    return Status(Code::kInternal,
                  "the kernel's dcb_app has " + std::to_string(bytes.size()) + " bytes, not 4");
  DcbApp app;
  app.selector = bytes[0];
  app.priority = bytes[1];
  std::memcpy(&app.protocol, bytes.data() + 2, sizeof app.protocol);
  return app;
}

std::array<std::uint8_t, DcbApp::kSize> DcbApp::Bytes() const {
  std::array<std::uint8_t, kSize> bytes{selector, priority};
  std::memcpy(bytes.data() + 2, &protocol, sizeof protocol);
  return bytes;
}

std::string DcbApp::Text() const {
  std::string name = std::to_string(selector);
  for (const Selector& known : kSelectors)
    if (known.number == selector) name = known.name;
  std::string value = std::to_string(protocol);
  if (selector == kEthertype) {
    char hexadecimal[8];
    std::snprintf(hexadecimal, sizeof hexadecimal, "0x%04x", protocol);
    value = hexadecimal;
  }
  return name + " " + value + " prio " + std::to_string(priority);
}

Result<DcbApp> DcbApp::Parse(std::string_view line) {
  const auto words = Words(line, " \t");
  const auto refuse = [&](const std::string& why) {
    return Status(Code::kInvalidArgument, Quoted(line) + ": " + why + "; needed: " + std::string(kForm));
  };
  if (words.size() != 4 || words[2] != "prio") return refuse("no entry of an APP table");
  Selector selector{0, {}, 0xffff};
  for (const Selector& known : kSelectors)
    if (known.name == words[0]) selector = known;
  if (selector.number == 0) {
    // One without a name, so that what was read may be written back.
    const auto number = ParseWhole(words[0], 0, 254);
    const auto has_name = [&](const Selector& known) { return number.ok() && known.number == *number; };
    if (!number.ok() || std::any_of(std::begin(kSelectors), std::end(kSelectors), has_name))
      return refuse("no selector " + Quoted(words[0]));
    selector.number = static_cast<std::uint8_t>(*number);
  }
  const auto protocol = ParseProtocol(selector, words[1]);
  if (!protocol.ok()) return refuse(protocol.status().message());
  const auto priority = ParseWhole(words[3], 0, 7);
  if (!priority.ok()) return refuse(priority.status().message());
  return DcbApp{selector.number, *protocol, static_cast<std::uint8_t>(*priority)};
}

std::string AppTableText(const std::vector<DcbApp>& table) {
  std::string lines;
  for (const DcbApp& app : table) lines += app.Text() + "\n";
  return JoinLines(SortedLines(lines));
}

Result<std::vector<DcbApp>> ParseAppTable(std::string_view text) {
  std::vector<DcbApp> table;
  for (const std::string& line : SortedLines(text)) {
    RW_ASSIGN_OR_RETURN(const DcbApp app, DcbApp::Parse(line));
    table.push_back(app);
  }
  std::sort(table.begin(), table.end());
  table.erase(std::unique(table.begin(), table.end()), table.end());
  return table;
}

}  // namespace railwright
