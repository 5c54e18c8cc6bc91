#include "core/diagnose/firewall_ufw.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace railwright {
namespace {

// Profiles of packages that ship one (/etc/ufw/applications.d): none has a port of a fabric.
constexpr std::array<std::string_view, 31> kHarmless{
    "AIM",           "Apache",        "Apache Full",  "Apache Secure",   "Bonjour", "CIFS",
    "CUPS",          "DNS",           "Dovecot IMAP", "Dovecot POP3",    "IMAP",    "IMAPS",
    "IPP",           "Kerberos Full", "LDAP",         "Mail submission", "NFS",     "Nginx Full",
    "Nginx HTTP",    "Nginx HTTPS",   "Nginx QUIC",   "OpenSSH",         "POP3",    "Postfix",
    "Postfix SMTPS", "SMTP",          "SSH",          "Samba",           "WWW",     "WWW Full",
    "WWW Secure"};

enum class Fit { kNo, kYes, kPart, kUnclear };

Fit Both(Fit a, Fit b) {
  if (a == Fit::kNo || b == Fit::kNo) return Fit::kNo;
  return std::max(a, b);
}

Fit FitOf(const IntervalSet& present, const IntervalSet& wanted) {
  const IntervalSet both = present.And(wanted);
  return both.empty() ? Fit::kNo : both == present ? Fit::kYes : Fit::kPart;
}

Fit FitsEnd(const UfwEnd& end, const IntervalSet& addresses, const IntervalSet& ports,
            const PacketClass& packets) {
  Fit fit = Fit::kYes;
  if (!end.protocol.empty() && end.protocol != (packets.protocol == PortProtocol::kUdp ? "udp" : "tcp"))
    return Fit::kNo;
  if (!end.application.empty()) {
    if (std::find(kHarmless.begin(), kHarmless.end(), end.application) != kHarmless.end()) return Fit::kNo;
    fit = Fit::kUnclear;
  }
  if (!end.address.empty()) {
    const auto network = ParseNetwork(end.address);
    if (!network) return Both(fit, Fit::kUnclear);
    if (network->ipv6 != packets.ipv6) return Fit::kNo;
    fit = Both(fit, FitOf(addresses, network->addresses));
  }
  if (!end.ports.empty()) {
    std::vector<IntervalSet::Interval> ranges;
    for (const auto& one : end.ports) ranges.push_back({one.first, one.last});
    fit = Both(fit, FitOf(ports, IntervalSet(std::move(ranges))));
  }
  if (!end.interface.empty()) {
    const bool here = std::find(packets.interfaces.begin(), packets.interfaces.end(), end.interface) !=
                      packets.interfaces.end();
    fit = Both(fit, !here ? Fit::kNo : packets.interfaces.size() == 1 ? Fit::kYes : Fit::kPart);
  }
  return fit;
}

}  // namespace

FirewallAnswer JudgeUfw(const UfwStatus& status, const PacketClass& packets) {
  FirewallAnswer answer;
  if (!status.active) return answer;
  const bool receive = packets.direction == PacketClass::Direction::kReceive;
  const auto direction = receive ? UfwRule::Direction::kIn : UfwRule::Direction::kOut;
  const IntervalSet& own = packets.own.empty() ? packets.peers : packets.own;
  const IntervalSet source_ports = packets.protocol == PortProtocol::kUdp ? IntervalSet::Range(0xc000, 65535)
                                                                          : IntervalSet::Range(1024, 65535);

  const auto record = [&](Passage passage, const UfwRule* rule, std::string text, std::string why) {
    Obstacle obstacle;
    obstacle.passage = passage;
    obstacle.table = "ufw";
    obstacle.chain = receive ? "in" : "out";
    obstacle.handle = rule != nullptr ? rule->line : 0;
    obstacle.rule = std::move(text);
    obstacle.why = std::move(why);
    obstacle.interfaces = packets.interfaces;
    obstacle.peers = packets.peers;
    obstacle.ports = packets.ports;
    answer.obstacles.push_back(std::move(obstacle));
    answer.passage = std::max(answer.passage, passage);
  };

  bool certain = true;  // whether all packets surely get this far
  const UfwRule* unclear = nullptr;
  for (const UfwRule& rule : status.rules) {
    if (rule.direction != direction || rule.ipv6 != packets.ipv6) continue;
    // "to" is the far end of what goes out.
    Fit fit = Both(FitsEnd(rule.to, receive ? own : packets.peers, packets.ports, packets),
                   FitsEnd(rule.from, receive ? packets.peers : own, source_ports, packets));
    if (fit == Fit::kNo) continue;
    if (fit == Fit::kUnclear) {
      certain = false;
      if (unclear == nullptr) unclear = &rule;
      if (rule.action != UfwRule::Action::kAllow)
        record(Passage::kCannotTell, &rule, rule.text, "the ports of its application profile");
      continue;
    }
    const Passage blocked = certain ? Passage::kDropped : Passage::kCannotTell;
    const std::string why =
        certain ? "" : "the ports of the application profile in line " + std::to_string(unclear->line);
    switch (rule.action) {
      case UfwRule::Action::kAllow: break;
      case UfwRule::Action::kLimit:
        record(certain ? Passage::kThrottled : Passage::kCannotTell, &rule, rule.text,
               certain ? "ufw limits an address to 6 connections in 30 seconds" : why);
        break;
      case UfwRule::Action::kDeny:
      case UfwRule::Action::kReject: record(blocked, &rule, rule.text, why); break;
    }
    if (fit == Fit::kYes) return answer;
  }
  const std::string& fallback = receive ? status.default_in : status.default_out;
  if (fallback == "allow") return answer;
  if (fallback.empty()) {
    record(Passage::kCannotTell, nullptr, "default",
           "the listing has no Default line; ask for `ufw status verbose`");
  } else {
    record(certain ? Passage::kDropped : Passage::kCannotTell, nullptr,
           "default " + fallback + (receive ? " (incoming)" : " (outgoing)"),
           certain ? "" : "the ports of the application profile in line " + std::to_string(unclear->line));
  }
  return answer;
}

}  // namespace railwright
