#include "core/diagnose/firewall_extension.h"

#include <algorithm>

namespace railwright {

using nft::Statement;
using nft::VerdictKind;

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

Extension ExtensionOf(const std::string& detail, PortProtocol protocol) {
  const auto blank = detail.find(' ');
  const std::string kind = detail.substr(0, blank);
  const std::string name = blank == std::string::npos ? "" : detail.substr(blank + 1);
  if (kind == "match") {
    if (name == "comment") return Extension::kAlways;
    if (name == (protocol == PortProtocol::kUdp ? "tcp" : "udp")) return Extension::kNever;
    if (IsOneOf(name, {"icmp", "icmp6", "sctp", "dccp", "esp", "ah", "udplite"})) return Extension::kNever;
    if (IsOneOf(name, {"limit", "hashlimit", "quota", "connlimit", "statistic", "connbytes", "recent"}))
      return Extension::kAmount;
    return Extension::kUnclear;
  }
  if (kind == "target" || kind == "watcher") {
    if (IsOneOf(name, {"LOG",         "NFLOG", "ULOG",  "CONNMARK",  "CONNSECMARK", "SECMARK", "TCPMSS",
                       "TCPOPTSTRIP", "TOS",   "DSCP",  "ECN",       "TTL",         "HL",      "CLASSIFY",
                       "CHECKSUM",    "TRACE", "AUDIT", "IDLETIMER", "LED",         "SET",     "TEE",
                       "RATEEST",     "HMARK", "log",   "nflog"}))
      return Extension::kNoEffect;
    if (name == "MARK") return Extension::kMark;
    if (IsOneOf(name, {"CT", "NOTRACK"})) return Extension::kTracking;
    if (name == "REJECT") return Extension::kDrop;
    if (IsOneOf(name, {"SNAT", "MASQUERADE"})) return Extension::kAccept;
    if (IsOneOf(name, {"DNAT", "REDIRECT", "NETMAP", "TPROXY"})) return Extension::kRewrite;
  }
  return Extension::kAnything;
}

bool HasEffect(const Statement& statement, PortProtocol protocol) {
  switch (statement.kind) {
    case Statement::Kind::kMatch:
    case Statement::Kind::kLimit:
    case Statement::Kind::kCounter:
    case Statement::Kind::kCondition: return false;
    case Statement::Kind::kNoEffect: return IsOneOf(statement.name, {"notrack", "mangle"});
    case Statement::Kind::kVerdict: return statement.verdict != VerdictKind::kContinue;
    case Statement::Kind::kXt: {
      const Extension extension = ExtensionOf(statement.detail, protocol);
      return extension > Extension::kUnclear && extension != Extension::kNoEffect;
    }
    case Statement::Kind::kVmap:
    case Statement::Kind::kNat:
    case Statement::Kind::kQueue:
    case Statement::Kind::kOther: return true;
  }
  return true;
}

}  // namespace railwright
