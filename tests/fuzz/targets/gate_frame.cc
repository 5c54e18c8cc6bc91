// What the half of the agent that talks to the network may write to the privileged one. The first byte tells
// how the rest is cut, and, by its highest bit, whether a frame around it is made right first.
#include <vector>

#include "agent/gate/body.h"
#include "agent/gate/frame.h"
#include "tests/fuzz/fuzz.h"

using namespace railwright;
using namespace railwright::gate;

namespace {

void CheckFrame(const Frame& frame) {
  ALWAYS(frame.body.size() <= MostBytes(frame.kind, Side::kFront), frame.body);
  const std::string text = ReadStateText(frame);
  ALWAYS(text.size() <= 1024, text);
  const auto message = ReadFromController(frame);
  if (!message.ok()) {
    ALWAYS(!message.status().message().empty(), frame.body);
    return;
  }
  ALWAYS(message->connection == frame.connection, frame.body);
  ALWAYS(message->host.size() <= 64, message->host);
  // What was taken once is taken again in our own bytes, and is the same message then.
  const Frame own = FrameOf(*message);
  const auto again = ReadFromController(own);
  ALWAYS(own.kind == frame.kind && again.ok(), frame.body, own.body);
  ALWAYS(FrameOf(*again) == own, frame.body, own.body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned how = input.Byte();
  std::string bytes(input.Rest());
  if ((how & 0x80) != 0 && !bytes.empty()) {
    const auto kind = static_cast<FrameKind>(bytes[0]);
    if (bytes.size() - 1 > MostBytes(kind, Side::kFront)) return 0;
    bytes = Encode({kind, 1, bytes.substr(1)});
  }
  std::vector<Frame> whole, pieces;
  FrameReader at_once(Side::kFront), in_pieces(Side::kFront);
  const Status one = at_once.Feed(bytes, [&whole](Frame frame) {
    whole.push_back(std::move(frame));
    return Ok();
  });
  const std::size_t piece = (how & 0x7f) + 1;
  Status other;
  for (std::size_t at = 0; at < bytes.size() && other.ok(); at += piece)
    other = in_pieces.Feed(std::string_view(bytes).substr(at, piece), [&pieces](Frame frame) {
      pieces.push_back(std::move(frame));
      return Ok();
    });
  ALWAYS(one == other && whole == pieces, one.message(), other.message());
  for (const Frame& frame : whole) CheckFrame(frame);
  return 0;
}
