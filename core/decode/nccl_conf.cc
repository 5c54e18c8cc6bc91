#include "core/decode/nccl_conf.h"

#include <algorithm>
#include <array>

#include "core/decode/values.h"

namespace railwright {
namespace {

// A line of the file with its "\n", and the name that NCCL reads in it.
struct Line {
  std::string_view whole;
  std::string_view name;  ///< "" for comments and lines without "="
  std::string_view value;
};

std::vector<Line> ReadLines(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    Line line;
    line.whole = text.substr(0, std::min(text.find('\n') + 1, text.size()));
    if (text.find('\n') == std::string_view::npos) line.whole = text;
    text.remove_prefix(line.whole.size());
    std::string_view body = line.whole;
    if (body.ends_with('\n')) body.remove_suffix(1);
    if (const auto equals = body.find('='); equals != std::string_view::npos && !body.starts_with('#')) {
      line.name = body.substr(0, equals);
      line.value = body.substr(equals + 1);
    }
    lines.push_back(line);
  }
  return lines;
}

struct Range {
  std::string_view name;
  std::uint64_t min;
  std::uint64_t max;
};
// NCCL user guide, "Environment Variables", and the InfiniBand fields behind them (4-bit SL, 5-bit timeout,
// 3-bit retry count, 8-bit traffic class).
constexpr std::array kRanges{
    Range{"NCCL_IB_DISABLE", 0, 1},
    Range{"NCCL_IB_RETRY_CNT", 0, 7},
    Range{"NCCL_IB_SL", 0, 15},
    Range{"NCCL_IB_TC", 0, 255},
    Range{"NCCL_IB_TIMEOUT", 1, 31},
    Range{"NCCL_NET_GDR_READ", 0, 1},
    Range{"NCCL_P2P_DISABLE", 0, 1},
    Range{"NCCL_SHM_DISABLE", 0, 1},
    Range{"NCCL_IB_QPS_PER_CONNECTION", 1, 128},
};
constexpr std::array<std::string_view, 5> kDebugLevels{"VERSION", "WARN", "INFO", "TRACE", "ABORT"};

}  // namespace

NcclVariable FindNcclVariable(std::string_view text, std::string_view name) {
  NcclVariable variable;
  int number = 0;
  for (const Line& line : ReadLines(text)) {
    ++number;
    if (line.name == name) {
      if (variable.found) {
        variable.repeated.push_back(number);
      } else {
        variable.found = true;
        variable.line = number;
        variable.value = line.value;
      }
    } else if (Trimmed(line.name) == name) {
      variable.unread.push_back(number);
    }
  }
  return variable;
}

std::string WithNcclVariable(std::string_view text, std::string_view name, std::string_view value) {
  const std::string ours = std::string(name) + "=" + std::string(value) + "\n";
  std::string out;
  bool written = false;
  for (const Line& line : ReadLines(text)) {
    if (line.name != name) {
      out += line.whole;
    } else if (!written) {
      out += ours;
      written = true;
    }
  }
  if (written) return out;
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  return out + ours;
}

std::string WithoutNcclVariable(std::string_view text, std::string_view name) {
  std::string out;
  for (const Line& line : ReadLines(text))
    if (line.name != name) out += line.whole;
  return out;
}

bool IsNcclName(std::string_view name) {
  constexpr std::string_view kPrefix = "NCCL_";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() && name.size() <= 200 &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
}

Result<std::string> CanonicalNcclValue(std::string_view name, std::string_view value) {
  constexpr std::size_t kBuffer = 1023;
  value = Trimmed(value);
  const auto refuse = [&](std::string_view why) {
    return Status(Code::kInvalidArgument, std::string(name) + ": " + Quoted(value) + " " + std::string(why));
  };
  if (value.empty()) return refuse("is empty; allowed: 1…1023 printable characters");
  if (value.size() > kBuffer) return refuse("is longer than the 1023 bytes that NCCL reads");
  if (std::any_of(value.begin(), value.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
      }))
    return refuse("holds a line break or control character");
  for (const Range& range : kRanges) {
    if (range.name != name) continue;
    auto number = ParseWhole(value, range.min, range.max);
    if (!number.ok()) return number.status().Within(name);
    return std::to_string(*number);
  }
  if (name == "NCCL_DEBUG" &&
      std::find(kDebugLevels.begin(), kDebugLevels.end(), value) == kDebugLevels.end())
    return refuse("is no level; allowed: VERSION, WARN, INFO, TRACE, ABORT");
  return std::string(value);
}

}  // namespace railwright
