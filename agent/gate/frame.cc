#include "agent/gate/frame.h"

#include <algorithm>
#include <utility>

namespace railwright::gate {
namespace {

struct About {
  FrameKind kind;
  std::string_view name;
  std::size_t from_front, from_privileged;  // most bytes
};

constexpr std::size_t kKib = 1024, kMib = 1024 * kKib;

// A Welcome holds a few words for each missing feature; a report of thousands of findings is below 2 MiB, and
// a survey shows every value whole.
constexpr About kKinds[] = {
    {FrameKind::kVersion, "version", 4, 4},
    {FrameKind::kWelcome, "welcome", 64 * kKib, 0},
    {FrameKind::kDesired, "desired", 4 * kMib, 0},
    {FrameKind::kCommand, "command", 4 * kMib, 0},
    {FrameKind::kPauses, "pauses", kMib, 0},
    {FrameKind::kReportAck, "report ack", 4 * kKib, 0},
    {FrameKind::kStateText, "state text", 4 * kKib, 0},
    // One byte that is never sent: 0 would mean that it is not to be sent at all.
    {FrameKind::kAskHello, "question for a hello", 1, 0},
    {FrameKind::kRedialled, "answer to a redial", 8, 0},
    {FrameKind::kHeard, "list of neighbours that answered", 2 * kKib, 0},
    {FrameKind::kHello, "hello", 0, 64 * kKib},
    {FrameKind::kAck, "ack", 0, 4 * kKib},
    {FrameKind::kNack, "nack", 0, 64 * kKib},
    {FrameKind::kReport, "report", 0, 16 * kMib},
    {FrameKind::kHeartbeat, "heartbeat", 0, kKib},
    {FrameKind::kResult, "command result", 0, 16 * kMib},
    {FrameKind::kCatalog, "catalog", 0, 4 * kMib},
    {FrameKind::kRedial, "redial", 0, 1},
    {FrameKind::kAskPeers, "question to neighbours", 0, 2 * kKib},
};

const About* Find(FrameKind kind) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [kind](const About& about) { return about.kind == kind; });
  return found == std::end(kKinds) ? nullptr : found;
}

void Append(std::string& to, std::uint64_t number, int bytes) {
  for (int at = bytes - 1; at >= 0; --at) to += static_cast<char>((number >> (8 * at)) & 0xff);
}

std::uint64_t Number(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

Status Bad(const std::string& what) { return Status(Code::kInvalidArgument, what); }

}  // namespace

std::string_view Name(FrameKind kind) {
  const About* about = Find(kind);
  return about == nullptr ? "unknown" : about->name;
}

std::size_t MostBytes(FrameKind kind, Side sender) {
  const About* about = Find(kind);
  if (about == nullptr) return 0;
  return sender == Side::kFront ? about->from_front : about->from_privileged;
}

std::string Encode(const Frame& frame) {
  std::string bytes;
  bytes.reserve(kFrameHeader + frame.body.size());
  Append(bytes, frame.body.size(), 4);
  bytes += static_cast<char>(frame.kind);
  bytes.append(3, '\0');
  Append(bytes, frame.connection, 8);
  return bytes + frame.body;
}

Status FrameReader::Feed(std::string_view bytes, const std::function<Status(Frame)>& take) {
  while (true) {
    if (header_.size() < kFrameHeader) {
      const std::size_t part = std::min(bytes.size(), kFrameHeader - header_.size());
      header_ += bytes.substr(0, part);
      bytes.remove_prefix(part);
      if (header_.size() < kFrameHeader) return Ok();
      const std::string_view header = header_;
      const auto kind = static_cast<FrameKind>(header[4]);
      const std::size_t most = MostBytes(kind, sender_);
      wanted_ = Number(header.substr(0, 4));
      if (most == 0)
        return Bad("a frame of kind " + std::to_string(static_cast<unsigned>(kind)) + ", which may not come");
      if (Number(header.substr(5, 3)) != 0) return Bad("a frame whose reserved bytes are not zero");
      if (wanted_ > most)
        return Bad("a " + std::string(Name(kind)) + " of " + std::to_string(wanted_) + " bytes; " +
                   std::to_string(most) + " are the most");
      frame_ = {kind, Number(header.substr(8, 8)), {}};
    }
    const std::size_t part = std::min(bytes.size(), wanted_ - frame_.body.size());
    frame_.body += bytes.substr(0, part);
    bytes.remove_prefix(part);
    if (frame_.body.size() < wanted_) return Ok();
    header_.clear();
    RW_RETURN_IF_ERROR(take(std::exchange(frame_, {})));
  }
}

}  // namespace railwright::gate
