#include "agent/gate/body.h"

#include <algorithm>
#include <utility>

#include "agent/gate/shape.h"
#include "railwright/utf8.h"

namespace railwright::gate {
namespace {

constexpr std::size_t kLongestHost = 64;  // INET6_ADDRSTRLEN is 46; a scope may follow
constexpr std::size_t kLongestText = 1024;

// Far above what a controller sends, far below what would fill memory: a field becomes some 100 bytes. A node
// has some hundred settings, each of ten fields.
constexpr std::size_t kFewFields = 256;
constexpr std::size_t kPauseFields = 65'536;
constexpr std::size_t kStateFields = 262'144;

constexpr std::size_t kMostPeers = 16;
constexpr std::size_t kLongestNetdev = 15;   // IFNAMSIZ, less its NUL
constexpr std::size_t kLongestAddress = 45;  // INET6_ADDRSTRLEN, less its NUL
constexpr std::size_t kLongestObstacle = 512;

// The first line, then one for each of at most 16 addresses.
std::string Lines(std::string text, const std::vector<std::string>& addresses) {
  for (std::size_t i = 0; i < std::min(addresses.size(), kMostPeers); ++i)
    text += "\n" + addresses[i].substr(0, kLongestAddress);
  return text;
}

template <class Body>
Frame With(FrameKind kind, const Body& body, std::uint64_t connection) {
  return {kind, connection, body.SerializeAsString()};
}

Status In(const Frame& frame, const Status& status) {
  return status.Within("a " + std::string(Name(frame.kind)));
}

Status Bad(const Frame& frame, const std::string& what) {
  return In(frame, Status(Code::kInvalidArgument, what));
}

template <class Body>
Result<Body> Parse(const Frame& frame, std::string_view bytes, std::size_t fields) {
  if (Status status = CheckShape(bytes, *Body::descriptor(), {.fields = fields}); !status.ok())
    return In(frame, status);
  Body body;
  if (!body.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Bad(frame, "bytes that do not parse");
  return body;
}

// Of a dry run, which nobody has signed: both parts are parsed by the loop. Bytes that are no message at all
// stay its to refuse: it has a sentence for that, and the controller hears it.
Status CheckState(const Frame& frame, const v1::DesiredState& state) {
  const auto check = [&](const std::string& bytes, const google::protobuf::Descriptor& type) {
    const Status status = CheckShape(bytes, type, {.fields = kStateFields});
    return status.code() == Code::kResourceExhausted ? In(frame, status) : Ok();
  };
  RW_RETURN_IF_ERROR(check(state.group(), *v1::GroupPayload::descriptor()));
  return check(state.overlay(), *v1::NodeOverlay::descriptor());
}

template <class Body>
Result<FromController> From(const Frame& frame, std::string_view bytes, std::size_t fields) {
  auto body = Parse<Body>(frame, bytes, fields);
  if (!body.ok()) return body.status();
  return FromController{std::move(*body), frame.connection};
}

Result<FromController> ReadWelcome(const Frame& frame) {
  const std::string_view body = frame.body;
  const std::size_t length = body.empty() ? 0 : static_cast<unsigned char>(body[0]);
  if (body.size() < 1 + length || length > kLongestHost) return Bad(frame, "no host");
  const std::string_view host = body.substr(1, length);
  constexpr std::string_view kAllowed = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:.%-_";
  if (host.find_first_not_of(kAllowed) != std::string_view::npos)
    return Bad(frame, "a host that is no address");
  auto welcome = From<v1::Welcome>(frame, body.substr(1 + length), kFewFields);
  if (welcome.ok()) welcome->host = host;
  return welcome;
}

template <class Body>
Result<ToController> To(const Frame& frame) {
  Body body;
  if (!body.ParseFromString(frame.body)) return Bad(frame, "bytes that do not parse");
  return ToController{std::move(body), frame.connection};
}

// What Lines has made: the first line and the addresses.
Result<std::pair<std::string, std::vector<std::string>>> ReadLines(const Frame& frame) {
  std::string_view left = frame.body;
  const auto take = [&left] {
    const std::string line(left.substr(0, left.find('\n')));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    return line;
  };
  std::pair<std::string, std::vector<std::string>> lines;
  lines.first = take();
  while (!left.empty()) {
    std::string address = take();
    if (lines.second.size() == kMostPeers) return Bad(frame, "more than 16 addresses");
    if (address.empty() || address.size() > kLongestAddress ||
        address.find_first_not_of("0123456789abcdefABCDEF.:") != std::string::npos)
      return Bad(frame, "what is no address");
    lines.second.push_back(std::move(address));
  }
  return lines;
}

}  // namespace

Frame AskPeersFrame(std::uint64_t question, const PeerQuestion& peers) {
  return {FrameKind::kAskPeers, question, Lines(peers.netdev.substr(0, kLongestNetdev), peers.addresses)};
}

Result<PeerQuestion> ReadAskPeers(const Frame& frame) {
  RW_ASSIGN_OR_RETURN(auto lines, ReadLines(frame));
  if (lines.first.empty() || lines.first.size() > kLongestNetdev) return Bad(frame, "no interface");
  return PeerQuestion{std::move(lines.first), std::move(lines.second)};
}

Frame HeardFrame(std::uint64_t question, const PeerAnswer& answer) {
  return {FrameKind::kHeard, question, Lines(Brief(answer.obstacle, kLongestObstacle), answer.answered)};
}

Result<PeerAnswer> ReadHeard(const Frame& frame) {
  RW_ASSIGN_OR_RETURN(auto lines, ReadLines(frame));
  return PeerAnswer{Brief(lines.first, kLongestObstacle), std::move(lines.second)};
}

Frame RedialledFrame(std::uint64_t order, std::uint64_t before) {
  std::string body;
  for (int at = 7; at >= 0; --at) body += static_cast<char>((before >> (8 * at)) & 0xff);
  return {FrameKind::kRedialled, order, std::move(body)};
}

Result<std::uint64_t> ReadRedialled(const Frame& frame) {
  if (frame.body.size() != 8) return Bad(frame, "no number of 8 bytes");
  std::uint64_t before = 0;
  for (const char byte : frame.body) before = before << 8 | static_cast<unsigned char>(byte);
  return before;
}

Frame VersionFrame() {
  std::string body;
  for (int at = 3; at >= 0; --at) body += static_cast<char>((kRevision >> (8 * at)) & 0xff);
  return {FrameKind::kVersion, 0, std::move(body)};
}

Status CheckVersion(const Frame& frame) {
  if (frame.kind != FrameKind::kVersion)
    return Status(Code::kInvalidArgument, "a " + std::string(Name(frame.kind)) + " before the version");
  if (frame == VersionFrame()) return Ok();
  return Status(
      Code::kFailedPrecondition,
      "the two halves of the agent are of different versions; install the package whole, and restart "
      "both");
}

Frame FrameOf(const FromController& message) {
  const std::uint64_t over = message.connection;
  if (const auto* desired = std::get_if<v1::DesiredState>(&message.body))
    return With(FrameKind::kDesired, *desired, over);
  if (const auto* command = std::get_if<v1::Command>(&message.body))
    return With(FrameKind::kCommand, *command, over);
  if (const auto* pauses = std::get_if<v1::PauseList>(&message.body))
    return With(FrameKind::kPauses, *pauses, over);
  if (const auto* ack = std::get_if<v1::ReportAck>(&message.body))
    return With(FrameKind::kReportAck, *ack, over);
  Frame frame = With(FrameKind::kWelcome, std::get<v1::Welcome>(message.body), over);
  const std::string host = message.host.substr(0, kLongestHost);
  frame.body.insert(0, static_cast<char>(host.size()) + host);
  return frame;
}

Frame FrameOf(const ToController& message) {
  const std::uint64_t over = message.connection;
  if (const auto* ack = std::get_if<v1::Ack>(&message.body)) return With(FrameKind::kAck, *ack, over);
  if (const auto* nack = std::get_if<v1::Nack>(&message.body)) return With(FrameKind::kNack, *nack, over);
  if (const auto* report = std::get_if<v1::Report>(&message.body))
    return With(FrameKind::kReport, *report, over);
  if (const auto* beat = std::get_if<v1::Heartbeat>(&message.body))
    return With(FrameKind::kHeartbeat, *beat, over);
  if (const auto* result = std::get_if<v1::CommandResult>(&message.body))
    return With(FrameKind::kResult, *result, over);
  return With(FrameKind::kCatalog, std::get<v1::Catalog>(message.body), over);
}

Result<FromController> ReadFromController(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::kWelcome: return ReadWelcome(frame);
    case FrameKind::kPauses: return From<v1::PauseList>(frame, frame.body, kPauseFields);
    case FrameKind::kReportAck: return From<v1::ReportAck>(frame, frame.body, kFewFields);
    // What is in a state is parsed only after its signature has held, and a controller hears why it did not.
    case FrameKind::kDesired: return From<v1::DesiredState>(frame, frame.body, kFewFields);
    case FrameKind::kCommand: {
      auto command = From<v1::Command>(frame, frame.body, kFewFields);
      if (command.ok()) RW_RETURN_IF_ERROR(CheckState(frame, std::get<v1::Command>(command->body).plan()));
      return command;
    }
    default: return Bad(frame, "no message of the controller");
  }
}

Result<ToController> ReadToController(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::kAck: return To<v1::Ack>(frame);
    case FrameKind::kNack: return To<v1::Nack>(frame);
    case FrameKind::kReport: return To<v1::Report>(frame);
    case FrameKind::kHeartbeat: return To<v1::Heartbeat>(frame);
    case FrameKind::kResult: return To<v1::CommandResult>(frame);
    case FrameKind::kCatalog: return To<v1::Catalog>(frame);
    default: return Bad(frame, "no message to the controller");
  }
}

std::string ReadStateText(const Frame& frame) { return Brief(frame.body, kLongestText); }

}  // namespace railwright::gate
