#include "core/diagnose/firewall.h"

#include <algorithm>

#include "core/diagnose/firewall_walk.h"

namespace railwright {
namespace {

constexpr std::int64_t kConntrack = -200;  // NF_IP_PRI_CONNTRACK
// RoCE v2's entropy (rxe and mlx5: 0xc000 upwards); a TCP client's port is ephemeral or at least
// unprivileged.
constexpr std::uint16_t kRoceSourceFirst = 0xc000, kTcpSourceFirst = 1024;

}  // namespace

// Where on the way of the packets the chain hangs; -1: not on it.
int FirewallWalk::HookOf(const nft::Table& table, const nft::Chain& chain) const {
  const bool ip = table.family == "inet" || table.family == (packets_.ipv6 ? "ip6" : "ip");
  const bool device = table.family == "netdev";
  if (packets_.direction == PacketClass::Direction::kReceive) {
    if (chain.hook == "ingress") return device ? 0 : ip ? 1 : -1;
    if (chain.hook == "prerouting") return ip ? 2 : -1;
    if (chain.hook == "input") return ip ? 3 : -1;
    return -1;
  }
  if (chain.hook == "output") return ip ? 0 : -1;
  if (chain.hook == "postrouting") return ip ? 1 : -1;
  return chain.hook == "egress" && device ? 2 : -1;
}

std::vector<BaseChain> FirewallWalk::Order() const {
  std::vector<BaseChain> order;
  for (const nft::Table& table : ruleset_.tables) {
    if (std::find(table.flags.begin(), table.flags.end(), "dormant") != table.flags.end()) continue;
    if (std::find(options_.without_tables.begin(), options_.without_tables.end(),
                  std::pair(table.family, table.name)) != options_.without_tables.end())
      continue;
    for (const nft::Chain& chain : table.chains)
      if (const int hook = HookOf(table, chain); hook >= 0) order.push_back({&table, &chain, hook});
  }
  // Of equal priority, the one that was made last is seen first (nf_hook_entries_grow); it is listed last.
  std::reverse(order.begin(), order.end());
  std::stable_sort(order.begin(), order.end(), [](const BaseChain& a, const BaseChain& b) {
    return std::pair(a.hook, a.chain->priority) < std::pair(b.hook, b.chain->priority);
  });
  return order;
}

Piece FirewallWalk::First() const {
  const bool receive = packets_.direction == PacketClass::Direction::kReceive;
  const IntervalSet& own = packets_.own.empty() ? packets_.peers : packets_.own;
  Piece piece;
  piece.sources = receive ? packets_.peers : own;
  piece.destinations = receive ? own : packets_.peers;
  piece.source_ports =
      IntervalSet::Range(packets_.protocol == PortProtocol::kUdp ? kRoceSourceFirst : kTcpSourceFirst, 65535);
  piece.ports = packets_.ports;
  piece.interfaces = packets_.interfaces;
  return piece;
}

FirewallAnswer FirewallWalk::Run() {
  Pieces pieces{First()};
  for (const BaseChain& base : Order()) {
    pieces = RunBase(base, std::move(pieces));
    if (Exhausted()) {
      FirewallAnswer answer;
      answer.passage = Passage::kCannotTell;
      Obstacle obstacle;
      obstacle.passage = Passage::kCannotTell;
      obstacle.family = base.table->family;
      obstacle.table = base.table->name;
      obstacle.chain = obstacle.base_chain = base.chain->name;
      obstacle.why = "the ruleset is too large to follow";
      obstacle.interfaces = packets_.interfaces;
      obstacle.peers = packets_.peers;
      obstacle.ports = packets_.ports;
      answer.obstacles.push_back(std::move(obstacle));
      return answer;
    }
  }
  return Conclude(pieces);
}

FirewallWalk::Pieces FirewallWalk::RunBase(const BaseChain& base, Pieces pieces) {
  place_.table = base.table;
  place_.base = base.chain;
  place_.before_conntrack =
      base.chain->hook == "ingress" || (base.chain->hook != "input" && base.chain->hook != "postrouting" &&
                                        base.chain->priority <= kConntrack);
  const std::size_t outcomes = outcomes_.size();
  ghosts_.clear();
  inert_.clear();

  Pieces in, out;
  const nft::Rule none;
  for (const Piece& piece : pieces) {
    // Address translation looks only at tracked packets.
    if (base.chain->type == "nat" && piece.tracking == Tracking::kUntracked) {
      out.push_back(piece);
      continue;
    }
    const bool bound = base.chain->hook == "ingress" || base.chain->hook == "egress";
    if (bound && base.chain->devs.empty()) {
      // nft 1.0.6 leaves the device out of its JSON when there is one.
      current_ = base.chain;
      Condition(Split::Unclear("the device of the chain, which nft does not print"), piece, none, in, out);
      continue;
    }
    if (!bound) {
      in.push_back(piece);
      continue;
    }
    Piece on = piece, off = piece;
    on.interfaces.clear();
    off.interfaces.clear();
    for (const std::string& name : piece.interfaces) {
      const bool here =
          std::find(base.chain->devs.begin(), base.chain->devs.end(), name) != base.chain->devs.end();
      (here ? on : off).interfaces.push_back(name);
    }
    if (!on.interfaces.empty()) in.push_back(std::move(on));
    if (!off.interfaces.empty()) out.push_back(std::move(off));
  }

  Ways ways = RunChain(*base.chain, std::move(in), 0);
  Add(out, ways.accepted);
  if (base.chain->policy == "drop") {
    if (!ways.ended.empty()) Record(Passage::kDropped, *base.chain, nullptr, ways.ended, "");
  } else {
    Add(out, ways.ended);
  }

  // When all passed as they came, the divisions of this chain do not matter to the next one.
  const bool unchanged =
      outcomes_.size() == outcomes && std::all_of(out.begin(), out.end(), [&](const Piece& one) {
        return std::all_of(pieces.begin(), pieces.end(),
                           [&](const Piece& was) { return was.SameState(one); });
      });
  if (unchanged) return pieces;
  Add(out, ghosts_);
  return out;
}

FirewallAnswer FirewallWalk::Conclude(const Pieces& survivors) {
  for (const Piece& piece : survivors)
    if (!piece.behind) lineages_[static_cast<std::size_t>(piece.lineage)].passed = true;

  FirewallAnswer answer;
  for (Outcome& outcome : outcomes_) {
    Obstacle& obstacle = outcome.obstacle;
    const Lineage& lineage = lineages_[static_cast<std::size_t>(outcome.lineage)];
    if (outcome.lineage != 0 && !obstacle.behind && (lineage.passed || lineage.unclear)) {
      // The branches end differently. What surely is so needs both of them.
      obstacle.passage = lineage.by_amount && !lineage.unclear ? Passage::kThrottled : Passage::kCannotTell;
      if (obstacle.why.empty()) obstacle.why = lineage.why;
    }
    if (!obstacle.behind) answer.passage = std::max(answer.passage, obstacle.passage);
    const auto same =
        std::find_if(answer.obstacles.begin(), answer.obstacles.end(), [&](const Obstacle& one) {
          return one.passage == obstacle.passage && one.family == obstacle.family &&
                 one.table == obstacle.table && one.chain == obstacle.chain &&
                 one.handle == obstacle.handle && one.base_chain == obstacle.base_chain &&
                 one.rule == obstacle.rule && one.why == obstacle.why && one.behind == obstacle.behind;
        });
    if (same == answer.obstacles.end()) {
      answer.obstacles.push_back(std::move(obstacle));
      continue;
    }
    for (const std::string& name : obstacle.interfaces)
      if (std::find(same->interfaces.begin(), same->interfaces.end(), name) == same->interfaces.end())
        same->interfaces.push_back(name);
    same->peers = same->peers.Or(obstacle.peers);
    same->ports = same->ports.Or(obstacle.ports);
  }
  // What is in the way of some packets and stands behind another obstacle for others is named once.
  std::vector<std::string> in_front;
  for (const Obstacle& one : answer.obstacles)
    if (!one.behind) in_front.push_back(one.Where());
  std::erase_if(answer.obstacles, [&](const Obstacle& one) {
    return one.behind && std::find(in_front.begin(), in_front.end(), one.Where()) != in_front.end();
  });
  return answer;
}

std::string_view Name(Passage passage) {
  switch (passage) {
    case Passage::kPasses: return "Passes";
    case Passage::kCannotTell: return "CannotTell";
    case Passage::kThrottled: return "Throttled";
    case Passage::kDropped: return "Dropped";
  }
  return "CannotTell";
}

std::string Obstacle::Where() const {
  std::string text = "table " + family + " " + table + " chain " + chain;
  if (handle != 0) text += " handle " + std::to_string(handle);
  return text + ": \"" + rule + "\"";
}

FirewallAnswer JudgeFirewall(const nft::Ruleset& ruleset, const PacketClass& packets,
                             const FirewallOptions& options) {
  return FirewallWalk(ruleset, packets, options).Run();
}

}  // namespace railwright
