// /rtnl/rule/<priority>: policy routing rules, both families.
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>

#include <cerrno>

#include "agent/machine/backend.h"
#include "agent/machine/paths.h"
#include "agent/machine/rtnl_decode.h"
#include "agent/machine/set_valued.h"
#include "core/decode/fields.h"

namespace railwright::machine {
namespace {

constexpr std::uint32_t kMainRule = 32766, kDefaultRule = 32767;

bool IsHostRule(std::uint32_t priority) {
  return priority == 0 || priority == kMainRule || priority == kDefaultRule;
}

/// Made by the kernel itself (the rules of VRFs), or on a router advertisement.
bool IsDynamic(std::uint8_t protocol) { return protocol == RTPROT_KERNEL || protocol == RTPROT_RA; }

std::string ActionText(std::uint8_t action) {
  switch (action) {
    case FR_ACT_TO_TBL: return "";
    case FR_ACT_BLACKHOLE: return "blackhole";
    case FR_ACT_UNREACHABLE: return "unreachable";
    case FR_ACT_PROHIBIT: return "prohibit";
    default: return "action-" + std::to_string(action);  // goto and nop: shown, not set
  }
}

void DecodeAttribute(const NetlinkAttribute& attribute, const fib_rule_hdr& head, DecodedRule& decoded) {
  Rule& rule = decoded.rule;
  auto beyond = [&rule](const std::string& what) { rule.beyond += (rule.beyond.empty() ? "" : " ") + what; };
  switch (attribute.type) {
    case FRA_SRC: rule.from = {IpAddress::FromBytes(attribute.value), head.src_len}; break;
    case FRA_DST: rule.to = {IpAddress::FromBytes(attribute.value), head.dst_len}; break;
    case FRA_PRIORITY: decoded.priority = attribute.U32(); break;
    case FRA_TABLE: rule.table = attribute.U32(); break;
    case FRA_FWMARK: rule.mark = attribute.U32(); break;
    case FRA_FWMASK: rule.mask = attribute.U32(); break;
    case FRA_IIFNAME: rule.iif = attribute.Text(); break;
    case FRA_OIFNAME: rule.oif = attribute.Text(); break;
    case FRA_IP_PROTO: rule.protocol = attribute.As<std::uint8_t>(); break;
    case FRA_PROTOCOL: decoded.protocol = attribute.As<std::uint8_t>(); break;
    case FRA_SPORT_RANGE:
    case FRA_DPORT_RANGE: {
      const auto range = attribute.As<fib_rule_port_range>();
      (attribute.type == FRA_SPORT_RANGE ? rule.sport : rule.dport) = {range.start, range.end};
      break;
    }
    case FRA_SUPPRESS_PREFIXLEN:
      if (attribute.U32() != UINT32_MAX) beyond("suppress_prefixlength " + std::to_string(attribute.U32()));
      break;
    case FRA_SUPPRESS_IFGROUP:
      if (attribute.U32() != UINT32_MAX) beyond("suppress_ifgroup " + std::to_string(attribute.U32()));
      break;
    case FRA_GOTO: beyond("goto " + std::to_string(attribute.U32())); break;
    case FRA_UID_RANGE: beyond("uidrange"); break;
    case FRA_TUN_ID: beyond("tun_id"); break;
    case FRA_L3MDEV:
      if (attribute.As<std::uint8_t>() != 0) beyond("l3mdev");
      break;
    default: break;
  }
}

/// A message that contradicts itself, or says what no line can, is shown without that, and unlike any wish.
void RemoveContradictions(Rule& rule) {
  bool damaged = false;
  for (IpPrefix* prefix : {&rule.from, &rule.to}) {
    if (prefix->length == 0) *prefix = {};  // of no length is all
    if (!prefix->address || (prefix->address.family == rule.family && prefix->length <= prefix->longest()))
      continue;
    *prefix = {};
    damaged = true;
  }
  for (auto* ports : {&rule.sport, &rule.dport}) {
    if (ports->second == 0 || (ports->first != 0 && ports->first <= ports->second)) continue;
    *ports = {};
    damaged = true;
  }
  for (std::string* name : {&rule.iif, &rule.oif}) {
    if (name->empty() || IsInterfaceName(*name)) continue;
    name->clear();
    damaged = true;
  }
  if (damaged || (rule.action.empty() && rule.table == 0))
    rule.beyond += (rule.beyond.empty() ? "" : " ") + std::string("damaged");
}

class RtnlRule final : public Backend {
 public:
  explicit RtnlRule(NetlinkSocket& socket) : socket_(socket) {}

  Result<std::string> Get(std::string_view path) override {
    RW_ASSIGN_OR_RETURN(const std::uint32_t priority, PriorityOf(path));
    return ReadSet(KindOf(path, priority));
  }

  Result<std::vector<std::string>> List(std::string_view path) override {
    if (PathParts(path).size() != 2) {
      RW_RETURN_IF_ERROR(PriorityOf(path).status());
      return std::vector<std::string>{};
    }
    RW_ASSIGN_OR_RETURN(const auto replies, Dump(path));
    std::vector<std::string> priorities;
    for (const NetlinkReply& reply : replies)
      if (const auto decoded = DecodeRule(reply)) priorities.push_back(std::to_string(decoded->priority));
    return Sorted(std::move(priorities));
  }

