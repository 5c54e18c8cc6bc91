// The walk within one base chain: chains, rules, verdicts.
#include <algorithm>

#include "core/diagnose/firewall_extension.h"
#include "core/diagnose/firewall_walk.h"

namespace railwright {

using nft::Statement;
using nft::VerdictKind;

namespace {

constexpr int kMostJumps = 16;  // NFT_JUMP_STACK_SIZE of the kernel

}  // namespace

FirewallWalk::Ways FirewallWalk::RunChain(const nft::Chain& chain, Pieces pieces, int depth) {
  Ways ways;
  for (const nft::Rule& rule : chain.rules) {
    if (pieces.empty() || Exhausted()) break;
    ++visits_;
    current_ = &chain;
    if (std::none_of(rule.statements.begin(), rule.statements.end(),
                     [&](const Statement& one) { return HasEffect(one, packets_.protocol); }))
      continue;
    Pieces next;
    for (Piece& piece : pieces) {
      // Most rules speak of other packets.
      const Statement& first = rule.statements.front();
      if (first.kind == Statement::Kind::kMatch &&
          matcher_.Match(first, piece, place_).way == Split::Way::kNone) {
        next.push_back(std::move(piece));
        continue;
      }
      const std::size_t outcomes = outcomes_.size();
      const std::size_t accepted = ways.accepted.size(), ended = ways.ended.size();
      Pieces on = RunRule(chain, rule, piece, depth, ways);
      const bool nothing_happened =
          outcomes_.size() == outcomes && ways.accepted.size() == accepted && ways.ended.size() == ended &&
          std::all_of(on.begin(), on.end(), [&](const Piece& one) { return one.SameState(piece); });
      if (nothing_happened)
        next.push_back(std::move(piece));
      else
        Add(next, std::move(on));
    }
    pieces = std::move(next);
  }
  Add(ways.ended, std::move(pieces));
  return ways;
}

FirewallWalk::Pieces FirewallWalk::RunRule(const nft::Chain& chain, const nft::Rule& rule, const Piece& piece,
                                           int depth, Ways& ways) {
  Pieces pieces{piece}, next;
  bool opaque = false;  // a statement that may decide anything, unless a verdict follows
  for (const Statement& statement : rule.statements) {
    if (pieces.empty()) break;
    current_ = &chain;
    const auto all = [&](const auto& split) {
      Pieces on;
      for (Piece& one : pieces) {
        Split divided = split(one);
        Condition(std::move(divided), std::move(one), rule, on, next);
      }
      pieces = std::move(on);
    };
    switch (statement.kind) {
      case Statement::Kind::kMatch:
        all([&](const Piece& one) { return matcher_.Match(statement, one, place_); });
        break;
      case Statement::Kind::kLimit:
      case Statement::Kind::kCondition:
        all([&](const Piece&) { return Split::Unclear(nft::Text(statement), true); });
        break;
      case Statement::Kind::kXt: {
        const Extension extension = ExtensionOf(statement.detail, packets_.protocol);
        const bool shown = !statement.detail.empty();
        if (extension == Extension::kNever) {
          all([](const Piece&) { return Split::Whole(false); });
        } else if (extension == Extension::kUnclear || extension == Extension::kAmount || !shown) {
          all([&](const Piece&) {
            return Split::Unclear(nft::Text(statement), extension == Extension::kAmount);
          });
          opaque = opaque || !shown;
        } else if (extension == Extension::kAccept) {
          Add(ways.accepted, std::move(pieces));
          pieces.clear();
        } else {
          Effect(statement, chain, rule, pieces);
        }
        break;
      }
      case Statement::Kind::kVerdict:
        opaque = false;
        Verdict(statement.verdict, statement.target, chain, rule, std::move(pieces), next, ways, depth);
        pieces.clear();
        break;
      case Statement::Kind::kVmap:
        for (const Piece& one : pieces) VerdictMap(statement, chain, rule, one, next, ways, depth);
        pieces.clear();
        break;
      case Statement::Kind::kNat:
        if (IsOneOf(statement.name, {"snat", "masquerade"}))
          Add(ways.accepted, std::move(pieces));
        else
          Record(Passage::kCannotTell, chain, &rule, pieces, "sends the packets to another address or port");
        pieces.clear();
        break;
      case Statement::Kind::kQueue:
        Record(Passage::kCannotTell, chain, &rule, pieces, "a program decides");
        pieces.clear();
        break;
      case Statement::Kind::kOther:
        all([&](const Piece&) {
          return Split::Unclear("\"" + statement.name + "\", which is not known here");
        });
        opaque = true;
        break;
      case Statement::Kind::kNoEffect: Effect(statement, chain, rule, pieces); break;
      case Statement::Kind::kCounter: break;
    }
  }
  if (opaque && !pieces.empty()) {
    Record(Passage::kCannotTell, chain, &rule, pieces, "a statement that is not known here");
    pieces.clear();
  }
  Add(next, std::move(pieces));
  return next;
}

void FirewallWalk::Condition(Split split, Piece piece, const nft::Rule& rule, Pieces& on, Pieces& next) {
  switch (split.way) {
    case Split::Way::kAll: on.push_back(std::move(piece)); break;
    case Split::Way::kNone: next.push_back(std::move(piece)); break;
    case Split::Way::kPart:
      Add(on, std::move(split.matched));
      Add(next, std::move(split.rest));
      break;
    case Split::Way::kUnclear:
      piece.lineage = Branch(piece, split.unclear + " in " + Here(rule), split.by_amount);
      on.push_back(piece);
      next.push_back(std::move(piece));
      break;
  }
}

void FirewallWalk::VerdictMap(const Statement& statement, const nft::Chain& chain, const nft::Rule& rule,
                              const Piece& piece, Pieces& next, Ways& ways, int depth) {
  Matcher::Mapped mapped = matcher_.Map(statement, piece, place_);
  if (!mapped.unclear.empty()) {
    const int lineage = Branch(piece, mapped.unclear + " in " + Here(rule), false);
    for (auto& [verdict, parts] : mapped.verdicts)
      for (Piece& part : parts) part.lineage = lineage;
    for (Piece& part : mapped.rest) part.lineage = lineage;
    if (mapped.verdicts.empty()) Record(Passage::kCannotTell, chain, &rule, mapped.rest, mapped.unclear);
  }
  for (auto& [verdict, parts] : mapped.verdicts)
    Verdict(verdict.verdict, verdict.name, chain, rule, std::move(parts), next, ways, depth);
  Add(next, std::move(mapped.rest));
}

void FirewallWalk::Verdict(VerdictKind verdict, const std::string& target, const nft::Chain& chain,
                           const nft::Rule& rule, Pieces pieces, Pieces& next, Ways& ways, int depth) {
  switch (verdict) {
    case VerdictKind::kAccept: Add(ways.accepted, std::move(pieces)); break;
    case VerdictKind::kDrop:
    case VerdictKind::kReject: Record(Passage::kDropped, chain, &rule, pieces, ""); break;
    case VerdictKind::kReturn: Add(ways.ended, std::move(pieces)); break;
    case VerdictKind::kContinue:
    case VerdictKind::kNone: Add(next, std::move(pieces)); break;
    case VerdictKind::kJump:
    case VerdictKind::kGoto: {
      const nft::Chain* other = place_.table->FindChain(target);
      if (other == nullptr || depth >= kMostJumps) {
        Record(Passage::kCannotTell, chain, &rule, pieces,
               other == nullptr ? "the chain \"" + target + "\" is not in the listing"
                                : "jumps nest deeper than a kernel allows");
        break;
      }
      // After a jump the packet comes back here; after a goto it has left this chain too.
      for (Piece& piece : pieces)
        Enter(*other, std::move(piece), depth + 1, verdict == VerdictKind::kJump ? next : ways.ended, ways);
      current_ = &chain;
      break;
    }
  }
}

void FirewallWalk::Enter(const nft::Chain& chain, Piece piece, int depth, Pieces& back, Ways& ways) {
  Pieces& inert = inert_[&chain];
  if (std::find(inert.begin(), inert.end(), piece) != inert.end()) {
    back.push_back(std::move(piece));
    return;
  }
  const std::size_t outcomes = outcomes_.size();
  Ways inner = RunChain(chain, {piece}, depth);
  if (outcomes_.size() == outcomes && inner.accepted.empty() &&
      std::all_of(inner.ended.begin(), inner.ended.end(),
                  [&](const Piece& one) { return one.SameState(piece); })) {
    // All of it came back as it went in.
    if (inert.size() < kMostInert && !Exhausted()) inert.push_back(piece);
    back.push_back(std::move(piece));
    return;
  }
  Add(ways.accepted, std::move(inner.accepted));
  Add(back, std::move(inner.ended));
}

void FirewallWalk::Effect(const Statement& statement, const nft::Chain& chain, const nft::Rule& rule,
                          Pieces& pieces) {
  Extension extension = Extension::kNoEffect;
  if (statement.kind == Statement::Kind::kXt) extension = ExtensionOf(statement.detail, packets_.protocol);
  const bool early = place_.base->hook == "prerouting" || place_.base->hook == "output";
  if (statement.name == "notrack" || extension == Extension::kTracking) {
    // Later than conntrack it changes nothing; a CT target may do other things than to exempt.
    if (!early || !place_.before_conntrack) return;
    for (Piece& one : pieces)
      one.tracking = extension == Extension::kTracking ? Tracking::kEither : Tracking::kUntracked;
  } else if (extension == Extension::kMark) {
    for (Piece& one : pieces) one.mark.reset();
  } else if (extension == Extension::kDrop) {
    Record(Passage::kDropped, chain, &rule, pieces, "");
    pieces.clear();
  } else if (extension == Extension::kRewrite || extension == Extension::kAnything) {
    Record(Passage::kCannotTell, chain, &rule, pieces,
           extension == Extension::kRewrite ? "sends the packets to another address or port"
                                            : "\"" + nft::Text(statement) + "\" is not known here");
    pieces.clear();
  } else if (statement.name == "mangle") {
    using Kind = nft::Expression::Kind;
    if (statement.left.kind == Kind::kMeta && statement.left.name == "mark") {
      for (Piece& one : pieces) {
        if (statement.right.kind == Kind::kNumber)
          one.mark = static_cast<std::uint64_t>(statement.right.number);
        else
          one.mark.reset();
      }
    } else if (statement.left.kind == Kind::kRawPayload ||
               IsOneOf(statement.left.name, {"dport", "sport", "daddr", "saddr"})) {
      Record(Passage::kCannotTell, chain, &rule, pieces, "rewrites the packets");
      pieces.clear();
    }
  }
}

// A piece whose fate depends on something unknown shares one lineage with its other possibilities.
int FirewallWalk::Branch(const Piece& piece, std::string why, bool by_amount) {
  if (piece.lineage != 0) {
    Lineage& lineage = lineages_[static_cast<std::size_t>(piece.lineage)];
    if (lineage.by_amount && !by_amount) {
      lineage.by_amount = false;
      lineage.why = std::move(why);
    }
    return piece.lineage;
  }
  lineages_.push_back({std::move(why), by_amount, false, false, false});
  return static_cast<int>(lineages_.size()) - 1;
}

std::string FirewallWalk::Here(const nft::Rule& rule) const {
  std::string text = "table " + place_.table->family + " " + place_.table->name + " chain " + current_->name;
  if (rule.handle != 0) text += " handle " + std::to_string(rule.handle);
  return text;
}

void FirewallWalk::Record(Passage passage, const nft::Chain& chain, const nft::Rule* rule,
                          const Pieces& pieces, std::string why) {
  for (const Piece& piece : pieces) {
    // What else is in the way of packets that are gone already is of interest only when it surely is.
    if (piece.behind && (passage != Passage::kDropped || piece.lineage != 0)) continue;
    Obstacle obstacle;
    obstacle.passage = passage;
    obstacle.family = place_.table->family;
    obstacle.table = place_.table->name;
    obstacle.chain = chain.name;
    obstacle.base_chain = place_.base->name + " (hook " + place_.base->hook + ", priority " +
                          std::to_string(place_.base->priority) + ")";
    obstacle.handle = rule != nullptr ? rule->handle : 0;
    obstacle.rule = rule != nullptr ? nft::Text(*rule) : "policy drop";
    obstacle.why = why;
    obstacle.behind = piece.behind;
    obstacle.interfaces = piece.interfaces;
    obstacle.peers =
        packets_.direction == PacketClass::Direction::kReceive ? piece.sources : piece.destinations;
    obstacle.ports = piece.ports;
    outcomes_.push_back({std::move(obstacle), piece.lineage});
    if (!piece.behind) {
      Lineage& lineage = lineages_[static_cast<std::size_t>(piece.lineage)];
      (passage == Passage::kDropped ? lineage.dropped : lineage.unclear) = true;
      if (passage == Passage::kDropped) {
        ghosts_.push_back(piece);
        ghosts_.back().behind = true;
        ghosts_.back().lineage = 0;
      }
    }
  }
}

}  // namespace railwright
