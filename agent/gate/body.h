// What is in a frame: messages into frames, and frames that another process wrote into messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/gate/frame.h"
#include "agent/gate/messages.h"
#include "railwright/result.h"

namespace railwright::gate {

Frame FrameOf(const FromController& message);
Frame FrameOf(const ToController& message);
Frame VersionFrame();

/// Ok when it is the version frame of this revision; FailedPrecondition tells the other's.
Status CheckVersion(const Frame& frame);

/// What the front says that the controller said. InvalidArgument, with the kind and the reason, when the
/// frame is of another kind or its message has more fields or levels than such a message can have; the states
/// that it carries as bytes are measured too, since the loop parses them.
Result<FromController> ReadFromController(const Frame& frame);

/// What the privileged half says to the controller.
Result<ToController> ReadToController(const Frame& frame);

/// The answer of the front to a kRedial: `before` is its session's last connection before.
Frame RedialledFrame(std::uint64_t order, std::uint64_t before);
Result<std::uint64_t> ReadRedialled(const Frame& frame);

/// A question to neighbours on a rail, and what came of it. One line each on the wire.
struct PeerQuestion {
  std::string netdev;
  std::vector<std::string> addresses;  ///< the first 16 are asked
};
struct PeerAnswer {
  std::string obstacle;               ///< why none can be asked, as one line; empty: they were
  std::vector<std::string> answered;  ///< at most 16
};
Frame AskPeersFrame(std::uint64_t question, const PeerQuestion& peers);
Result<PeerQuestion> ReadAskPeers(const Frame& frame);
Frame HeardFrame(std::uint64_t question, const PeerAnswer& answer);
Result<PeerAnswer> ReadHeard(const Frame& frame);

/// A text of the front as it may be shown: one line, at most 1 KiB.
std::string ReadStateText(const Frame& frame);

}  // namespace railwright::gate
