#include "agent/loop/floor_files.h"

#include <charconv>
#include <optional>

#include "core/files/whole_file.h"
#include "core/identity/digest.h"

namespace railwright {

using identity::Floor;

namespace {

constexpr std::string_view kHead = "railwright-floor 1 ";
constexpr std::size_t kMostBytes = 32 * 1024;  // 64 lines of some 160 bytes

Status Damaged(std::string_view why) {
  return Status(Code::kDataLoss, "the floor of generations is damaged: " + std::string(why));
}

}  // namespace

std::string FloorFiles::Text(std::uint64_t write, const Floor& floor) {
  const std::string number = std::to_string(write), body = floor.Text();
  const auto digest = identity::Sha256(number + "\n" + body);
  // Without a digest the file reads as damaged: never as a floor.
  return std::string(kHead) + number + " " + (digest.ok() ? identity::Hex(*digest) : "") + "\n" + body;
}

Result<std::pair<std::uint64_t, Floor>> FloorFiles::Parse(std::string_view text) {
  if (!text.starts_with(kHead)) return Damaged("its first line is another");
  text.remove_prefix(kHead.size());
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return Damaged("it is cut short");
  const std::string_view line = text.substr(0, end), body = text.substr(end + 1);
  std::uint64_t write = 0;
  const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), write);
  if (error != std::errc() || write == 0) return Damaged("its first line has no number");
  RW_ASSIGN_OR_RETURN(auto floor, Floor::Parse(body));
  // One text for one floor: whatever differs in a byte is not what was written.
  if (std::string(kHead) + std::string(text) != Text(write, floor))
    return Damaged("its digest is that of another content");
  return std::pair(write, std::move(floor));
}

Result<Floor> FloorFiles::Read() {
  struct Side {
    std::optional<std::pair<std::uint64_t, Floor>> whole;
    std::string trouble;  // "" = whole or absent
  };
  const auto look = [](const std::string& path) -> Result<Side> {
    const auto text = ReadWhole(path, kMostBytes);
    if (text.status().code() == Code::kNotFound) return Side{};
    if (text.status().code() == Code::kResourceExhausted) return Side{{}, text.status().message()};
    if (!text.ok()) return text.status();  // cannot be read now: nothing is known of it
    auto parsed = Parse(*text);
    if (!parsed.ok()) return Side{{}, path + ": " + parsed.status().message()};
    return Side{std::move(*parsed), {}};
  };
  RW_ASSIGN_OR_RETURN(const Side one, look(first_));
  RW_ASSIGN_OR_RETURN(const Side two, look(second_));
  const std::string reset =
      "; to begin anew from the state that is in force: stop railwright-agent, remove " + first_ + " and " +
      second_ + ", start it";
  if (!one.whole && !two.whole) {
    if (one.trouble.empty() && two.trouble.empty()) return Floor();
    return Status(Code::kDataLoss, one.trouble + (one.trouble.empty() || two.trouble.empty() ? "" : "; ") +
                                       two.trouble + reset);
  }
  if (one.whole && two.whole && one.whole->first == two.whole->first) {
    if (one.whole->second != two.whole->second)
      return Status(Code::kDataLoss, "the floor of generations is damaged: " + first_ + " and " + second_ +
                                         " contradict each other" + reset);
    write_ = one.whole->first;
    return one.whole->second;
  }
  const bool first_counts = one.whole && (!two.whole || one.whole->first > two.whole->first);
  const auto& counts = first_counts ? *one.whole : *two.whole;
  write_ = counts.first;
  // If it cannot be mended now, it will be with the next write; what counts is whole.
  (void)WriteWholeFile(first_counts ? second_ : first_, Text(counts.first, counts.second));
  return counts.second;
}

Status FloorFiles::Write(const Floor& floor) {
  const std::string text = Text(write_ + 1, floor);
  RW_RETURN_IF_ERROR(WriteWholeFile(first_, text));
  ++write_;
  return WriteWholeFile(second_, text);
}

}  // namespace railwright
