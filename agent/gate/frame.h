// Frame: what travels between the two halves of the agent: a kind, a number, bytes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "railwright/result.h"

namespace railwright::gate {

/// Revision of this protocol. The halves are installed together: another one is refused, never adapted to.
inline constexpr std::uint32_t kRevision = 2;

/// One for each kind of FromController and ToController, and the gate's own. Numbers are never
/// reused.
enum class FrameKind : std::uint8_t {
  kVersion = 1,  ///< the first frame of both sides: kRevision, 4 bytes, most significant first
  // From the front.
  kWelcome = 16,    ///< length of the host in one byte, the host, v1.Welcome
  kDesired = 17,    ///< v1.DesiredState
  kCommand = 18,    ///< v1.Command
  kPauses = 19,     ///< v1.PauseList
  kReportAck = 20,  ///< v1.ReportAck
  kStateText = 21,  ///< what the session says of itself
  kAskHello = 22,   ///< empty; `connection` is the number of the question
  kRedialled = 23,  ///< the session's last connection before, 8 bytes; `connection` is that of the kRedial
  kHeard = 24,      ///< who has answered; `connection` is that of the kAskPeers
  // From the privileged half.
  kHello = 32,      ///< v1.Hello; `connection` is the number of the question, 0: unasked
  kAck = 33,        ///< v1.Ack
  kNack = 34,       ///< v1.Nack
  kReport = 35,     ///< v1.Report
  kHeartbeat = 36,  ///< v1.Heartbeat
  kResult = 37,     ///< v1.CommandResult
  kCatalog = 38,    ///< v1.Catalog
  kRedial = 39,     ///< empty; `connection` is the number of the order
  kAskPeers = 40,   ///< whom to ask through which interface; `connection` is the number of the question
};

struct Frame {
  FrameKind kind = FrameKind::kVersion;
  std::uint64_t connection = 0;  ///< of the session, from 1; 0 where none is meant
  std::string body;

  friend bool operator==(const Frame&, const Frame&) = default;
};

/// Who sends.
enum class Side : std::uint8_t { kFront, kPrivileged };

/// "desired", "report ack" … for sentences.
std::string_view Name(FrameKind kind);

/// Most bytes that a body of this kind may have, 0 when `sender` may not send it. What a controller sends is
/// at most 4 MiB (Session's limit), and so is all that the front may say in one frame.
std::size_t MostBytes(FrameKind kind, Side sender);

/// On the wire, most significant byte first: body length (4), kind (1), three zero bytes, connection (8),
/// body.
inline constexpr std::size_t kFrameHeader = 16;
std::string Encode(const Frame& frame);

/// Takes a stream of bytes apart. Holds one frame at most, and of that only what has come.
class FrameReader {
 public:
  explicit FrameReader(Side sender) : sender_(sender) {}
  /// Calls `take` for each frame that is now whole. InvalidArgument when the bytes are no frames or a frame
  /// is too large, or what `take` returned; nothing more can be read then.
  Status Feed(std::string_view bytes, const std::function<Status(Frame)>& take);
  /// A frame has begun and is not whole.
  bool within() const { return !header_.empty(); }

 private:
  const Side sender_;
  std::string header_;
  Frame frame_;             // once the header is whole
  std::size_t wanted_ = 0;  // of its body
};

}  // namespace railwright::gate
