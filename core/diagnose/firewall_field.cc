// Which property of a packet the left side of a rule's condition is.
#include "core/diagnose/firewall_extension.h"
#include "core/diagnose/firewall_match.h"

namespace railwright {

using nft::Expression;
using Kind = Expression::Kind;

PacketField FieldOf(const Expression& left, const Piece& piece, const WalkPlace& place) {
  const PacketClass& packets = *place.packets;
  const bool receive = packets.direction == PacketClass::Direction::kReceive;
  const bool udp = packets.protocol == PortProtocol::kUdp;
  const std::uint64_t protocol = udp ? 17 : 6;

  switch (left.kind) {
    case Kind::kPayload:
      if (left.scope == "ip" || left.scope == "ip6") {
        if (packets.ipv6 != (left.scope == "ip6")) return PacketField::Never();
        if (left.name == "saddr") return PacketField::Range(&Piece::sources, true);
        if (left.name == "daddr") return PacketField::Range(&Piece::destinations, true);
        if (left.name == "protocol" || left.name == "nexthdr")
          return PacketField::Scalar({protocol}, kProtocolNames);
        if (left.name == "version") return PacketField::Scalar({packets.ipv6 ? 6U : 4U});
        if (left.name == "frag-off") return PacketField::Scalar({0});  // RoCE and TCP are sent whole
        return PacketField::Unclear(nft::Text(left));
      }
      if (IsOneOf(left.scope, {"udp", "tcp", "th"})) {
        if (left.scope != "th" && (left.scope == "udp") != udp) return PacketField::Never();
        if (left.name == "sport") return PacketField::Range(&Piece::source_ports, false);
        if (left.name == "dport") return PacketField::Range(&Piece::ports, false);
        if (left.name == "flags") return PacketField::Scalar({2}, kTcpFlagNames);  // the SYN
        return PacketField::Unclear(nft::Text(left));
      }
      if (IsOneOf(left.scope, {"ether", "vlan"})) return PacketField::Unclear(nft::Text(left));
      return PacketField::Never();  // icmp, arp, sctp …: another protocol
    case Kind::kRawPayload:
      if (left.scope == "th" && left.length == 16 && left.number == 0)
        return PacketField::Range(&Piece::source_ports, false);
      if (left.scope == "th" && left.length == 16 && left.number == 16)
        return PacketField::Range(&Piece::ports, false);
      return PacketField::Unclear(nft::Text(left));
    case Kind::kMeta:
      if (left.name == "iifname" || left.name == "iif") return PacketField::Interfaces(receive);
      if (left.name == "oifname" || left.name == "oif") return PacketField::Interfaces(!receive);
      if (left.name == "l4proto") return PacketField::Scalar({protocol}, kProtocolNames);
      if (left.name == "nfproto") return PacketField::Scalar({packets.ipv6 ? 10U : 2U}, kFamilyNames);
      if (left.name == "protocol")
        return PacketField::Scalar({packets.ipv6 ? 0x86ddU : 0x0800U}, kEthernetNames);
      if (left.name == "pkttype") return PacketField::Scalar({0}, kPacketTypeNames);
      if (left.name == "iiftype" || left.name == "oiftype") return PacketField::Scalar({1}, kLinkTypeNames);
      if (left.name == "mark" && piece.mark) return PacketField::Scalar({*piece.mark});
      return PacketField::Unclear(nft::Text(left));
    case Kind::kCt:
      if (left.name == "state") {
        if (piece.tracking == Tracking::kUntracked)
          return PacketField::Scalar({kStateUntracked}, kStateNames);
        // Without an entry the kernel shows `invalid`.
        if (place.before_conntrack) return PacketField::Scalar({kStateInvalid}, kStateNames);
        if (piece.tracking == Tracking::kEither || place.hidden_rules)
          return PacketField::Scalar({kStateNew, kStateUntracked}, kStateNames);
        return PacketField::Scalar({kStateNew}, kStateNames);
      }
      if (piece.tracking == Tracking::kUntracked || place.before_conntrack) return PacketField::Never();
      if (piece.tracking == Tracking::kTracked && !place.hidden_rules) {
        if (left.name == "status") return PacketField::Scalar({0}, kStatusNames);
        if (left.name == "direction") return PacketField::Scalar({0}, kDirectionNames);
      }
      return PacketField::Unclear(nft::Text(left));
    case Kind::kOther:
      if (left.name == "fib" && left.scope.ends_with(" type")) {
        // Our own address at one end, a neighbour's or a routed one at the other.
        const bool own = left.scope.starts_with("daddr") == receive;
        return PacketField::Scalar({own ? 2U : 1U}, kRouteTypeNames);
      }
      if (left.name == "fib") return PacketField::Unclear(nft::Text(left) + ", which depends on the routes");
      if (left.name == "numgen")
        return PacketField::Unclear(nft::Text(left) + ", which takes a share of the packets", true);
      return PacketField::Unclear(nft::Text(left));
    case Kind::kBinary: {
      if (left.name != "&") return PacketField::Unclear(nft::Text(left));
      PacketField field = FieldOf(left.parts[0], piece, place);
      if (field.kind == PacketField::Kind::kScalar) {
        const auto mask = ConstantOf(left.parts[1], field.names);
        if (!mask) return PacketField::Unclear(nft::Text(left));
        for (std::uint64_t& value : field.values) value &= *mask;
        return field;
      }
      if (field.kind == PacketField::Kind::kRange && field.addresses && left.parts[1].kind == Kind::kText) {
        const auto mask = ParseNumberedAddress(left.parts[1].name);
        if (mask) field.mask = mask->number;
        return mask ? field : PacketField::Unclear(nft::Text(left));
      }
      return field.kind == PacketField::Kind::kNever ? field : PacketField::Unclear(nft::Text(left));
    }
    default: return PacketField::Unclear(nft::Text(left));
  }
}

}  // namespace railwright
