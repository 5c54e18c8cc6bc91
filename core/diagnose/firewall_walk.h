// The walk of a class of packets over a ruleset. Private: firewall.h is the door.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/diagnose/firewall.h"
#include "core/diagnose/firewall_match.h"

namespace railwright {

/// A chain that hangs on a hook.
struct BaseChain {
  const nft::Table* table;
  const nft::Chain* chain;
  int hook;  ///< position on the way
};

class FirewallWalk {
 public:
  FirewallWalk(const nft::Ruleset& ruleset, const PacketClass& packets, const FirewallOptions& options)
      : ruleset_(ruleset), packets_(packets), options_(options) {
    place_.packets = &packets_;
    place_.hidden_rules = options.hidden_rules;
  }

  FirewallAnswer Run();

 private:
  static constexpr std::size_t kMostVisits = 1'000'000;
  static constexpr std::size_t kMostOutcomes = 10'000;
  static constexpr std::size_t kMostInert = 64;
  using Pieces = std::vector<Piece>;

  // A split of possibilities: what it depends on, and how the branches ended.
  struct Lineage {
    std::string why;
    bool by_amount = false;
    bool passed = false, dropped = false, unclear = false;
  };

  // Where pieces went.
  struct Ways {
    Pieces accepted;  // done with this base chain
    Pieces ended;     // at the end of the chain, or returned from it
  };

  std::vector<BaseChain> Order() const;
  int HookOf(const nft::Table& table, const nft::Chain& chain) const;
  Piece First() const;
  Pieces RunBase(const BaseChain& base, Pieces pieces);
  Ways RunChain(const nft::Chain& chain, Pieces pieces, int depth);
  // What goes on to the next rule; accepted and returned pieces are put into `ways`.
  Pieces RunRule(const nft::Chain& chain, const nft::Rule& rule, const Piece& piece, int depth, Ways& ways);
  // Divides `piece`: the rule goes on for `on`, the next rule is for `next`.
  void Condition(Split split, Piece piece, const nft::Rule& rule, Pieces& on, Pieces& next);
  void Verdict(nft::VerdictKind verdict, const std::string& target, const nft::Chain& chain,
               const nft::Rule& rule, Pieces pieces, Pieces& next, Ways& ways, int depth);
  void VerdictMap(const nft::Statement& statement, const nft::Chain& chain, const nft::Rule& rule,
                  const Piece& piece, Pieces& next, Ways& ways, int depth);
  // Runs a chain that is jumped to; what comes out of it is put into `back`.
  void Enter(const nft::Chain& chain, Piece piece, int depth, Pieces& back, Ways& ways);
  void Effect(const nft::Statement& statement, const nft::Chain& chain, const nft::Rule& rule,
              Pieces& pieces);

  bool Exhausted() const { return visits_ > kMostVisits || outcomes_.size() > kMostOutcomes; }
  int Branch(const Piece& piece, std::string why, bool by_amount);
  std::string Here(const nft::Rule& rule) const;
  void Record(Passage passage, const nft::Chain& chain, const nft::Rule* rule, const Pieces& pieces,
              std::string why);
  FirewallAnswer Conclude(const Pieces& survivors);
  static void Add(Pieces& to, Pieces from) {
    for (Piece& piece : from) to.push_back(std::move(piece));
  }

  const nft::Ruleset& ruleset_;
  const PacketClass& packets_;
  const FirewallOptions& options_;
  WalkPlace place_;
  Matcher matcher_;
  const nft::Chain* current_ = nullptr;  // of Here()
  std::size_t visits_ = 0;
  std::vector<Lineage> lineages_{1};  // [0] is unused: the lineage of what surely exists
  struct Outcome {
    Obstacle obstacle;
    int lineage = 0;
  };
  std::vector<Outcome> outcomes_;
  // Pieces that came back from a chain as they went in, so that a tree of jumps is walked once a base chain.
  std::map<const nft::Chain*, Pieces> inert_;
  Pieces ghosts_;  // dropped in the base chain that runs now
};

}  // namespace railwright
