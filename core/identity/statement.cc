#include "core/identity/statement.h"

#include <algorithm>

#include "core/identity/byte_order.h"

namespace railwright::identity {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kNode = 1, kGroup = 2;
// The last whole second that the clock holds (year 2262).
constexpr std::uint64_t kLastSecond = static_cast<std::uint64_t>(
    std::chrono::floor<std::chrono::seconds>(Time::max().time_since_epoch()).count());

Status Bad(const std::string& why) { return Status(Code::kInvalidArgument, "a statement: " + why); }

bool IsWholeSecond(Time at) { return at >= Time() && std::chrono::floor<std::chrono::seconds>(at) == at; }

std::uint64_t Seconds(Time at) {
  return static_cast<std::uint64_t>(std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count());
}

Status Check(const Statement& one) {
  if (one.schema == 0) return Bad("schema 0");
  if (one.generation == 0) return Bad("generation 0");
  if (!IsWholeSecond(one.not_before) || !IsWholeSecond(one.not_after))
    return Bad("times are whole seconds since 1970");
  if (one.not_after <= one.not_before) return Bad("it ends before it begins");
  if (one.created_by.empty() || one.created_by.size() > 255 ||
      !std::all_of(one.created_by.begin(), one.created_by.end(), [](char c) { return c >= ' ' && c <= '~'; }))
    return Bad("created_by is 1 to 255 bytes of printable ASCII");
  if (one.payload_bytes == 0 || one.payload_bytes > Statement::kMostPayloadBytes)
    return Bad("a payload of " + std::to_string(one.payload_bytes) + " bytes; allowed: 1 to " +
               std::to_string(Statement::kMostPayloadBytes));
  return Ok();
}

Result<Audience> ReadAudience(ByteReader& in) {
  const std::uint64_t kind = in.Number(1);
  const std::string_view who = in.Text();
  if (kind == kNode) {
    RW_ASSIGN_OR_RETURN(const NodeUuid node, NodeUuid::Parse(who));
    return Audience::Node(node);
  }
  if (kind == kGroup && who.size() == Digest().size()) return Audience::Group(ByteReader(who).Sha256());
  return Bad("its audience is neither a node nor a group");
}

}  // namespace

std::string Audience::Text() const { return is_node() ? "node " + node_ : "group " + Hex(group_); }

Result<std::string> Statement::Encode() const {
  RW_RETURN_IF_ERROR(Check(*this));
  ByteWriter out;
  out.Number(kVersion, 1);
  out.Number(schema, 4);
  out.Text(cluster.text());
  out.Number(audience.is_node() ? kNode : kGroup, 1);
  out.Text(audience.is_node() ? std::string_view(audience.node()) : Bytes(audience.group()));
  out.Raw(Bytes(line.digest()));
  out.Number(generation, 8);
  out.Raw(Bytes(previous));
  out.Number(Seconds(not_before), 8);
  out.Number(Seconds(not_after), 8);
  out.Text(created_by);
  out.Number(payload_bytes, 4);
  out.Raw(Bytes(payload_sha256));
  return std::move(out).Done();
}

Result<Statement> Statement::Decode(std::string_view bytes) {
  ByteReader in(bytes);
  const std::uint64_t version = in.Number(1);
  if (!in.good()) return Bad("it is empty");
  if (version != kVersion)
    return Bad("version " + std::to_string(version) + " is not known; this build knows " +
               std::to_string(kVersion));
  const auto schema = static_cast<std::uint32_t>(in.Number(4));
  const std::string_view cluster = in.Text();
  if (!in.good()) return Bad("it is cut short");
  auto name = ClusterName::Parse(cluster);
  if (!name.ok()) return Bad(name.status().message());
  auto audience = ReadAudience(in);
  if (!in.good()) return Bad("it is cut short");
  if (!audience.ok()) return audience.status();
  Statement one{.schema = schema,
                .cluster = std::move(name).value(),
                .audience = std::move(audience).value(),
                .line = Pin(in.Sha256()),
                .generation = in.Number(8),
                .previous = in.Sha256(),
                .not_before = {},
                .not_after = {},
                .created_by = {}};
  const std::uint64_t from = in.Number(8), to = in.Number(8);
  one.created_by = in.Text();
  one.payload_bytes = static_cast<std::uint32_t>(in.Number(4));
  one.payload_sha256 = in.Sha256();
  if (!in.good()) return Bad("it is cut short");
  if (in.left() != 0) return Bad(std::to_string(in.left()) + " bytes too many at its end");
  if (from > kLastSecond || to > kLastSecond) return Bad("its times are beyond the clock (year 2262)");
  one.not_before = Time(std::chrono::seconds(from));
  one.not_after = Time(std::chrono::seconds(to));
  RW_RETURN_IF_ERROR(Check(one));
  return one;
}

}  // namespace railwright::identity