  Status Set(std::string_view path, std::string_view value) override {
    RW_ASSIGN_OR_RETURN(const std::uint32_t priority, PriorityOf(path));
    if (IsHostRule(priority))
      return Status(Code::kFailedPrecondition,
                    std::string(path) + ": priorities 0, 32766 and 32767 are the host's own; use another");
    std::map<std::string, NetlinkMessage> wanted;
    for (const std::string& line : SortedLines(value)) {
      const Result<Rule> rule = Rule::Parse(line);
      if (!rule.ok()) return rule.status().Within(path);
      wanted.emplace(rule->Text(), Addition(*rule, priority));
    }
    return MakeSetSo(socket_, KindOf(path, priority), std::move(wanted));
  }

 private:
  static Result<std::uint32_t> PriorityOf(std::string_view path) {
    const auto parts = PathParts(path);
    if (parts.size() != 3) return NoSuchPath(path);
    const Result<std::uint64_t> priority = ParseNumber(parts[2]);
    if (!priority.ok() || *priority > UINT32_MAX)
      return Status(Code::kInvalidArgument,
                    std::string(path) + ": a priority is a number from 0 to 4294967295");
    return static_cast<std::uint32_t>(*priority);
  }

  SetKind KindOf(std::string_view path, std::uint32_t priority) {
    return {path, [this, path, priority] { return Read(path, priority); }, RTM_DELRULE};
  }

  /// The kernel has no filter for rules; both families come in one dump.
  Result<std::vector<NetlinkReply>> Dump(std::string_view path) {
    NetlinkMessage message(RTM_GETRULE, NLM_F_DUMP);
    message.Header(fib_rule_hdr{});
    return socket_.Ask(message, path);
  }

  Result<std::vector<SetItem>> Read(std::string_view path, std::uint32_t priority) {
    RW_ASSIGN_OR_RETURN(const auto replies, Dump(path));
    std::vector<SetItem> items;
    for (const NetlinkReply& reply : replies) {
      const auto decoded = DecodeRule(reply);
      if (!decoded || decoded->priority != priority) continue;
      if (!IsHostRule(priority) && IsDynamic(decoded->protocol)) continue;
      items.push_back({decoded->rule.Text(), reply});
    }
    return items;
  }

  static NetlinkMessage Addition(const Rule& rule, std::uint32_t priority) {
    fib_rule_hdr head{};
    head.family = static_cast<std::uint8_t>(rule.family);
    head.src_len = static_cast<std::uint8_t>(rule.from.address ? rule.from.length : 0);
    head.dst_len = static_cast<std::uint8_t>(rule.to.address ? rule.to.length : 0);
    head.tos = rule.tos;
    head.flags = rule.inverted ? FIB_RULE_INVERT : 0;
    head.action = rule.action == "blackhole"     ? FR_ACT_BLACKHOLE
                  : rule.action == "unreachable" ? FR_ACT_UNREACHABLE
                  : rule.action == "prohibit"    ? FR_ACT_PROHIBIT
                                                 : FR_ACT_TO_TBL;
    NetlinkMessage message(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL);
    message.Header(head).PutU32(FRA_PRIORITY, priority).PutU8(FRA_PROTOCOL, RTPROT_STATIC);
    if (rule.from.address) message.Put(FRA_SRC, rule.from.address.span());
    if (rule.to.address) message.Put(FRA_DST, rule.to.address.span());
    if (rule.table != 0) message.PutU32(FRA_TABLE, rule.table);
    if (rule.mark != 0 || rule.mask != 0) message.PutU32(FRA_FWMARK, rule.mark).PutU32(FRA_FWMASK, rule.mask);
    if (!rule.iif.empty()) message.PutText(FRA_IIFNAME, rule.iif);
    if (!rule.oif.empty()) message.PutText(FRA_OIFNAME, rule.oif);
    if (rule.protocol != 0) message.PutU8(FRA_IP_PROTO, rule.protocol);
    for (const auto& [type, ports] :
         {std::pair(FRA_SPORT_RANGE, rule.sport), std::pair(FRA_DPORT_RANGE, rule.dport)}) {
      if (ports.second == 0) continue;
      const fib_rule_port_range range{ports.first, ports.second};
      message.Put(static_cast<std::uint16_t>(type),
                  {reinterpret_cast<const std::uint8_t*>(&range), sizeof range});
    }
    return message;
  }

  NetlinkSocket& socket_;
};

}  // namespace

std::optional<DecodedRule> DecodeRule(const NetlinkReply& reply) {
  const auto head = reply.Header<fib_rule_hdr>();
  if (reply.type != RTM_NEWRULE || (head.family != AF_INET && head.family != AF_INET6)) return std::nullopt;
  DecodedRule decoded;
  decoded.rule.family = head.family;
  decoded.rule.inverted = (head.flags & FIB_RULE_INVERT) != 0;
  decoded.rule.tos = head.tos;
  decoded.rule.table = head.table;
  decoded.rule.action = ActionText(head.action);
  ForEachAttribute(reply.AfterHeader(sizeof head),
                   [&](const NetlinkAttribute& attribute) { DecodeAttribute(attribute, head, decoded); });
  RemoveContradictions(decoded.rule);
  return decoded;
}

std::unique_ptr<Backend> MakeRtnlRule(NetlinkSocket& socket) { return std::make_unique<RtnlRule>(socket); }

}  // namespace railwright::machine
