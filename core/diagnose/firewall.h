// What a host's firewall does to a class of packets, rule by rule, without sending one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/decode/nft_ruleset.h"
#include "core/decode/rdma_ports.h"
#include "core/diagnose/intervals.h"

namespace railwright {

/// Packets that are asked about: every combination of the listed peers, ports and interfaces, as the first
/// packet of a flow (a SYN for TCP). A RoCE v2 flow never becomes "established": both directions go to
/// port 4791 from a source port that is entropy, so conntrack sees no reply, and each packet is `new`.
struct PacketClass {
  enum class Direction : std::uint8_t { kReceive, kSend };
  Direction direction = Direction::kReceive;
  bool ipv6 = false;
  PortProtocol protocol = PortProtocol::kUdp;
  IntervalSet ports;                    ///< destination ports
  IntervalSet peers;                    ///< addresses at the far end
  IntervalSet own;                      ///< addresses at this end; empty = the same as `peers`
  std::vector<std::string> interfaces;  ///< where they come in or go out; at least one
};

/// Ordered from good to bad, so that the worst of several is their maximum.
enum class Passage : std::uint8_t {
  kPasses,
  kCannotTell,  ///< something decides that is not visible or not decidable here
  kThrottled,   ///< the first packets pass, those beyond a rate or amount are dropped
  kDropped,     ///< dropped or rejected
};
std::string_view Name(Passage passage);  ///< Passes CannotTell Throttled Dropped

/// One rule (or chain policy) that keeps packets of the class from passing, and which of them.
struct Obstacle {
  Passage passage = Passage::kDropped;
  std::string family;
  std::string table;
  std::string chain;
  std::string
      base_chain;  ///< the chain of the hook from which `chain` was reached, with its hook and priority
  std::int64_t handle = 0;  ///< 0: the chain's policy
  std::string rule;         ///< its text, or "policy drop"
  std::string why;          ///< for CannotTell: what could not be told; for Throttled: the limit; else ""
  bool behind = false;      ///< an earlier obstacle already keeps all of these packets
  std::vector<std::string> interfaces;
  IntervalSet peers;
  IntervalSet ports;
  /// `table inet filter chain input handle 7: "udp dport 4791 drop"`.
  std::string Where() const;
};

struct FirewallAnswer {
  Passage passage = Passage::kPasses;
  std::vector<Obstacle> obstacles;  ///< in the order in which packets meet them; empty when all pass
};

struct FirewallOptions {
  /// (family, name) of tables to leave out: our own.
  std::vector<std::pair<std::string, std::string>> without_tables;
  /// Rules exist that are not in the ruleset (legacy iptables): one of them may exempt packets from
  /// connection tracking, so `ct state` may read `untracked` as well as `new`.
  bool hidden_rules = false;
};

/// Walks all base chains of the hooks that such packets pass, in the kernel's order. A drop is final, an
/// accept ends only its own base chain. What cannot be told (an iptables match that nft does not translate, a
/// mark set by something unreadable, a program that decides) is split into both possibilities: only where
/// they lead to different ends is the answer CannotTell. Pure; bounded by a million rule visits, beyond which
/// the answer is CannotTell.
FirewallAnswer JudgeFirewall(const nft::Ruleset& ruleset, const PacketClass& packets,
                             const FirewallOptions& options = {});

}  // namespace railwright
